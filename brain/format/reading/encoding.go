package reading

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf "golang.org/x/text/encoding/unicode"

	"orgmem/brain/format/meter"
)

const (
	// SampleBytes of a text say which encoding it is in.
	SampleBytes = 32 << 10
	// maxControls is the share of control characters, one in so many, from which on
	// what decodes is no text.
	maxControls = 32
)

// Decoded returns a text in UTF-8, whatever it was in: what its mark says, else
// what label says, if it is one, else what it looks like. Errors say that it is
// none.
func (r *Reader) Decoded(data []byte, label string) ([]byte, error) {
	from := encodingOf(data, label)
	if from == nil {
		data = bytes.TrimPrefix(data, []byte("\ufeff"))
	} else {
		out := meter.Buffer{Meter: &r.Meter}
		if err := out.Resize(len(data) + len(data)/8 + bytes.MinRead); err != nil { // for most texts it need not grow
			return nil, err
		}
		in := from.NewDecoder().Reader(bytes.NewReader(data))
		for ended := false; !ended; {
			n, err, held := out.Fill(in, StepBytes)
			switch {
			case held != nil:
				return nil, held
			case errors.Is(err, io.EOF):
				ended = true
			case err != nil:
				return nil, Errorf("is text in an encoding that cannot be read%s", Supported)
			}
			if err := r.Step(TableWork * n); err != nil {
				return nil, err
			}
		}
		data = bytes.TrimPrefix(out.Bytes(), []byte("\ufeff"))
	}
	controls := 0
	for _, c := range data {
		switch {
		case c == 0:
			return nil, Errorf("holds binary data%s", Supported)
		case c < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v' && c != 0x1b && c != '\b':
			controls++
		}
	}
	if controls > 0 && controls*maxControls > len(data) {
		return nil, Errorf("holds binary data%s", Supported)
	}
	return data, nil
}

// encodingOf is the encoding of a text; nil: UTF-8.
func encodingOf(data []byte, label string) encoding.Encoding {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		return utf.UTF16(utf.LittleEndian, utf.UseBOM)
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		return utf.UTF16(utf.BigEndian, utf.UseBOM)
	case utf8.Valid(data):
		if e := wide(data); e != nil {
			return e
		}
		// ISO-2022-JP is seven bits wide: only its label, or its escapes, tell.
		if e, name := charset.Lookup(label); e != nil && name == "iso-2022-jp" ||
			bytes.Contains(data[:min(len(data), SampleBytes)], []byte("\x1b$B")) {
			return japanese.ISO2022JP
		}
		return nil
	}
	if e, name := charset.Lookup(label); e != nil && name != "utf-8" && name != "replacement" {
		return e
	}
	if e := wide(data); e != nil {
		return e
	}
	return guess(data[:min(len(data), SampleBytes)])
}

// wide recognises UTF-16 without a mark: in most scripts' texts, spaces and line
// ends at least, every other byte is often zero.
func wide(data []byte) encoding.Encoding {
	sample := data[:min(len(data), SampleBytes)]
	if len(data)%2 != 0 || len(sample) < 4 {
		return nil
	}
	var zeros [2]int
	for i, c := range sample {
		if c == 0 {
			zeros[i%2]++
		}
	}
	switch few := len(sample) / 20; {
	case zeros[1] > few && zeros[0] == 0:
		return utf.UTF16(utf.LittleEndian, utf.IgnoreBOM)
	case zeros[0] > few && zeros[1] == 0:
		return utf.UTF16(utf.BigEndian, utf.IgnoreBOM)
	}
	return nil
}

// candidates are encodings with what texts in them are made of: the commonest
// letters of their languages, and the least share of them among what is not ASCII.
// The order breaks ties. The shares are half of what running text shows.
var candidates = []struct {
	from   encoding.Encoding
	common string
	share  float64
}{
	{japanese.ShiftJIS, "のにはをたがでてとしれさあいうかくけこすそちつなねまもやよらりるわんアイスリルント。、ー", 0.3},
	{japanese.EUCJP, "のにはをたがでてとしれさあいうかくけこすそちつなねまもやよらりるわんアイスリルント。、ー", 0.3},
	{korean.EUCKR, "이다의는에을가고하지도한로를사기은리어나서해시대일인자정스아", 0.2},
	{simplifiedchinese.GB18030, "的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年，。", 0.1},
	{traditionalchinese.Big5, "的一是不了人我在有他這中大來上國個到說們為子和你地出道也時年，。", 0.1},
	{charmap.Windows1251, "оеаинтсрвлкмдп", 0.5},
	{charmap.KOI8R, "оеаинтсрвлкмдп", 0.5},
	{charmap.Windows1253, "αοιετσνηυρπκμλς", 0.5},
	{charmap.Windows1255, "יוהלארתבשמנ", 0.5},
	{charmap.Windows1256, "اليمونرتبةعدسفهكقأ", 0.4},
	{charmap.Windows1250, "ąćęłńóśźżáčďéěíňřšťúůýž", 0.7},
}

// guess finds the encoding of a text that is neither in UTF-8 nor says what it is
// in. Windows-1252 is the answer where nothing speaks for another: it is what most
// such texts of the western world are in, and decodes all.
func guess(sample []byte) encoding.Encoding {
	best, most := encoding.Encoding(charmap.Windows1252), 0.0
	for _, c := range candidates {
		text, err := c.from.NewDecoder().Bytes(sample)
		if err != nil {
			continue
		}
		all, common, broken, letters := 0, 0, 0, 0
		for _, r := range string(text) {
			switch {
			case r == utf8.RuneError:
				broken++
			case r < utf8.RuneSelf:
				if unicode.IsLetter(r) {
					letters++
				}
			default:
				all++
				if strings.ContainsRune(c.common, r) {
					common++
				}
			}
		}
		// The end of the sample may divide a character. In a text of another script its
		// letters are the most; a character of the East stands for several.
		_, single := c.from.(*charmap.Charmap)
		if all == 0 || broken > 1+all/500 || single && c.from != charmap.Windows1250 && all < letters || all < letters/16 {
			continue
		}
		if share := float64(common) / float64(all); share >= c.share && share/c.share > most {
			best, most = c.from, share/c.share
		}
	}
	return best
}
