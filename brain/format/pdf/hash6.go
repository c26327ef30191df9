package pdf

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/sha256"
	"crypto/sha512"
)

// hash6 hardens a hash as revision 6 does, for the empty password (ISO 32000-2,
// algorithm 2.B). It ends after 64 rounds, or as soon behind them as the last byte
// allows: 32 more at most, by which every byte does.
func hash6(k []byte) []byte {
	for round := 0; ; round++ {
		block, err := aes.NewCipher(k[:16])
		if err != nil {
			return nil
		}
		data := bytes.Repeat(k, 64)
		cipher.NewCBCEncrypter(block, k[16:32]).CryptBlocks(data, data)
		sum := 0
		for _, c := range data[:16] {
			sum += int(c)
		}
		switch sum % 3 {
		case 0:
			h := sha256.Sum256(data)
			k = h[:]
		case 1:
			h := sha512.Sum384(data)
			k = h[:]
		default:
			h := sha512.Sum512(data)
			k = h[:]
		}
		if last := int(data[len(data)-1]); round >= 63 && last <= round-31 || round > 63+255 {
			return k[:32]
		}
	}
}
