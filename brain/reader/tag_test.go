package reader_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/reader"
	"orgmem/brain/reader/readertest"
)

func onward() error { return nil }

// surfaces are the spans of a text as they stand there.
func surfaces(s string, tagged reader.Tagged) (all []string) {
	for _, x := range tagged.Spans {
		all = append(all, s[x.Start:x.End])
	}
	return all
}

// TestTags: spans stand where the words do, in the text as it was written, with their types and tenses; what only
// goes on is none where nothing has begun.
func TestTags(t *testing.T) {
	t.Parallel()
	r, err := readertest.Tagging(map[string]readertest.Tag{
		"mara": {Type: reader.Person}, "voss": {Type: reader.Person, Inside: true}, "berlin": {Type: reader.Place},
		"monday":  {Type: reader.Time, Tense: reader.Future},
		"mondays": {Type: reader.Time, Tense: reader.Recurring},
	})
	if err != nil {
		t.Fatal(err)
	}
	const text = "We met MÁRA  Voss,\nthen Voss in Berlin.\n\n\u200bMonday? No: Mondays"
	got, err := r.NewWorker().Tags([]string{"nothing here", text, ""}, onward)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 3 || len(got[0].Spans)+len(got[2].Spans) > 0 || got[1].Until != len(text) {
		t.Fatalf("%+v", got)
	}
	want := []string{"MÁRA  Voss", "Berlin", "Monday", "Mondays"}
	if all := surfaces(text, got[1]); !reflect.DeepEqual(all, want) {
		t.Fatalf("%q, want %q", all, want)
	}
	for i, x := range []reader.Span{
		{Type: reader.Person},
		{Type: reader.Place},
		{Type: reader.Time, Tense: reader.Future},
		{Type: reader.Time, Tense: reader.Recurring},
	} {
		if s := got[1].Spans[i]; s.Type != x.Type || s.Tense != x.Tense || s.P < 0.99 || s.Tense > 0 && s.TenseP < 0.99 {
			t.Errorf("%d is %+v, want %+v", i, s, x)
		}
	}
	for _, x := range got[1].Words {
		word := strings.ToLower(text[x.Start:x.End])
		name := word == "mára" || word == "voss" || word == "berlin"
		if (x.Name > 0.5) != name || (x.Time > 0.5) != strings.HasPrefix(word, "monday") {
			t.Errorf("%q: %+v", word, x)
		}
	}
}

// TestTagsAlone: a text has the same spans alone, among others, and in a worker that has read others; legally decoded,
// in order, and each within a window however long the text is.
func TestTagsAlone(t *testing.T) {
	t.Parallel()
	r, err := readertest.TaggingOfChance()
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for range 12 {
		var s strings.Builder
		for range chance.IntN(900) {
			s.WriteString(readertest.Words[chance.IntN(len(readertest.Words))])
			s.WriteString([]string{" ", " ", " ", " ", "\n\n", ". The "}[chance.IntN(6)])
		}
		texts = append(texts, s.String())
	}
	texts = append(texts, strings.Repeat("open ", 450))
	w := r.NewWorker()
	together, err := w.Tags(texts, onward)
	if err != nil {
		t.Fatal(err)
	}
	spans := 0
	for i, s := range texts {
		alone, err := w.Tags(texts[i:i+1], onward)
		if err != nil || !reflect.DeepEqual(alone[0], together[i]) {
			t.Errorf("text %d differs alone: %v", i, err)
		}
		at := 0
		for _, x := range together[i].Spans {
			if x.Start < at || x.End <= x.Start || x.P <= 0 || x.P > 1.000001 || (x.Type != reader.Time) != (x.Tense == 0) {
				t.Fatalf("%+v behind %d", x, at)
			}
			at = x.End
			spans++
		}
		at = 0
		for _, x := range together[i].Sentences {
			if x.Start < at || x.End <= x.Start {
				t.Fatalf("%+v behind %d", x, at)
			}
			at = x.End
		}
		if last := together[i].Words; len(last) > 0 && at != int(last[len(last)-1].End) {
			t.Errorf("text %d: the last sentence ends at %d, its last word at %d", i, at, last[len(last)-1].End)
		}
		if words := len(strings.Fields(strings.ReplaceAll(s, ".", " . "))); len(together[i].Words) != words {
			t.Errorf("%d words of %d", len(together[i].Words), words)
		}
	}
	if spans < 100 {
		t.Errorf("only %d spans of chance", spans)
	}
}

// TestTagsEnd: a long reading is ended between its windows, and a text is read as far as MaxTagged.
func TestTagsEnd(t *testing.T) {
	t.Parallel()
	r, err := readertest.Tagging(map[string]readertest.Tag{"berlin": {Type: reader.Place}})
	if err != nil {
		t.Fatal(err)
	}
	enough, asked := errors.New("enough"), 0
	long := strings.Repeat("It is open in Berlin.\n", 2000)
	w := r.NewWorker()
	if _, err := w.Tags([]string{long}, func() error {
		if asked++; asked == 3 {
			return enough
		}
		return nil
	}); !errors.Is(err, enough) || asked != 3 {
		t.Errorf("asked %d times: %v", asked, err)
	}
	// What was left of it is not read with the next.
	if got, err := w.Tags([]string{"Berlin"}, onward); err != nil || len(got[0].Spans) != 1 {
		t.Errorf("behind it: %+v, %v", got, err)
	}
	blob := strings.Repeat("é", reader.MaxTagged)
	if got, err := w.Tags([]string{blob}, onward); err != nil || got[0].Until != reader.MaxTagged {
		t.Errorf("read until %d: %v", got[0].Until, err)
	}
}

// TestWithoutHeads: a pack without the heads of a task loads, says so, and finds nothing; one whose heads have another
// shape does not load.
func TestWithoutHeads(t *testing.T) {
	t.Parallel()
	r := small(t)
	if r.CanTag() {
		t.Error("a pack of pairs alone says that it can do more")
	}
	w := r.NewWorker()
	if got, err := w.Tags([]string{"in berlin"}, onward); err != nil || len(got) != 1 || got[0].Until != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	base, hash, err := readertest.Base()
	if err != nil {
		t.Fatal(err)
	}
	heads := readertest.TagHeads(3)
	misshapen := heads[1]
	misshapen.Name = reader.HeadTags
	for what, head := range map[string]packfile.Head{
		"one of two heads": heads[0], "the other": heads[1], "a head of another shape": misshapen,
		"a head of classes without the others": readertest.ClassHeads(4)[0],
	} {
		weights := readertest.Weights(2)
		if weights.Heads = append(weights.Heads, head); head.Name == reader.HeadClassLook {
			weights.Heads = append(weights.Heads, heads...)
		}
		pack, err := readertest.Pack(hash, weights)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reader.LoadPack(pack, base, nil); !errors.Is(err, embed.ErrPack) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func taggingMonday() (*reader.Reader, error) {
	return readertest.Tagging(map[string]readertest.Tag{"monday": {Type: reader.Time, Tense: reader.Future}})
}
