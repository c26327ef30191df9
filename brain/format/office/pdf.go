package office

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/format/pdf"
	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

// PDF reads a PDF file. Larger letters than those of most of its text are headings;
// where there are none, each page begins a section, so that a passage can be found
// again.
func PDF(r *reading.Reader, data []byte) (reading.Document, error) {
	d, err := pdf.Read(data, &r.Meter, r.Bytes)
	switch {
	case errors.Is(err, reading.ErrMemory):
		return reading.Document{}, reading.ErrMemory
	case errors.Is(err, reading.ErrWork):
		return reading.Document{}, reading.ErrWork
	case errors.Is(err, pdf.ErrTooLarge):
		return reading.Document{}, reading.TooLargef("%v", pdf.ErrTooLarge)
	case errors.Is(err, pdf.ErrPages):
		return reading.Document{}, reading.TooLargef("%v", pdf.ErrPages)
	case errors.Is(err, pdf.ErrEncrypted):
		return reading.Document{}, reading.Errorf("%v", pdf.ErrEncrypted)
	case errors.Is(err, pdf.ErrDamaged):
		return reading.Document{}, reading.Errorf("%v", pdf.ErrDamaged)
	case err != nil:
		return reading.Document{}, err
	}
	m := &reading.Builder{Reader: r}
	levels := headingSizes(d.Pages)
	for i, lines := range d.Pages {
		if len(levels) == 0 && len(d.Pages) > 1 && len(lines) > 0 {
			m.Heading(2, fmt.Sprintf("Page %d", i+1))
		}
		writePDFLines(m, lines, levels)
		if m.Err != nil {
			return reading.Document{}, m.Err
		}
	}
	content, err := m.Done()
	switch {
	case err != nil:
		return reading.Document{}, err
	case canon.Blank(content) && d.Lost > 0:
		return reading.Document{}, reading.Errorf("is a PDF file whose fonts do not say what their letters are")
	case canon.Blank(content):
		return reading.Document{}, reading.Errorf("is a PDF file without text: its pages are pictures")
	}
	return reading.Document{
		Title: reading.ClipTitle(d.Title), Content: content, Noted: true,
		Metadata: reading.Noted("author", d.Author, "language", d.Language, "pages", len(d.Pages),
			"pagesWithoutText", d.Lost+d.Blank,
			"created", pdfDate(d.Created), "modified", pdfDate(d.Modified)),
	}, nil
}

// maxHeadingLine is the longest line that is a heading.
const maxHeadingLine = 150

// headingSizes are the sizes of letters, in quarters of a point, that are headings,
// with their levels: what is a tenth larger than the size of most letters, unless it
// is much of the text.
func headingSizes(pages [][]pdf.Line) map[int]int {
	letters := map[int]int{}
	all, most, body := 0, 0, 0
	for _, lines := range pages {
		for _, l := range lines {
			size := quarter(l.Size)
			letters[size] += len(l.Text)
			all += len(l.Text)
			if letters[size] > most {
				most, body = letters[size], size
			}
		}
	}
	var sizes []int
	for size, n := range letters {
		if 10*size >= 11*body && size > body && 5*n < all {
			sizes = append(sizes, size)
		}
	}
	slices.SortFunc(sizes, func(a, b int) int { return cmp.Compare(b, a) })
	levels := map[int]int{}
	for i, size := range sizes {
		levels[size] = min(i+1, 4)
	}
	return levels
}

func quarter(size float64) int {
	if !(size > 0 && size < 1e6) {
		return 0
	}
	return int(math.Round(4 * size))
}

// writePDFLines writes the lines of a page, joined to paragraphs.
func writePDFLines(m *reading.Builder, lines []pdf.Line, levels map[int]int) {
	var open []byte
	level := 0
	flush := func() {
		if level > 0 {
			m.Heading(level, string(open))
		} else {
			m.Paragraph(string(open))
		}
		open = open[:0]
	}
	for _, l := range lines {
		text := strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(l.Text, "\x00", ""), ""))
		if text == "" {
			continue
		}
		now := levels[quarter(l.Size)]
		if utf8.RuneCountInString(text) > maxHeadingLine || strings.IndexFunc(text, unicode.IsLetter) < 0 {
			now = 0
		}
		if l.Gap || now != level {
			flush()
		}
		level = now
		n := len(open)
		switch first, _ := utf8.DecodeRuneInString(text); {
		case n == 0:
		case n > 1 && open[n-1] == '-' && unicode.IsLower(first): // a word that the line's end divides
			open = open[:n-1]
		case level > 0:
			open = append(open, ' ')
		default:
			open = append(open, '\n')
		}
		open = append(open, text...)
	}
	flush()
}

var pdfDay = regexp.MustCompile(`^(?:D:)?(\d{4})(\d{2})(\d{2})(?:(\d{2})(\d{2})(\d{2})?)?(?:([+-])(\d{2})'?(\d{2}))?`)

// pdfDate makes an RFC 3339 date-time of D:20260505100000+02'00'.
func pdfDate(s string) string {
	m := pdfDay.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	zone := "Z"
	if m[7] != "" {
		zone = m[7] + m[8] + ":" + m[9]
	}
	return reading.Instant(fmt.Sprintf("%s-%s-%sT%s:%s:%s%s", m[1], m[2], m[3], cmp.Or(m[4], "00"), cmp.Or(m[5], "00"),
		cmp.Or(m[6], "00"), zone))
}
