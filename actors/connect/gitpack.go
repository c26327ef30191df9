package connect

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git names its objects by it; nothing is trusted for its name
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

const (
	// maxObjects bounds the objects of a pack, and maxUnpacked their bytes together:
	// text compresses to a fifth.
	maxObjects  = 200_000
	maxUnpacked = 128 << 20
	// objectMemory is what an object takes beside its bytes: its name and its places,
	// measured as 145 bytes at most, and as much again where it waits for another.
	objectMemory = 288
	// maxRatio bounds how much the bytes of an object may have been compressed: deflate
	// does no more than 1,032.
	maxRatio = 1100
)

// The types of objects (gitformat-pack).
const (
	objCommit   = 1
	objTree     = 2
	objBlob     = 3
	objTag      = 4
	objOfsDelta = 6
	objRefDelta = 7
)

var objNames = map[int]string{objCommit: "commit", objTree: "tree", objBlob: "blob", objTag: "tag"}

// object is one of a repository.
type object struct {
	kind int
	data []byte
}

// pack is one while it is read.
type pack struct {
	raw      []byte
	at       map[int]*object // by the place where they begin
	byID     map[string]*object
	unpacked int
	take     func(bytes int) error // asked before bytes are held
	unpack   io.ReadCloser         // zlib's, one for all objects
}

var errPack = failf("sent a pack that cannot be read")

// readPack unpacks a pack without what is thick in it: version 2, SHA-1. The objects
// are named by what they hold, and not by what the server says. take is asked before any
// memory is held beside the pack's; its errors are returned as they are.
func readPack(raw []byte, take func(bytes int) error) (map[string]*object, error) {
	if len(raw) < 12+sha1.Size || string(raw[:4]) != "PACK" || binary.BigEndian.Uint32(raw[4:]) != 2 {
		return nil, errPack
	}
	body, sum := raw[:len(raw)-sha1.Size], raw[len(raw)-sha1.Size:]
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) { //nolint:gosec // as above
		return nil, errPack
	}
	count := binary.BigEndian.Uint32(raw[8:])
	if count > maxObjects {
		return nil, failf("holds more than %d files and folders", maxObjects)
	}
	p := &pack{raw: body, at: map[int]*object{}, byID: map[string]*object{}, take: take}
	place := 12
	type late struct {
		place int
		delta []byte
	}
	waiting := map[string][]late{} // deltas on an object that comes later, by its id
	for range count {
		o, base, delta, next, err := p.read(place)
		if err != nil {
			return nil, err
		}
		if o == nil {
			waiting[base] = append(waiting[base], late{place, delta})
		} else {
			p.put(place, o)
		}
		place = next
	}
	// Whatever is placed may be what others wait for. Each is looked at once: a chain
	// of deltas that stands backwards in the pack costs no more than another.
	var ready []string
	for base := range waiting {
		if p.byID[base] != nil {
			ready = append(ready, base)
		}
	}
	for len(ready) > 0 {
		base := ready[len(ready)-1]
		ready = ready[:len(ready)-1]
		resting := waiting[base]
		delete(waiting, base)
		for _, w := range resting {
			o, err := p.apply(p.byID[base], w.delta)
			if err != nil {
				return nil, err
			}
			if id := p.put(w.place, o); waiting[id] != nil {
				ready = append(ready, id)
			}
		}
	}
	if len(waiting) > 0 { // on what is not in the pack
		return nil, errPack
	}
	return p.byID, nil
}

// put places an object, and returns its id.
func (p *pack) put(place int, o *object) string {
	h := sha1.New() //nolint:gosec // as above
	fmt.Fprintf(h, "%s %d\x00", objNames[o.kind], len(o.data))
	h.Write(o.data)
	id := hex.EncodeToString(h.Sum(nil))
	p.at[place], p.byID[id] = o, o
	return id
}

// read reads the object that begins at a place, and returns where the next begins. Of
// a delta whose base is not there yet it returns the base's id and the delta.
func (p *pack) read(place int) (o *object, base string, delta []byte, next int, err error) {
	in := p.raw[place:]
	if len(in) == 0 {
		return nil, "", nil, 0, errPack
	}
	first := in[0]
	kind, size, shift, n := int(first>>4&7), uint64(first&15), 4, 1
	for more := first&0x80 != 0; more; n++ {
		if n >= len(in) || shift > 32 {
			return nil, "", nil, 0, errPack
		}
		size |= uint64(in[n]&0x7f) << shift
		shift += 7
		more = in[n]&0x80 != 0
	}
	var on *object
	switch kind {
	case objCommit, objTree, objBlob, objTag:
	case objOfsDelta:
		back, used := offset(in[n:])
		if on = p.at[place-back]; used == 0 || on == nil {
			return nil, "", nil, 0, errPack // a base stands before what rests on it
		}
		n += used
	case objRefDelta:
		if len(in) < n+sha1.Size {
			return nil, "", nil, 0, errPack
		}
		base = hex.EncodeToString(in[n : n+sha1.Size])
		on = p.byID[base]
		n += sha1.Size
	default:
		return nil, "", nil, 0, errPack
	}
	data, used, err := p.inflate(in[n:], size)
	if err != nil {
		return nil, "", nil, 0, err
	}
	next = place + n + used
	switch {
	case kind <= objTag:
		return &object{kind, data}, "", nil, next, nil
	case on == nil:
		return nil, base, data, next, nil
	}
	o, err = p.apply(on, data)
	return o, "", nil, next, err
}

// offset reads the distance of an ofs-delta's base; used is 0 when there is none.
func offset(in []byte) (back, used int) {
	for i, b := range in[:min(len(in), 8)] {
		back = back<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			return back, i + 1
		}
		back++
	}
	return 0, 0
}

// grant asks for so many bytes that are unpacked, of which all together are bounded, and
// for what they take beside.
func (p *pack) grant(size uint64, beside int) error {
	if p.unpacked += int(min(size, maxUnpacked)); size > maxUnpacked || p.unpacked > maxUnpacked {
		return failf("holds more than %d MiB", maxUnpacked>>20)
	}
	return p.take(int(size) + beside)
}

// inflate unpacks so many bytes, and returns how many it has read for them.
func (p *pack) inflate(in []byte, size uint64) ([]byte, int, error) {
	if size > maxRatio*uint64(len(in)) { // nothing is held for a promise that cannot be kept
		return nil, 0, errPack
	}
	if err := p.grant(size, objectMemory); err != nil {
		return nil, 0, err
	}
	r := bytes.NewReader(in) // zlib reads no byte too many of what gives single ones
	if err := p.reset(r); err != nil {
		return nil, 0, errPack
	}
	out := make([]byte, size)
	if _, err := io.ReadFull(p.unpack, out); err != nil {
		return nil, 0, errPack
	}
	// The end, with the sum of what came before.
	if n, err := io.ReadFull(p.unpack, make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
		return nil, 0, errPack
	}
	return out, len(in) - r.Len(), nil
}

// reset lets zlib's reader read what comes next: one for each object would be 40 kB.
func (p *pack) reset(r io.Reader) (err error) {
	if again, ok := p.unpack.(zlib.Resetter); ok {
		return again.Reset(r, nil)
	}
	p.unpack, err = zlib.NewReader(r)
	return err
}

// apply makes an object of another and a delta.
func (p *pack) apply(base *object, delta []byte) (*object, error) {
	from, delta, ok := number(delta)
	to, delta, also := number(delta)
	if !ok || !also || from != uint64(len(base.data)) {
		return nil, errPack
	}
	if err := p.grant(to, 0); err != nil {
		return nil, err
	}
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		switch {
		case op&0x80 != 0: // copy from the base
			var at, n uint32
			for i := range 7 {
				if op&(1<<i) == 0 {
					continue
				}
				if len(delta) == 0 {
					return nil, errPack
				}
				if i < 4 {
					at |= uint32(delta[0]) << (8 * i)
				} else {
					n |= uint32(delta[0]) << (8 * (i - 4))
				}
				delta = delta[1:]
			}
			if n == 0 {
				n = 0x10000
			}
			if uint64(at)+uint64(n) > from || uint64(len(out))+uint64(n) > to {
				return nil, errPack
			}
			out = append(out, base.data[at:at+n]...)
		case op == 0 || len(delta) < int(op) || uint64(len(out))+uint64(op) > to:
			return nil, errPack
		default: // new bytes
			out = append(out, delta[:op]...)
			delta = delta[op:]
		}
	}
	if uint64(len(out)) != to {
		return nil, errPack
	}
	return &object{base.kind, out}, nil
}

// number reads a size of seven bits a byte.
func number(in []byte) (uint64, []byte, bool) {
	n, shift := uint64(0), 0
	for i, b := range in[:min(len(in), 9)] {
		n |= uint64(b&0x7f) << shift
		shift += 7
		if b&0x80 == 0 {
			return n, in[i+1:], true
		}
	}
	return 0, nil, false
}
