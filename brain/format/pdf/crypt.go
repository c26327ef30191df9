package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5" //nolint:gosec // the format's, to read what was written with it
	"crypto/rc4" //nolint:gosec // the format's, to read what was written with it
	"crypto/sha256"
)

// cipherKey opens what is encrypted so that anybody may read it: with the empty
// password (ISO 32000-1, 7.6.3).
type cipherKey struct {
	key  []byte
	aes  bool
	v5   bool // the key opens all, none is made for each object
	skip ref  // of the dictionary of the encryption itself
	meta bool // metadata is encrypted too
}

var padding = []byte("\x28\xBF\x4E\x5E\x4E\x75\x8A\x41\x64\x00\x4E\x56\xFF\xFA\x01\x08" +
	"\x2E\x2E\x00\xB6\xD0\x68\x3E\x80\x2F\x0C\xA9\xFE\x64\x53\x69\x7A")

// unlock finds the key of the file.
func (f *objects) unlock() error {
	d := f.dict(f.trailer["Encrypt"])
	version, revision := f.int(d["V"]), f.int(d["R"])
	if f.name(d["Filter"]) != "Standard" {
		return ErrEncrypted
	}
	k := &cipherKey{meta: d["EncryptMetadata"] != false}
	k.skip, _ = f.trailer["Encrypt"].(ref)
	bits := f.int(d["Length"])
	if bits < 40 || bits > 256 || bits%8 != 0 {
		bits = 40
	}
	switch version {
	case 1:
		bits = 40
	case 2, 3:
	case 4, 5:
		filter := f.dict(f.dict(d["CF"])[f.name(d["StmF"])])
		switch f.name(filter["CFM"]) {
		case "V2":
		case "AESV2", "AESV3":
			k.aes = true
		default:
			return ErrEncrypted
		}
		if version == 4 {
			bits = 128
		}
	default:
		return ErrEncrypted
	}
	o, _ := f.object(d["O"]).(text)
	u, _ := f.object(d["U"]).(text)
	if version == 5 {
		e, _ := f.object(d["UE"]).(text)
		key := unlock5(revision, []byte(u), []byte(e))
		if key == nil {
			return ErrEncrypted
		}
		k.key, k.v5 = key, true
	} else {
		ids := f.array(f.trailer["ID"])
		id := text("")
		if len(ids) > 0 {
			id, _ = f.object(ids[0]).(text)
		}
		if len(o) < 32 || len(u) < 32 {
			return ErrEncrypted
		}
		k.key = key4(revision, bits/8, []byte(o), []byte(id), uint32(f.int(d["P"])), k.meta)
		if !opens4(revision, k.key, []byte(u), []byte(id)) {
			return ErrEncrypted
		}
	}
	clear(f.cache) // what was read so far was read without the key
	clear(f.packed)
	f.held, f.key = 0, k
	return nil
}

// key4 makes the key of revisions 2 to 4 (algorithm 2).
func key4(revision, size int, owner, id []byte, permissions uint32, meta bool) []byte {
	h := md5.New() //nolint:gosec // as above
	h.Write(padding)
	h.Write(owner[:32])
	h.Write([]byte{byte(permissions), byte(permissions >> 8), byte(permissions >> 16), byte(permissions >> 24)})
	h.Write(id)
	if revision >= 4 && !meta {
		h.Write([]byte{0xff, 0xff, 0xff, 0xff})
	}
	key := h.Sum(nil)
	size = min(size, len(key))
	if revision >= 3 {
		for range 50 {
			sum := md5.Sum(key[:size]) //nolint:gosec // as above
			key = sum[:]
		}
	}
	return key[:size]
}

func xorRC4(key, data []byte) []byte {
	c, err := rc4.NewCipher(key) //nolint:gosec // as above
	if err != nil {
		return nil
	}
	out := make([]byte, len(data))
	c.XORKeyStream(out, data)
	return out
}

// opens4 tells whether the key is right (algorithms 4 and 5).
func opens4(revision int, key, user, id []byte) bool {
	if revision == 2 {
		return bytes.Equal(xorRC4(key, padding), user[:32])
	}
	sum := md5.Sum(append(bytes.Clone(padding), id...)) //nolint:gosec // as above
	out := sum[:]
	for i := range 20 {
		round := make([]byte, len(key))
		for n := range key {
			round[n] = key[n] ^ byte(i)
		}
		out = xorRC4(round, out)
	}
	return bytes.Equal(out, user[:16])
}

// unlock5 makes the key of revisions 5 and 6 (ISO 32000-2, algorithms 2.A and 2.B).
func unlock5(revision int, user, wrapped []byte) []byte {
	if len(user) < 48 || len(wrapped) < 32 {
		return nil
	}
	hash := func(salt []byte) []byte {
		sum := sha256.Sum256(salt)
		if revision < 6 {
			return sum[:]
		}
		return hash6(sum[:])
	}
	if !bytes.Equal(hash(user[32:40]), user[:32]) {
		return nil
	}
	block, err := aes.NewCipher(hash(user[40:48]))
	if err != nil {
		return nil
	}
	key := make([]byte, 32)
	cipher.NewCBCDecrypter(block, make([]byte, 16)).CryptBlocks(key, wrapped[:32])
	return key
}

// strings opens the texts of an object.
func (k *cipherKey) strings(o object, at ref, depth int) object {
	if at == k.skip || depth > maxDepth {
		return o
	}
	switch o := o.(type) {
	case text:
		return text(k.open([]byte(o), at))
	case array:
		for i := range o {
			o[i] = k.strings(o[i], at, depth+1)
		}
	case dict:
		for key, v := range o {
			o[key] = k.strings(v, at, depth+1)
		}
	case *stream:
		k.strings(o.dict, at, depth+1)
	}
	return o
}

// stream opens the bytes of a stream.
func (k *cipherKey) stream(data []byte, s *stream) []byte {
	kind := s.dict["Type"]
	if s.at == (ref{}) || kind == name("XRef") || kind == name("Metadata") && !k.meta {
		return data
	}
	return k.open(data, s.at)
}

func (k *cipherKey) open(data []byte, at ref) []byte {
	key := k.key
	if !k.v5 {
		own := append(bytes.Clone(key), byte(at.number), byte(at.number>>8), byte(at.number>>16), byte(at.generation),
			byte(at.generation>>8))
		if k.aes {
			own = append(own, "sAlT"...)
		}
		sum := md5.Sum(own) //nolint:gosec // as above
		key = sum[:min(len(k.key)+5, 16)]
	}
	if !k.aes {
		return xorRC4(key, data)
	}
	block, err := aes.NewCipher(key)
	if err != nil || len(data) < 32 {
		return nil
	}
	iv, body := data[:16], data[16:len(data)-len(data)%16]
	out := make([]byte, len(body))
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(out, body)
	if pad := int(out[len(out)-1]); pad >= 1 && pad <= 16 {
		out = out[:len(out)-pad]
	}
	return out
}
