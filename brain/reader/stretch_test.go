package reader_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/reader"
)

// TestStretches: together they are the text, as far as it is tagged; each is short, and ends between characters.
func TestStretches(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{
			"It is open. ", "\n\n", strings.Repeat("é", 3000), strings.Repeat("word ", 900), "Closed on Mondays.\n", " ",
		}), 0, 60).Draw(t, "parts")
		s, end := strings.Join(parts, ""), 0
		for _, x := range reader.Stretches(s) {
			if x.Start != end || x.End <= x.Start || x.End-x.Start > 18<<10 {
				t.Fatalf("%v behind %d", x, end)
			}
			if c := s[x.Start]; c >= 0x80 && c < 0xc0 {
				t.Fatalf("%v begins inside of a character", x)
			}
			end = x.End
		}
		if end != min(len(s), reader.MaxTagged) && !(end < len(s) && end > reader.MaxTagged-4) {
			t.Fatalf("%d of %d bytes", end, len(s))
		}
	})
}

// TestAppend: what is tagged stretch by stretch stands where it does in the whole text.
func TestAppend(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("The office is open on Monday.\n\n", 600)
	r, err := taggingMonday()
	if err != nil {
		t.Fatal(err)
	}
	w, stretches := r.NewWorker(), reader.Stretches(s)
	if len(stretches) < 2 {
		t.Fatalf("%d stretches", len(stretches))
	}
	var whole reader.Tagged
	for _, x := range stretches {
		tagged, err := w.Tags([]string{s[x.Start:x.End]}, onward)
		if err != nil {
			t.Fatal(err)
		}
		whole.Append(tagged[0], x.Start)
	}
	if whole.Until != len(s) || len(whole.Spans) != 600 {
		t.Errorf("%d spans until %d of %d", len(whole.Spans), whole.Until, len(s))
	}
	for _, x := range whole.Spans {
		if s[x.Start:x.End] != "Monday" {
			t.Fatalf("%q at %d", s[x.Start:x.End], x.Start)
		}
	}
}
