package insight

import (
	"os"
	"strings"
	"testing"

	"orgmem/brain/claim"
	"orgmem/brain/temporal"
)

// longNotes are passages of the size that a long document is cut into.
func longNotes(b *testing.B, n int) (notes []temporal.Note) {
	var all []string
	for _, name := range []string{"company", "household", "software"} {
		raw, err := os.ReadFile("testdata/notes/" + name + ".txt")
		if err != nil {
			b.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			if _, rest, ok := strings.Cut(line, " | "); ok {
				all = append(all, strings.TrimSpace(rest))
			}
		}
	}
	var r claim.Reader
	for i := range n {
		var said []string
		for k := range 7 {
			said = append(said, all[(i*7+k*13)%len(all)])
		}
		notes = append(notes, asNote(&r, strings.Join(said, " "), "", int64(i)*dayMS/4+1))
	}
	return notes
}

func BenchmarkGather(b *testing.B) {
	notes := longNotes(b, 400)
	b.ReportAllocs()
	for b.Loop() {
		Rank(Gather(notes), ByRules, 100*dayMS)
	}
}
