package hostile

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// PDF makes a file of objects, the first of which is the catalogue, with a
// directory. An object is what stands between "obj" and "endobj".
func PDF(objects ...string) []byte {
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	offsets := make([]int, len(objects))
	for i, o := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	at := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, offset := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<</Root 1 0 R/Size %d>>\nstartxref\n%d\n%%%%EOF", len(objects)+1, at)
	return out.Bytes()
}

func zlibbed(data []byte) string {
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, zlib.DefaultCompression)
	must(err)
	_, err = w.Write(data)
	must(err)
	must(w.Close())
	return out.String()
}

func stream(head, body string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", head, len(body), body)
}

func flated(head string, data []byte) string {
	return stream(head+"/Filter/FlateDecode", zlibbed(data))
}

const (
	catalog = "<</Type/Catalog/Pages 2 0 R>>"
	onePage = "<</Type/Pages/Count 1/Kids[3 0 R]>>"
	thePage = "<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>"
	theFont = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	figs    = "BT /F 12 Tf 72 700 Td (Figs ripen late.) Tj ET"
)

func onPage(content string) []byte { return PDF(catalog, onePage, thePage, content, theFont) }

// manyObjects is a PDF of n objects that are in the directory and say nothing.
func manyObjects(n int) []byte {
	objects := []string{catalog, onePage, thePage, stream("", figs), theFont}
	for range n {
		objects = append(objects, "0")
	}
	return PDF(objects...)
}

// calling is a PDF of forms that draw each other, as deep as they are read: each draws the
// next one fan times, and the last one a leaf.
func calling(fan int, leaf string) []byte {
	const levels = 8
	objects := []string{catalog, onePage, thePage, stream("", figs+" /X Do"), theFont}
	for i := range levels {
		body := strings.Repeat("/X Do ", fan)
		if i == levels-1 {
			body = leaf
		}
		objects = append(objects, stream(fmt.Sprintf("/Type/XObject/Subtype/Form/Resources<</Font<</F 5 0 R>>/XObject<</X "+
			"%d 0 R>>>>", 7+i), body))
	}
	return PDF(objects...)
}

// packedObjects is a PDF of n objects in one stream.
func packedObjects(n int, one string) []byte {
	var heads strings.Builder
	for i := range n {
		fmt.Fprintf(&heads, "%d %d ", i+10, i*(len(one)+1))
	}
	body := heads.String() + strings.Repeat(one+" ", n)
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	var offsets []int
	for i, o := range []string{
		catalog, "<</Type/Pages/Kids 10 0 R>>",
		flated(fmt.Sprintf("/Type/ObjStm/N %d/First %d", n, heads.Len()), []byte(body)),
	} {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	rows := []byte{0, 0, 0, 0, 0, 0, 0}
	for _, o := range offsets {
		rows = append(rows, 1, byte(o>>16), byte(o>>8), byte(o), 0, 0, 0)
	}
	for i := range n {
		rows = append(rows, 2, 0, 0, 3, byte(i>>16), byte(i>>8), byte(i))
	}
	at := out.Len()
	fmt.Fprintf(&out, "4 0 obj\n%s\nendobj\nstartxref\n%d\n%%%%EOF",
		flated(fmt.Sprintf("/Type/XRef/W[1 3 3]/Index[0 4 10 %d]/Root 1 0 R", n), rows), at)
	return out.Bytes()
}

// portable are PDF files.
func portable() []File {
	large := func(name string, f func() []byte) File { return File{Name: name, Make: f, Large: true} }
	return []File{
		large("objects.pdf", func() []byte { return manyObjects(1_000_000) }),
		large("two million objects.pdf", func() []byte { // without a directory
			data := append([]byte("%PDF-1.7\n"), numbered(2_000_000, "%d 0 obj 0 endobj\n")...)
			return append(data, "3000001 0 obj<</Type/Catalog/Pages 3000002 0 R>>endobj 3000002 0 "+
				"obj<</Kids[<</Type/Page>>]>>endobj"...)
		}),
		{Name: "packed objects.pdf", Make: func() []byte { return packedObjects(1_000_000, "[1 2]") }},
		{
			Name: "packed kids.pdf",
			Make: func() []byte { return packedObjects(1_000_000, "[<</Kids 11 0 R>><</Kids 12 0 R>>]") },
		},
		{Name: "a gibibyte.pdf", Make: func() []byte { return onPage(flated("", bytes.Repeat([]byte(" "), 1<<30))) }},
		{Name: "a gibibyte of text.pdf", Make: func() []byte {
			return onPage(flated("", append([]byte("BT /F 12 Tf "), repeat("(Figs ripen late.) Tj ", 1<<30)...)))
		}},
		{Name: "pages of 60 MiB.pdf", Make: func() []byte {
			return PDF(catalog, "<</Type/Pages/Kids["+strings.Repeat("<</Contents 3 0 R>>", 100)+"]>>",
				flated("", bytes.Repeat([]byte(" "), 60*mib)))
		}},
		{Name: "filters.pdf", Make: func() []byte {
			data := repeat(figs+" ", 60*mib)
			body := zlibbed([]byte(zlibbed([]byte(zlibbed(data)))))
			return onPage(stream("/Filter[/Fl/Fl/Fl]", body))
		}},
		{Name: "runs.pdf", Make: func() []byte {
			return onPage(stream("/Filter[/Fl/RL]", zlibbed(repeat("\x81 ", mib))))
		}},
		{Name: "zeros.pdf", Make: func() []byte { return onPage(stream("/Filter[/Fl/A85]", zlibbed(repeat("z", 15*mib)))) }},
		{
			Name: "hexadecimal.pdf",
			Make: func() []byte { return onPage(stream("/Filter[/Fl/AHx]", zlibbed(repeat("20", 63*mib)))) },
		},
		{Name: "predicted.pdf", Make: func() []byte {
			return onPage(stream("/Filter/Fl/DecodeParms<</Predictor 12/Columns 1>>", zlibbed(make([]byte, 63*mib))))
		}},
		{Name: "array.pdf", Make: func() []byte {
			return onPage(flated("", around("BT /F 12 Tf [", repeat("(a)1 ", 60*mib), "] TJ ET")))
		}},
		{Name: "string.pdf", Make: func() []byte {
			return onPage(flated("", around("BT /F 12 Tf (", repeat("a", 60*mib), ") Tj ET")))
		}},
		{Name: "hex string.pdf", Make: func() []byte {
			return onPage(flated("", around("BT /F 12 Tf <", repeat("61", 60*mib), "> Tj ET")))
		}},
		{Name: "dictionary.pdf", Make: func() []byte {
			return onPage(flated("", around("<<", numbered(2_000_000, "/%d 1"), ">> BDC")))
		}},
		{Name: "lists.pdf", Make: func() []byte { return onPage(flated("", repeat("[[1][2][3]]", 60*mib))) }},
		{Name: "lines.pdf", Make: func() []byte {
			return onPage(flated("", append([]byte("BT /F 12 Tf 1 TL "), repeat("(a)'", 60*mib)...)))
		}},
		{Name: "saved.pdf", Make: func() []byte { return onPage(flated("", repeat("q ", 60*mib))) }},
		{Name: "pages.pdf", Make: func() []byte {
			return PDF(catalog, "<</Type/Pages/Kids["+strings.Repeat("<</Contents 3 0 R>>", 19_000)+"]>>", stream("", figs))
		}},
		{Name: "calling.pdf", Make: func() []byte { return calling(30, figs) }},
		{Name: "calling nothing.pdf", Make: func() []byte { return calling(30, " ") }},
		{Name: "calling 30 kB.pdf", Make: func() []byte { return calling(500, figs) }},
		{Name: "calling fonts.pdf", Make: func() []byte { return calling(60, strings.Repeat("/F 1 Tf ", 100)) }},
		{Name: "calling matrices.pdf", Make: func() []byte { return calling(60, strings.Repeat("1 0 0 1 0 0 cm ", 100)) }},
		{Name: "unicode.pdf", Make: func() []byte {
			var objects []string
			for i := range 200 {
				objects = append(objects, fmt.Sprintf("<</Type/Font/Subtype/Type0/Encoding/Identity-H/ToUnicode %d 0 "+
					"R/DescendantFonts[<</W[0 65535 500]>>]>>", 5+2*i),
					stream("", "1 beginbfrange <0000> <ffff> <4e004e004e004e004e004e004e004e004e004e004e004e004e004e004e004e00> "+
						"endbfrange"))
			}
			var fonts, body strings.Builder
			for i := range 200 {
				fmt.Fprintf(&fonts, "/F%d %d 0 R", i, 4+2*i)
				fmt.Fprintf(&body, "/F%d 1 Tf ", i)
			}
			// Numbers 1 to 3 are the catalogue, the pages and the content.
			return PDF(append([]string{
				catalog, "<</Type/Pages/Kids[<</Contents 3 0 R/Resources<</Font<<" + fonts.String() + ">>>>>>]>>",
				stream("", body.String()),
			}, objects...)...)
		}},
		{Name: "inline fonts.pdf", Make: func() []byte { return InlineFonts(60 * mib) }},
		{Name: "patterns.pdf", Make: func() []byte {
			return onPage(flated("", repeat("/Pattern cs /P scn 0 0 1 1 re f ", 60*mib)))
		}},
		{Name: "inline images.pdf", Make: func() []byte { return onPage(flated("", repeat("BI ID \nEI ", 60*mib))) }},
		{Name: "comments.pdf", Make: func() []byte { return onPage(flated("", repeat("%\n", 60*mib))) }},
	}
}

// InlineFonts is a page that names a font of its own again and again, of so many bytes
// unpacked.
func InlineFonts(size int) []byte {
	return PDF(catalog, "<</Type/Pages/Kids[<</Contents 3 0 R/Resources<</Font<</F<</Type/Font/ToUnicode 4 0 R>>>>>>>>]>>",
		flated("", repeat("/F 1 Tf ", size)), stream("", "1 beginbfrange <0000> <ffff> <4e00> endbfrange"))
}
