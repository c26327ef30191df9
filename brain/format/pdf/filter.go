package pdf

import (
	"bytes"
	"compress/flate"
)

// decode undoes the filters of a stream. What is damaged is read as far as it goes;
// pictures are nothing. free says that the bytes are held no more.
func (f *objects) decode(s *stream) (data []byte, free func()) {
	data, held := s.raw, 0
	free = func() { f.meter.Release(held) }
	// own takes over what a filter has made.
	own := func(made []byte) {
		f.meter.Release(held)
		data, held = made, cap(made)
	}
	if f.key != nil {
		if !f.hold(len(data)) {
			return nil, free
		}
		own(f.key.stream(data, s))
		f.meter.Settle(f.meter.Held() + cap(data) - len(s.raw))
	}
	filters, params := f.list(s.dict["Filter"], s.dict["F"]), f.list(s.dict["DecodeParms"], s.dict["DP"])
	if len(filters) > maxFilters || !f.spend(len(data)+filterWork*len(filters)) { // some filters make nothing of much
		return nil, free
	}
	for i, filter := range filters {
		var p dict
		if i < len(params) {
			p = f.dict(params[i])
		}
		switch f.name(filter) {
		case "FlateDecode", "Fl":
			own(f.flate(data))
			if data = predicted(data, f.predictor(p)); !f.spend(len(data)) {
				return nil, free
			}
		case "LZWDecode", "LZW":
			early := 1
			if v, ok := f.object(p["EarlyChange"]).(int); ok {
				early = v
			}
			own(f.lzw(data, early))
			data = predicted(data, f.predictor(p))
		case "ASCII85Decode", "A85":
			own(f.ascii85(data))
		case "ASCIIHexDecode", "AHx":
			own(f.hexadecimal(data))
		case "RunLengthDecode", "RL":
			own(f.runLength(data))
		case "Crypt":
		default:
			return nil, free
		}
		if !f.spend(len(data)) {
			return nil, free
		}
	}
	return data, free
}

// maxFilters bounds the filters of one stream; two are usual. filterWork is what one
// costs beside its bytes: the tables of flate alone are 40 KiB.
const maxFilters, filterWork = 8, 2048

func (m *measure) hexadecimal(data []byte) []byte {
	out := m.buffer()
	if m.full(out, out.Resize(len(data)/2+1)) {
		return m.nothing(out)
	}
	raw := out.Bytes()
	half := -1
	for _, c := range data {
		if c == '>' {
			break
		}
		switch n := unhex(c); {
		case n < 0:
		case half < 0:
			half = n
		default:
			raw = append(raw, byte(half<<4|n))
			half = -1
		}
	}
	if half >= 0 {
		raw = append(raw, byte(half<<4))
	}
	return raw
}

func (m *measure) flate(data []byte) []byte {
	body := data
	if len(body) >= 2 && body[0]&0x0f == 8 { // the header of zlib, whose checksum is often wrong
		body = body[2:]
	}
	in := flate.NewReader(bytes.NewReader(body))
	out := m.buffer()
	for {
		n, err, held := out.Fill(in, 256<<10)
		if m.full(out, held) {
			return m.nothing(out)
		}
		if !m.spend(n) || err != nil {
			return out.Bytes()
		}
	}
}

// lzw undoes LZW as TIFF has it, with codes of 9 to 12 bits.
func (m *measure) lzw(data []byte, early int) []byte {
	type code struct {
		prefix int
		last   byte
		length int
	}
	const clearCode, endCode = 256, 257
	table := make([]code, 258, 4096)
	for i := range 256 {
		table[i] = code{-1, byte(i), 1}
	}
	out := m.buffer()
	bits, have, width, before := 0, 0, 9, -1
	emit := func(c int) byte {
		n := table[c].length
		if m.full(out, out.Append(blank[:n])) {
			return 0
		}
		made := out.Bytes()[out.Len()-n:]
		for i := n - 1; i >= 0; i-- {
			made[i] = table[c].last
			c = table[c].prefix
		}
		return made[0]
	}
	for _, b := range data {
		bits, have = bits<<8|int(b), have+8
		if have < width {
			continue
		}
		c := bits >> (have - width) & (1<<width - 1)
		have -= width
		bits &= 1<<have - 1
		switch {
		case c == endCode:
			return out.Bytes()
		case c == clearCode:
			table, width, before = table[:258], 9, -1
			continue
		case before < 0:
			if c >= 256 {
				return out.Bytes()
			}
			emit(c)
		case c < len(table):
			first := emit(c)
			if len(table) < 4096 {
				table = append(table, code{before, first, table[before].length + 1})
			}
		case c == len(table) && len(table) < 4096:
			first := before
			for table[first].prefix >= 0 {
				first = table[first].prefix
			}
			table = append(table, code{before, table[first].last, table[before].length + 1})
			emit(c)
		default:
			return out.Bytes()
		}
		before = c
		if m.stopped != nil {
			return m.nothing(out)
		}
		for width < 12 && len(table)+early >= 1<<width {
			width++
		}
	}
	return out.Bytes()
}

// blank is what the longest code of LZW stands for, before it is known.
var blank [4097]byte

func (m *measure) ascii85(data []byte) []byte {
	out := m.buffer()
	var group [5]uint32
	n := 0
	flush := func() {
		if n < 2 || m.stopped != nil {
			return
		}
		for i := n; i < 5; i++ {
			group[i] = 84
		}
		v := uint32(0)
		for _, g := range group {
			v = v*85 + g
		}
		m.full(out, out.Append([]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}[:n-1]))
		n = 0
	}
	for _, c := range bytes.TrimPrefix(data, []byte("<~")) {
		switch {
		case m.stopped != nil:
			return m.nothing(out)
		case c == '~':
			flush()
			return out.Bytes()
		case c == 'z' && n == 0:
			m.full(out, out.Append([]byte{0, 0, 0, 0}))
		case c >= '!' && c <= 'u':
			group[n] = uint32(c - '!')
			if n++; n == 5 {
				flush()
				n = 0
			}
		}
	}
	flush()
	return out.Bytes()
}

func (m *measure) runLength(data []byte) []byte {
	out := m.buffer()
	var run [128]byte
	for i := 0; i < len(data); {
		n := int(data[i])
		i++
		switch {
		case n == 128:
			return out.Bytes()
		case n < 128:
			end := min(i+n+1, len(data))
			m.full(out, out.Append(data[i:end]))
			i = end
		case i < len(data):
			for k := range 257 - n {
				run[k] = data[i]
			}
			m.full(out, out.Append(run[:257-n]))
			i++
		}
		if m.stopped != nil {
			return m.nothing(out)
		}
	}
	return out.Bytes()
}

// prediction says how rows were made smaller before they were packed.
type prediction struct{ kind, columns, colors, bits int }

func (f *objects) predictor(p dict) prediction {
	or := func(o object, otherwise int) int {
		if v := f.int(o); v > 0 && v < 1<<16 {
			return v
		}
		return otherwise
	}
	return prediction{or(p["Predictor"], 1), or(p["Columns"], 1), or(p["Colors"], 1), or(p["BitsPerComponent"], 8)}
}

// predicted undoes the prediction of rows as PNG has it (RFC 2083, 6), and TIFF's
// of whole bytes.
func predicted(data []byte, p prediction) []byte {
	if p.kind < 2 || p.colors > 32 || p.bits > 16 {
		return data
	}
	size := (p.columns*p.colors*p.bits + 7) / 8
	pixel := max(1, p.colors*p.bits/8)
	if p.kind == 2 {
		if p.bits != 8 {
			return data
		}
		for row := 0; row < len(data); row += size {
			end := min(row+size, len(data))
			for i := row + pixel; i < end; i++ {
				data[i] += data[i-pixel]
			}
		}
		return data
	}
	out := data[:0] // what is written is always behind what is read
	var above []byte
	for len(data) > 1 {
		kind := data[0]
		row := data[1:min(len(data), size+1)]
		data = data[min(len(data), size+1):]
		at := len(out)
		for i, c := range row {
			var left, up, corner byte
			if i >= pixel {
				left = out[at+i-pixel]
			}
			if i < len(above) {
				up = above[i]
				if i >= pixel {
					corner = above[i-pixel]
				}
			}
			switch kind {
			case 1:
				c += left
			case 2:
				c += up
			case 3:
				c += byte((int(left) + int(up)) / 2)
			case 4:
				c += paeth(left, up, corner)
			}
			out = append(out, c)
		}
		above = out[at:]
	}
	return out
}

func paeth(a, b, c byte) byte {
	p := int(a) + int(b) - int(c)
	pa, pb, pc := abs(p-int(a)), abs(p-int(b)), abs(p-int(c))
	switch {
	case pa <= pb && pa <= pc:
		return a
	case pb <= pc:
		return b
	}
	return c
}

func abs(n int) int { return max(n, -n) }
