package pdf

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"testing"

	"orgmem/brain/format/hostile"
	"orgmem/brain/format/meter"
)

const (
	catalog = "<</Type/Catalog/Pages 2 0 R>>"
	onePage = "<</Type/Pages/Count 1/Kids[3 0 R]>>"
	thePage = "<</Type/Page/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>"
	theFont = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
	figs    = "BT /F 12 Tf 72 700 Td (Figs ripen late.) Tj ET"
)

func streamOf(head, body string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", head, len(body), body)
}

func deflated(t *testing.T, parts ...[]byte) string {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	for _, p := range parts {
		if _, err := w.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// page is a file of one page.
func pageOf(content string, others ...string) []byte {
	return hostile.PDF(append([]string{catalog, onePage, thePage, streamOf("", content), theFont}, others...)...)
}

func textOf(d *Document) string {
	var lines []string
	for _, page := range d.Pages {
		for _, l := range page {
			lines = append(lines, l.Text)
		}
	}
	return strings.Join(lines, "\n")
}

// small bounds are reached at once, where the real ones take seconds.
var small = bounds{decoded: 2 << 20, stream: 256 << 10, written: 256 << 10}

// bounded reads a file, and holds the work to the bound: what is worked through is
// counted, so that no bomb costs more than a large file does.
func bounded(t *testing.T, data []byte, most bounds) (*Document, error) {
	t.Helper()
	m := &meter.Meter{}
	d, err := read(data, m, most)
	if worked := m.Worked(); worked > most.decoded+workPerByte*max(len(data), most.stream) {
		t.Errorf("%d KiB were worked through", worked>>10)
	}
	return d, err
}

// TestWhatIsHarmlessIsRead: the text of the page is read although the rest of the file
// leads nowhere.
func TestWhatIsHarmlessIsRead(t *testing.T) {
	defer debug.SetMaxStack(debug.SetMaxStack(64 << 20)) // a walk without an end is seen soon
	deep := strings.Repeat("[", 1<<20)
	dicts := strings.Repeat("<</A", 1<<20)
	loop := bytes.Replace(pageOf(figs), []byte("/Size"), []byte("/Prev 0000000000 /Size"), 1)
	at := bytes.LastIndex(loop, []byte("xref\n0 "))
	loop = bytes.Replace(loop, []byte("0000000000 /Size"), fmt.Appendf(nil, "%010d /Size", at), 1)
	for name, data := range map[string][]byte{
		"no bomb":                 pageOf(figs),
		"arrays in arrays":        pageOf(figs, deep),
		"dictionaries":            pageOf(figs, dicts),
		"arrays on the page":      pageOf(figs + " " + deep),
		"a directory in a circle": loop,
		"a form that draws itself": pageOf(figs+" /X Do",
			streamOf("/Subtype/Form/Resources<</XObject<</X 6 0 R>>>>", "/X Do /X Do")),
		"a reference to itself": pageOf(figs+" /X Do", "6 0 R"),
		"a length that is itself": hostile.PDF(catalog, onePage, thePage,
			"<</Length 4 0 R>>stream\n"+figs+"\nendstream", theFont),
		"pages in a circle": hostile.PDF(catalog, "<</Type/Pages/Kids[2 0 R 3 0 R 2 0 R]>>", thePage,
			streamOf("", figs), theFont),
		"objects in themselves": pageOf(figs+" /X Do", streamOf("/Type/ObjStm/N 1/First 4/Extends 6 0 R", "6 0 [6 0 R]")),
		"half of the directory": pageOf(figs)[:len(pageOf(figs))-60],
		"no directory":          pageOf(figs)[:bytes.LastIndex(pageOf(figs), []byte("xref\n0 "))],
		"a count that lies":     bytes.Replace(pageOf(figs), []byte("xref\n0 6"), []byte("xref\n0 999999999999"), 1),
		"saved without an end":  pageOf(figs + strings.Repeat(" q", 1<<18)),
		"many filters": pageOf(figs+" /X Do",
			streamOf("/Subtype/Form/Filter["+strings.Repeat("/Fl ", 1000)+"]", deflated(t, []byte("x")))),
		"a filter that is itself": pageOf(figs+" /X Do", streamOf("/Subtype/Form/Filter 6 0 R", "x")),
	} {
		if d, err := bounded(t, data, bounds{maxDecoded, maxStream, maxText}); err != nil || textOf(d) != "Figs ripen late." {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}

// TestBombsEnd: what makes much of little ends at a bound, with its reason.
func TestBombsEnd(t *testing.T) {
	blanks := bytes.Repeat([]byte{' '}, 2*small.stream)
	codes := func(ranges int) string {
		return "1 begincodespacerange <0000> <ffff> endcodespacerange " +
			strings.Repeat("1 beginbfrange <0000> <fffe> <0041> endbfrange ", ranges)
	}
	var twins strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&twins, "%d 0 R ", i+10)
	}
	composite := func(child string) string {
		return "<</Type/Font/Subtype/Type0/Encoding/Identity-H/DescendantFonts[<<" + child + ">>]/ToUnicode 6 0 R>>"
	}
	withFont := func(font, other string) []byte {
		return hostile.PDF(catalog, onePage, thePage, streamOf("", figs), font, other)
	}
	// Many objects at one place, of which none is the one that is looked for.
	lost := []string{catalog, "<</Type/Pages/Kids[" + twins.String() + "]>>"}
	unclosed := hostile.PDF(lost...)
	at := bytes.LastIndex(unclosed, []byte("xref\n0 3"))
	var table bytes.Buffer
	table.Write(unclosed[:at])
	fmt.Fprintf(&table, "7 0 obj (%s)\n", strings.Repeat("x", 1<<16))
	from := table.Len()
	table.WriteString("xref\n0 3\n")
	table.Write(unclosed[at+len("xref\n0 3\n"):][:60])
	fmt.Fprintf(&table, "10 100000\n%strailer\n<</Root 1 0 R>>\nstartxref\n%d\n",
		strings.Repeat(fmt.Sprintf("%010d 00000 n \n", at), 100_000), from)
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"a stream without an end": {
			pageOf(figs+" /X Do", streamOf("/Subtype/Form/Filter/FlateDecode", deflated(t, blanks))), ErrTooLarge,
		},
		"zeros in five letters": {
			pageOf(figs+" /X Do", streamOf("/Subtype/Form/Filter[/Fl/A85]",
				deflated(t, bytes.Repeat([]byte("z"), small.stream/4+10)))),
			ErrTooLarge,
		},
		"runs": {
			pageOf(figs+" /X Do", streamOf("/Subtype/Form/Filter[/Fl/RL]",
				deflated(t, bytes.Repeat([]byte("\x81x"), small.stream/128+10)))),
			ErrTooLarge,
		},
		"a filter of blanks, many times": {
			pageOf(figs+strings.Repeat(" /X Do", 1000), streamOf("/Subtype/Form/Filter/AHx", string(blanks))), ErrTooLarge,
		},
		"ranges of codes": {withFont(composite("/W[]"), streamOf("", codes(2000))), ErrTooLarge},
		"ranges of widths": {
			withFont(composite("/W["+strings.Repeat("0 65534 5 ", 2000)+"]"), streamOf("", "")), ErrTooLarge,
		},
		"one list of widths, many times": {
			withFont(composite("/W["+strings.Repeat("0 6 0 R ", 20_000)+"]"), "["+strings.Repeat("5 ", 10_000)+"]"), ErrTooLarge,
		},
		"a list of pages that holds itself": {
			hostile.PDF(catalog, "<</Type/Pages/Kids 3 0 R>>", "[<</Kids 3 0 R>><</Kids 3 0 R>>]"), ErrTooLarge,
		},
		"objects that do not end":         {[]byte("%PDF-1.7\n" + strings.Repeat("1 0 obj (/XRef ", 1<<16)), ErrTooLarge},
		"a hundred thousand at one place": {table.Bytes(), ErrTooLarge},
		"fonts where they are named": {
			hostile.PDF(catalog, onePage, "<</Type/Page/Contents 4 0 R/Resources<</Font<</F<</Type/Font>>>>>>>>",
				streamOf("", strings.Repeat("/F 1 Tf ", 1<<20))),
			ErrTooLarge,
		},
		"pages without an end": {
			hostile.PDF(catalog, "<</Type/Pages/Kids["+strings.Repeat("<</Type/Page>>", maxPages+1)+"]>>"), ErrPages,
		},
		"letters that are sentences": {
			hostile.PDF(catalog, onePage, thePage,
				streamOf("/Filter/Fl", deflated(t, []byte("BT /F 12 Tf 72 700 Td ("), bytes.Repeat([]byte("a"), small.written/40),
					[]byte(") Tj ET"))), "<</Type/Font/Subtype/Type1/ToUnicode 6 0 R>>",
				streamOf("", "1 beginbfchar <61> <"+strings.Repeat("4e00", 16)+"> endbfchar")),
			ErrTooLarge,
		},
		"a packed stream, looked for in all": {packedApart(t), ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			if d, err := bounded(t, c.data, small); !errors.Is(err, c.want) {
				t.Errorf("read %v, %v, want %v", d != nil, err, c.want)
			}
		})
	}
}

// packedApart names a hundred thousand objects that lie in one stream, each under the
// place of another.
func packedApart(t *testing.T) []byte {
	t.Helper()
	const many = 20_000
	var heads, kids strings.Builder
	for i := range many {
		fmt.Fprintf(&heads, "%d 0 ", i+10)
		fmt.Fprintf(&kids, "%d 0 R ", i+10)
	}
	var out bytes.Buffer
	out.WriteString("%PDF-1.7\n")
	offsets := []int{0}
	for i, o := range []string{
		catalog, "<</Type/Pages/Kids[" + kids.String() + "]>>",
		streamOf(fmt.Sprintf("/Type/ObjStm/N %d/First %d", many, heads.Len()), heads.String()+"null"),
	} {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	var rows bytes.Buffer
	for _, offset := range offsets {
		rows.Write([]byte{1, byte(offset >> 16), byte(offset >> 8), byte(offset), 0})
	}
	for range many {
		rows.Write([]byte{2, 0, 0, 3, 0})
	}
	at := out.Len()
	fmt.Fprintf(&out, "4 0 obj\n%s\nendobj\nstartxref\n%d\n",
		streamOf(fmt.Sprintf("/Type/XRef/W[1 3 1]/Index[0 4 10 %d]/Root 1 0 R", many), rows.String()), at)
	return out.Bytes()
}

// TestTheCallerEndsIt: an error of step ends the reading, and is what is returned.
func TestTheCallerEndsIt(t *testing.T) {
	enough := errors.New("enough")
	if _, err := Read(pageOf(strings.Repeat(figs+" ", 10_000)), &meter.Meter{GoOn: func() error { return enough }},
		maxText); !errors.Is(err, enough) {
		t.Errorf("%v", err)
	}
}
