package reader_test

import (
	"strings"
	"testing"

	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
)

// TestClasses: each sentence of a text has its class, wherever it stands in the windows that the text is read in.
func TestClasses(t *testing.T) {
	t.Parallel()
	r, err := readertest.Classing(map[string]reader.Class{
		"prefer": reader.Preference, "think": reader.Belief, "decided": reader.Decision,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.CanClassify() {
		t.Fatal("a reader with the heads says that it cannot")
	}
	long := strings.Repeat("It is open there. ", 60) + "We decided.\n\n"
	text := "I prefer Pérgola, not tar. It is open there.\n\n\u200bThey think so!\n" + long +
		strings.Repeat("so ", 300) + "think"
	got, err := r.NewWorker().Tags([]string{"", text}, onward)
	if err != nil {
		t.Fatal(err)
	}
	if len(got[0].Sentences) > 0 {
		t.Errorf("sentences of nothing: %+v", got[0].Sentences)
	}
	said := map[reader.Class][]string{}
	for _, s := range got[1].Sentences {
		for c, p := range s.P {
			if p > 0.9 {
				said[reader.Class(c)] = append(said[reader.Class(c)], text[s.Start:s.End])
			}
		}
	}
	for c, want := range map[reader.Class][]string{
		reader.Preference: {"I prefer Pérgola, not tar."}, reader.Decision: {"We decided."},
	} {
		if strings.Join(said[c], "|") != strings.Join(want, "|") {
			t.Errorf("%d: %q, want %q", c, said[c], want)
		}
	}
	// A sentence of 301 words is read in two parts; the word is in the second.
	if b := said[reader.Belief]; len(b) != 2 || b[0] != "They think so!" || !strings.HasSuffix(b[1], "so think") {
		t.Errorf("beliefs: %q", b)
	}
	if plain := len(said[reader.Plain]); plain != 62 {
		t.Errorf("%d plain sentences", plain)
	}
}

// TestClassesOfAStretch: sentences of a stretch stand where they do in the whole text.
func TestClassesOfAStretch(t *testing.T) {
	t.Parallel()
	r, err := readertest.Classing(map[string]reader.Class{"prefer": reader.Preference})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("It is open there.\n\n", 800) + "I prefer tar.\n"
	var whole reader.Tagged
	w := r.NewWorker()
	for _, at := range reader.Stretches(text) {
		part, err := w.Tags([]string{text[at.Start:at.End]}, onward)
		if err != nil {
			t.Fatal(err)
		}
		whole.Append(part[0], at.Start)
	}
	last := whole.Sentences[len(whole.Sentences)-1]
	if len(whole.Sentences) != 801 || text[last.Start:last.End] != "I prefer tar." || last.P[reader.Preference] < 0.9 {
		t.Errorf("%d sentences, the last %+v", len(whole.Sentences), last)
	}
}

// TestWithoutClasses: a pack that tags and has no head for classes tells none.
func TestWithoutClasses(t *testing.T) {
	t.Parallel()
	r, err := taggingMonday()
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.NewWorker().Tags([]string{"Open on Monday."}, onward)
	if r.CanClassify() || err != nil || len(got[0].Spans) != 1 || got[0].Sentences != nil {
		t.Errorf("%+v, %v", got, err)
	}
}
