package answer_test

import (
	"testing"

	"orgmem/brain/answer"
	"orgmem/brain/reader"
	"orgmem/brain/text"
)

// TestWhatIsNoAnswer: a nod, a question, an address, a heading or what is of another kind than is asked answers
// nothing, however sure the reader is; nor does what does not speak of the thing that the question names, unless it is
// very sure.
func TestWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	const minutes = "### Initiatives\n* Benchmarking - issue [#12](https://w.example/12)\n  * Nothing for us to decide\n" +
		"* Budget: 4,000 euros\n  * 1,000 of it for travel"
	for _, x := range []struct {
		question, chunk, span string
		answers               float64
		want                  string
	}{
		{"Who maintains the mirror?", "<@Ben> Probably, yeah.", "<@Ben>", .9, answer.NothingKnown},
		{"Who maintains the mirror?", "<@Ben> Dora does.", "Dora", .9, "<@Ben> Dora does."},
		{"What does the course cost?", "<https://w.example/course?id=7>", "7", .9, answer.NothingKnown},
		{
			"Where is the course described?", "<https://w.example/course>", "https://w.example/course", .9,
			"<https://w.example/course>",
		},
		{"What is the best kiln?", "does anyone here have a good kiln", "a good kiln", .9, answer.NothingKnown},
		{"When does the pool open?", "The pool is deep.", "deep", .8, answer.NothingKnown},
		{"How many came?", "They came by train.", "train", .8, answer.NothingKnown},
		{"How many came?", "A dozen came by train.", "A dozen", .8, "A dozen came by train."},
		{"What does the course cost?", "The course is in the shed.", "the shed", .8, answer.NothingKnown},
		{"What is the status of the kiln?", "Status: fine", "fine", .8, "Status: fine."},
		{"Who has the key?", "It is under the mat.", "under the mat", .8, answer.NothingKnown},
		{"When did the board meet in Tokyo?", "The board met on 3 May.", "3 May", .8, answer.NothingKnown},
		{"When did the board meet in Tokyo?", "The board met on 3 May.", "3 May", .95, "The board met on 3 May."},
		{"When did the board meet in May?", "The board met on the 3rd.", "the 3rd", .8, "The board met on the 3rd."},
		{"What was decided on benchmarks?", minutes, "Benchmarking", .9, answer.NothingKnown},
		{
			"What was decided on benchmarks?", minutes, "Nothing", .9,
			"Benchmarking - issue #12: Nothing for us to decide.",
		},
		{"What is the budget?", minutes, "4,000 euros", .9, "Initiatives: Budget: 4,000 euros."},
		{
			"How much is the rent?", "Terms for Elm Street:\n    - Rent is 900 euros a month\n    - Deposit is 1,800 euros",
			"900 euros", .8, "Rent is 900 euros a month.",
		},
		{
			"Who is the landlord?", "- The landlord is Tomas Reyes\n  - call him on weekdays", "Tomas Reyes", .8,
			"The landlord is Tomas Reyes.",
		},
		{
			"What is missing?", "What is missing is the signature of Anna.", "the signature of Anna", .8,
			"What is missing is the signature of Anna.",
		},
		{"How is the new kiln?", "It is great.", "great", .8, "It is great."},
		{"Who fixed the boiler?", "The plumber fixed the boiler.", "The plumber", .95, "The plumber fixed the boiler."},
		{"What was decided?", "Rest\n    * Nothing yet to decide", "Nothing", .9, answer.NothingKnown},
	} {
		if got := told(x.question, false, note(x.chunk, x.span, "2025-10-03", "", x.answers)).GetAnswer(); got != x.want {
			t.Errorf("%s %q: %q, want %q", x.question, x.chunk, got, x.want)
		}
	}
}

// TestTheTopicMayStandInThePassageBefore: an item is told with what it stands under there.
func TestTheTopicMayStandInThePassageBefore(t *testing.T) {
	t.Parallel()
	read := note("* Skipped for lack of time", "Skipped", "2025-10-03", "", .9)
	read.Before = "* Strategy\n  "
	got := told("What of the strategy?", false, read).GetAnswer()
	if want := "Strategy: Skipped for lack of time."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWhatStandsAmongMuchIsReadAgain: of a stretch of many sentences the one that answers is read by itself, below its
// topic, and what is then thought of it counts.
func TestWhatStandsAmongMuchIsReadAgain(t *testing.T) {
	t.Parallel()
	page := "* Pool\n  * It opens at seven.\n  * It is deep.\n"
	for range 4 {
		page += "* The café is shut.\n* Bring coins.\n"
	}
	read := []answer.Read{
		note(page, "at seven", "2025-10-03", "", 0), note("The pool opens at nine.", "nine", "2025-10-03", "", .9),
	}
	read[0].Take(reader.Reading{Answers: .8, Within: .5, Span: read[0].Span}, text.Span{End: len(page)})
	answer.ReadCloser(read, []string{"Plan", ""}, func(again []reader.Passage) []reader.Reading {
		if len(again) != 1 || again[0].Label != "Plan, Pool" || again[0].Text != "* It opens at seven." {
			t.Errorf("%v", again)
		}
		return []reader.Reading{{Answers: .6, Within: 1, Span: text.Span{Start: 5, End: 10}}}
	})
	if got := read[0]; got.Answers != .3 || page[got.Span.Start:got.Span.End] != "opens" {
		t.Errorf("%v", got.Reading)
	}
}
