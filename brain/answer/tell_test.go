package answer_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/brain/answer"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
)

// note is a passage that was read: of the asker on a day, unless who says otherwise; span is what answers.
func note(chunk, span, day, who string, answers float64) answer.Read {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		panic(err)
	}
	start := strings.Index(chunk, span)
	return answer.Read{
		Reading: reader.Reading{Answers: answers, Score: answers, Span: text.Span{Start: start, End: start + len(span)}},
		Hit:     &pb.Hit{Node: chunk, Chunk: chunk, Score: answers},
		Who:     who, Asker: who == "", AtMs: at.UnixMilli(),
	}
}

// unnamed is a passage of another member, whom nothing names.
func unnamed(r answer.Read) answer.Read {
	r.Asker = false
	return r
}

// after is a passage that was written so much later.
func after(r answer.Read, d time.Duration) answer.Read {
	r.AtMs += d.Milliseconds()
	return r
}

// told is the answer to a question on 1 December 2025.
func told(question string, disputed bool, read ...answer.Read) *pb.BrainAnswered {
	q := answer.Question{
		Text: question, AtMs: time.Date(2025, 12, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), MaxWords: 100,
	}
	return answer.Tell(q, answer.Choose(question, answer.Answering(question, read)), disputed)
}

func TestTell(t *testing.T) {
	for _, x := range []struct {
		name, question string
		read           []answer.Read
		disputed       bool
		want           string
	}{
		{
			"the sentence that answers, and no other", "When does the pool open?",
			[]answer.Read{note("The café is shut. The pool opens at seven. Bring coins.", "at seven", "2025-10-03", "", .9)},
			false,
			"The pool opens at seven.",
		},
		{"nothing answers", "When does the pool open?", []answer.Read{
			note("The pool is deep.", "deep", "2025-10-03", "", .001),
		}, false, answer.NothingKnown},
		{
			"in the question's language", "Wann öffnet das Bad und wer hat den Schlüssel?", nil, false,
			answer.Nothing("Wo ist der Schlüssel?"),
		},
		{"who says it, and when", "When does the pool open?", []answer.Read{
			note("The pool opens at seven.", "at seven", "2025-10-03", "Maria", .9),
		}, false, "Maria, 3 October: The pool opens at seven."},
		{"in another year", "Wann öffnet das Bad und wo?", []answer.Read{
			note("Das Bad öffnet um sieben.", "um sieben", "2024-03-09", "Maria", .9),
		}, false, "Maria, 9. März 2024: Das Bad öffnet um sieben."},
		{"the later value only", "When does the pool open?", []answer.Read{
			note("The pool opens at seven.", "at seven", "2025-05-03", "", .95),
			note("From now on the pool opens at nine.", "at nine", "2025-10-03", "", .9),
		}, false, "From now on the pool opens at nine."},
		{"both where the past is asked for", "When did the pool open previously?", []answer.Read{
			note("The pool opens at seven.", "at seven", "2025-05-03", "", .95),
			note("From now on the pool opens at nine.", "at nine", "2025-10-03", "", .9),
		}, false, "From now on the pool opens at nine. Before, on 3 May: The pool opens at seven."},
		{"two of one day that are at odds", "When does the pool open?", []answer.Read{
			note("The pool opens at nine.", "at nine", "2025-10-03", "Ben", .9),
			note("The pool opens at seven.", "at seven", "2025-10-03", "", .95),
		}, true, "The pool opens at seven. Ben, 3 October: The pool opens at nine. These notes contradict each other."},
		{"the same twice", "When does the pool open?", []answer.Read{
			note("The pool opens at seven.", "at seven", "2025-10-03", "", .95),
			note("It is seven when the pool opens.", "seven", "2025-10-03", "Ben", .95),
		}, false, "The pool opens at seven."},
		{"a later one that hardly answers", "When does the pool open?", []answer.Read{
			note("The pool opens at seven.", "at seven", "2025-05-03", "", .95),
			note("I might go at nine.", "at nine", "2025-10-03", "", .25),
		}, false, "The pool opens at seven."},
		{"the sentence before a pronoun", "Where does Jonas live?", []answer.Read{
			note("Jonas has moved to Bonn. He lives in Elm Street. He is tall.", "in Elm Street", "2025-10-03", "", .9),
		}, false, "Jonas has moved to Bonn. He lives in Elm Street."},
		{"no marks", "Where does Jonas live?", []answer.Read{
			note("## Addresses\n\n- [ ] **Jonas** lives in `Elm Street` ([map](https://x.example/1))\n- Ben\n",
				"Elm Street", "2025-10-03", "", .9),
		}, false, "Jonas lives in Elm Street (map)."},
		{"what a list is of", "When is the gala?", []answer.Read{
			note("Swimming gala:\n- bring coins\n- Tuesday 24 June\n", "Tuesday 24 June", "2025-10-03", "", .9),
		}, false, "Swimming gala: Tuesday 24 June."},
		{"cells of a table", "Who is the CFO?", []answer.Read{
			note("| role | name |\n|---|---|\n| CFO | Anna Lund |\n", "Anna Lund", "2025-10-03", "", .9),
		}, false, "CFO, Anna Lund."},
		{"another's own facts do not answer for the asker", "What is my blood type?", []answer.Read{
			note("My blood type is A.", "A", "2025-10-03", "Anna", .9),
		}, false, answer.NothingKnown},
		{"nor for a third", "What is the blood type of Ben?", []answer.Read{
			note("My blood type is A.", "A", "2025-10-03", "Anna", .9),
		}, false, answer.NothingKnown},
		{"what is in another's memory is not the asker's", "What is my shoe size?", []answer.Read{
			note("Shoe size 38.", "38", "2025-10-03", "Anna", .9),
		}, false, answer.NothingKnown},
		{"but may tell who", "Who has my drill?", []answer.Read{
			note("The drill is with Lutz.", "Lutz", "2025-10-03", "Anna", .9),
		}, false, "Anna, 3 October: The drill is with Lutz."},
		{"nor is it another third's", "What is the shoe size of Ben?", []answer.Read{
			note("Shoe size 38.", "38", "2025-10-04", "Anna", .95),
			note("Shoe size 44.", "44", "2025-10-03", "team-ben", .9),
			note("Shoe size of ben: 43.", "43", "2025-10-01", "Carla", .6),
		}, false, "team-ben, 3 October: Shoe size 44."},
		{"nor is it of somebody in small letters", "what is ben's shoe size?", []answer.Read{
			note("Shoe size 38.", "38", "2025-10-04", "Anna", .95),
			note("Shoe size 44.", "44", "2025-10-03", "Ben", .6),
		}, false, "Ben, 3 October: Shoe size 44."},
		{"nor of one with nearly the same name", "What is the shoe size of Ann?", []answer.Read{
			note("Shoe size 38.", "38", "2025-10-04", "Anna", .95),
			note("Shoe size 44.", "44", "2025-10-03", "Ann", .6),
		}, false, "Ann, 3 October: Shoe size 44."},
		{"what the asker owns is not another's because it is named", "What is my Netflix plan?", []answer.Read{
			note("My Netflix plan is Premium.", "Premium", "2025-10-03", "Anna", .9),
		}, false, answer.NothingKnown},
		{"how is not who in German", "Wie hoch ist mein Budget und wo steht das?", []answer.Read{
			note("Das Budget ist 5000 Euro.", "5000 Euro", "2025-10-03", "Anna", .9),
		}, false, answer.Nothing("Wie hoch ist mein Budget und wo steht das?")},
		{"a member whom nothing names is not the asker", "Who is allergic to nuts?", []answer.Read{
			unnamed(note("The allergy of Lutz is to nuts.", "Lutz", "2025-10-03", "", .9)),
		}, false, "Another member, 3 October: The allergy of Lutz is to nuts."},
		{"and speaks of themselves", "What is Ben allergic to?", []answer.Read{
			unnamed(note("I am allergic to nuts.", "nuts", "2025-10-03", "", .9)),
		}, false, answer.NothingKnown},
		{"the newest of three within two hours", "When does the pool open?", []answer.Read{
			after(note("The pool opens at seven.", "at seven", "2025-10-03", "", .9), 0),
			after(note("The pool opens at eight.", "at eight", "2025-10-03", "", .88), 40*time.Minute),
			after(note("The pool opens at nine.", "at nine", "2025-10-03", "", .86), 80*time.Minute),
		}, false, "The pool opens at eight. The pool opens at nine."},
		{"addresses and names of code stay", "Whom do I write to about the loader?", []answer.Read{
			note("Write to Ann <ann@x.example> about __init__ of the <b>loader</b> tests.", "Ann", "2025-10-03", "", .9),
		}, false, "Write to Ann <ann@x.example> about __init__ of the loader tests."},
		{"they do for themselves", "What is the blood type of Anna?", []answer.Read{
			note("My blood type is A.", "A", "2025-10-03", "Anna", .9),
			note("My blood type is B.", "B", "2025-10-04", "Ben", .9),
		}, false, "Anna, 3 October: My blood type is A."},
	} {
		got := told(x.question, x.disputed, x.read...)
		if got.GetAnswer() != x.want {
			t.Errorf("%s: %q, want %q", x.name, got.GetAnswer(), x.want)
		}
		if refused := got.GetAnswer() == answer.Nothing(x.question); refused != (len(got.GetCitations()) == 0) {
			t.Errorf("%s: cites %v", x.name, got.GetCitations())
		}
	}
}

// TestCitedSpans: a citation names what of the chunk answers.
func TestCitedSpans(t *testing.T) {
	got := told("When does the pool open?", false,
		note("Öffnung: The pool opens at seven.", "at seven", "2025-10-03", "", .9))
	c := got.GetCitations()[0]
	if said := c.GetChunk()[c.GetSpanStart():c.GetSpanEnd()]; said != "at seven" {
		t.Errorf("%q", said)
	}
}

// TestMannerOfAnswers: an answer is told as the asker writes, and as said by another in their name.
func TestMannerOfAnswers(t *testing.T) {
	manner := voice.ProfileFrom(&pb.VoiceProfile{MessageWords: 12, Evidence: 50, Style: []*pb.StyleMeasure{
		{Group: "closing", Name: "fullStop", Value: -1}, {Group: "spelling", Name: "contractions", Value: 1},
	}})
	read := []answer.Read{note("The pool is not open on Mondays.", "Mondays", "2025-10-03", "Maria", .9)}
	const question = "When is the pool shut?"
	q := answer.Question{Text: question, AtMs: read[0].AtMs, MaxWords: 100, Manner: &manner}
	got := answer.Tell(q, answer.Choose(question, answer.Answering(question, read)), false)
	if want := "Maria, 3 October: The pool isn't open on Mondays"; got.GetAnswer() != want {
		t.Errorf("%q, want %q", got.GetAnswer(), want)
	}
}

// TestToldKeepsItsBounds: whatever the passages, an answer has at most so many words, is in one line, and cites
// something or refuses.
func TestToldKeepsItsBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var read []answer.Read
		for range rapid.IntRange(0, 4).Draw(rt, "passages") {
			chunk := rapid.StringOf(rapid.RuneFrom([]rune("ab. \n#*-|`_[]()é東:!"))).Draw(rt, "chunk") + "x"
			start := rapid.IntRange(0, len(chunk)-1).Draw(rt, "start")
			end := rapid.IntRange(start, len(chunk)).Draw(rt, "end")
			p := note("x", "x", "2025-10-03", rapid.SampledFrom([]string{"", "Maria"}).Draw(rt, "who"), 1)
			p.Answers = rapid.Float64Range(0, 1).Draw(rt, "answers")
			p.Score = max(p.Answers, 1e-9)
			p.AtMs += int64(rapid.IntRange(0, 3).Draw(rt, "day")) * 24 * time.Hour.Milliseconds()
			p.Hit.Chunk, p.Span = chunk, text.Span{Start: start, End: end}
			read = append(read, p)
		}
		q := answer.Question{Text: "Which one?", MaxWords: rapid.IntRange(1, 30).Draw(rt, "words")}
		got := answer.Tell(q, answer.Choose(q.Text, answer.Answering(q.Text, read)), true)
		if refused := got.GetAnswer() == answer.NothingKnown; refused != (len(got.GetCitations()) == 0) {
			rt.Fatalf("%v", got)
		} else if _, n := answer.FirstWords(got.GetAnswer(), math.MaxInt); !refused && n > q.MaxWords {
			rt.Fatalf("%d words of %d: %q", n, q.MaxWords, got.GetAnswer())
		}
		if strings.Contains(got.GetAnswer(), "\n") {
			rt.Fatalf("%q", got.GetAnswer())
		}
	})
}

// TestRefusals: in each language that is told, and in English in all others.
func TestRefusals(t *testing.T) {
	seen := map[string]string{}
	for question, is := range map[string]string{
		"Who has the key?": answer.NothingKnown, "Boiler?": answer.NothingKnown,
		"Wer hat den Schlüssel?": "Dazu steht nichts im Gedächtnis.", "Qui a la clé de la cave ?": "",
		"¿Quién tiene la llave del coche?": "", "Chi ha la chiave della cantina?": "",
		"Quem tem a chave do carro?": "", "Wie heeft de sleutel van het kantoor?": "", "Где ключ?": "",
		"鍵はどこ": "", "钥匙在哪里": "", "열쇠는 어디에 있습니까": "",
	} {
		got := answer.Nothing(question)
		if is != "" && got != is || is == "" && got == answer.NothingKnown {
			t.Errorf("%q: %q", question, got)
		}
		if other, twice := seen[got]; twice && got != answer.NothingKnown {
			t.Errorf("%q of %q and %q", got, question, other)
		}
		seen[got] = question
	}
}

// TestTooLongASentence: where a sentence is longer than the answer may be, the words around what answers are shown, and
// an ellipsis where words are left out.
func TestTooLongASentence(t *testing.T) {
	const long = "After the committee had read the minutes, thanked the caterers and moved the bins, which nobody had " +
		"done since the flood, it set the **fee for the boats** at 45 euros a month, to be paid at the gate by cash or " +
		"card, but never by cheque."
	for _, x := range []struct {
		chunk, span, who string
		most             int
		want             string
	}{
		{
			long, "45 euros a month", "", 20,
			"…it set the fee for the boats at 45 euros a month, to be paid at the gate by cash…",
		},
		{long, "45 euros a month", "Maria", 12, "Maria, 3 October: …the boats at 45 euros a month, to be…"},
		{long, "45 euros a month", "", 2, "…45 euros…"},
		{
			long, "moved the bins", "", 14,
			"After the committee had read the minutes, thanked the caterers and moved the bins…",
		},
		{long, "never by cheque", "", 8, "…by cash or card, but never by cheque."},
		{long, "fee for the boats", "", 9, "…it set the fee for the boats at 45…"},
		{long, "45 euros a month", "Maria", 3, "Maria, 3 October:"},
		{"理事会は長い会議のあとで会費を四十五ユーロに決めた", "四十五ユーロ", "", 12, "…費を四十五ユーロに決…"},
		{"The pool opens at seven.", "at seven", "", 5, "The pool opens at seven."},
	} {
		read := []answer.Read{note(x.chunk, x.span, "2025-10-03", x.who, .9)}
		q := answer.Question{Text: "How much is it?", AtMs: read[0].AtMs, MaxWords: x.most}
		got := answer.Tell(q, answer.Choose(q.Text, answer.Answering(q.Text, read)), false)
		if got.GetAnswer() != x.want {
			t.Errorf("%q, want %q", got.GetAnswer(), x.want)
		}
		c := got.GetCitations()[0]
		if cited := c.GetChunk()[c.GetSpanStart():c.GetSpanEnd()]; cited != x.span {
			t.Errorf("cites %q, want %q", cited, x.span)
		}
	}
}

// A passage that the reader hedges about answers only if search, too, holds it to be about the question.
func TestHedgedAnswers(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		name                     string
		answers, cosine, keyword float64
		told                     bool
	}{
		{"hedged, and about something else", 0.1, 0.2, 0.2, false},
		{"hedged, of like meaning", 0.1, 0.5, 0, true},
		{"hedged, with the question's words", 0.1, 0, 0.5, true},
		{"sure, in other words", 0.8, 0.1, 0, true},
		{"of like meaning and words, but no answer", 0.001, 0.9, 0.9, false},
	} {
		p := note("The keys hang behind the bar.", "behind the bar", "2025-11-03", "", x.answers)
		p.Hit.Vector, p.Hit.Keyword = x.cosine, x.keyword
		got := told("Where are the keys?", false, p)
		if so := len(got.GetCitations()) > 0; so != x.told {
			t.Errorf("%s: told %v, want %v: %s", x.name, so, x.told, got.GetAnswer())
		}
	}
}
