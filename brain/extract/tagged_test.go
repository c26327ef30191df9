package extract

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	reading "orgmem/brain/reader"
)

// said is a span of a text as a reader may find it: where its words first stand behind the one before.
type said struct {
	text  string
	kind  reading.Type
	p     float64
	tense reading.Tense
}

// taggedAs is what a reader makes of a text that finds these spans, and is sure that all other words are nothing.
func taggedAs(t testing.TB, s string, spans ...said) *reading.Tagged {
	t.Helper()
	out, at := &reading.Tagged{Until: len(s)}, 0
	for _, x := range spans {
		i := strings.Index(s[at:], x.text)
		if i < 0 {
			t.Fatalf("no %q in %q", x.text, s[at:])
		}
		if x.p == 0 {
			x.p = 0.95
		}
		span := reading.Span{Span: Span{Start: at + i, End: at + i + len(x.text)}, Type: x.kind, P: x.p, Tense: x.tense}
		if x.tense > 0 {
			span.TenseP, span.Told = 0.95, 1
		}
		out.Spans, at = append(out.Spans, span), span.End
	}
	for i := 0; i < len(s); {
		end := i + 1
		for end < len(s) && s[i] != ' ' && s[end] != ' ' {
			end++
		}
		word := reading.Word{Start: int32(i), End: int32(end)}
		for _, x := range out.Spans {
			if x.Start < end && i < x.End {
				if x.Type == reading.Time {
					word.Time = float32(x.P)
				} else if x.Type <= reading.Identifier {
					word.Name = float32(x.P)
					for k := range word.Of {
						word.Of[k] = float32(1-x.P) / float32(len(word.Of))
					}
					if x.Type < reading.Identifier {
						word.Of[x.Type] = float32(x.P)
					}
				}
			}
		}
		out.Words, i = append(out.Words, word), end
	}
	return out
}

// namedIn are the names of a text with their types.
func namedIn(e Extraction) (all []string) {
	for _, m := range e.Mentions {
		all = append(all, string(m.Type)+" "+m.Name)
	}
	return all
}

// TestProposedNames: what a reader finds becomes the whole name and nothing else, with its type.
func TestProposedNames(t *testing.T) {
	t.Parallel()
	const person, org = reading.Person, reading.Organization
	for _, c := range []struct {
		name, text string
		spans      []said
		want       []string
	}{
		{"types that no rule knows", "Wilson Ferreira moved LedgerBox into Kestrel for Tide.", []said{
			{text: "Wilson Ferreira", kind: org, p: 0.9999}, {text: "LedgerBox", kind: reading.Product}, {
				text: "Kestrel",
				kind: reading.Project,
			}, {text: "Tide", kind: reading.Event},
		}, []string{"organization Wilson Ferreira", "product LedgerBox", "project Kestrel", "event Tide"}},
		{
			"a rule's name that the reader leaves outside", "We asked Globex about the Migration Window again.",
			[]said{{text: "Globex", kind: org}},
			[]string{"organization Globex"},
		},
		{"a name that the span cuts", "Yesterday Maren Oduya-Smith called about the keys.", []said{
			{text: "Maren", kind: person, p: 0.9}, {text: "Oduya", kind: person, p: 0.3},
		}, []string{"person Maren Oduya-Smith"}},
		{"over the small words of a name", "The key is with Joost van Dreel of Kettle & Crane since noon.", []said{
			{text: "Joost", kind: person},
			{text: "Dreel", kind: person, p: 0.1},
			{text: "Kettle", kind: org},
			{text: "Crane", kind: org, p: 0.1},
		}, []string{"person Joost van Dreel", "organization Kettle & Crane"}},
		{"no words in small letters at its ends", "They said that Vesna Tull repaired the pump.", []said{
			{text: "that Vesna Tull repaired", kind: person},
		}, []string{"person Vesna Tull"}},
		{"what an event is, in small letters", "We watched the Marlow Cup final together.", []said{
			{text: "Marlow Cup final", kind: reading.Event},
		}, []string{"event Marlow Cup final"}},
		{"an initial does not end it", "Please send this on to J. Abbas today.", []said{
			{text: "J. Abbas", kind: person},
		}, []string{"person J. Abbas"}},
		{"a number takes in what is numbered", "The guest of room 207 left, and 31 stayed.", []said{
			{text: "207", kind: reading.Place}, {text: "31", kind: reading.Place},
		}, []string{"place room 207"}},
		{"no name by what it is", "Cheers, the Norwegian way, cost NOK 300 in the kitchen of Aunt Ruta.", []said{
			{text: "Cheers", kind: person},
			{text: "Norwegian", kind: org},
			{text: "NOK", kind: reading.Product},
			{text: "kitchen", kind: reading.Place},
			{text: "Aunt Ruta", kind: person},
		}, []string{"person Ruta"}},
		{"an identifier is no name of the rules", "The crate Kappa Delta is in the yard.", []said{
			{text: "Kappa Delta", kind: reading.Identifier},
		}, nil},
		{"a line's head is no speaker", "Harbour Swim: bring towels.\nHarbour Swim: and a hat.", []said{
			{text: "Harbour Swim", kind: reading.Event}, {text: "Harbour Swim", kind: reading.Event},
		}, []string{"event Harbour Swim", "event Harbour Swim"}},
		{"all mentions of a name agree", "Ask Brindle about it. The pump from Brindle failed. Brindle Ltd paid.", []said{
			{text: "Brindle", kind: org, p: 0.9}, {text: "Brindle", kind: org, p: 0.9}, {text: "Brindle Ltd", kind: org},
		}, []string{"organization Brindle", "organization Brindle", "organization Brindle Ltd"}},
		{"no further than the name", "Call Maren Monday about Oslo.", []said{{text: "Maren", kind: person}, {
			text: "Oslo",
			kind: reading.Place,
		}}, []string{"person Maren", "place Oslo"}},
		{"two people are two", "Elif and Kofi met Ann, Ben & Cy.", []said{
			{text: "Elif and Kofi", kind: person}, {text: "Ann, Ben & Cy", kind: person},
		}, []string{"person Elif", "person Kofi", "person Ann", "person Ben", "person Cy"}},
		{
			"a firm of two names is one", "They bought it from Marks and Finch.",
			[]said{{text: "Marks and Finch", kind: org}},
			[]string{"organization Marks and Finch"},
		},
		{"a heading", "Action Items:\n- Elif sends the list.", []said{{
			text: "Action Items", kind: reading.Project,
			p: 0.7,
		}, {text: "Elif", kind: person}}, []string{"person Elif"}},
		{"a line's label", "Reading group: Elif brings cake.\nBin day: Kofi.", []said{
			{text: "Elif", kind: person}, {text: "Kofi", kind: person},
		}, []string{"person Elif", "person Kofi"}},
		{"a feast that is a time", "We meet Elif at Easter.", []said{{text: "Elif", kind: person}, {
			text: "Easter",
			kind: reading.Time,
		}}, []string{"person Elif"}},
		{"a greeting", "Hi Elif, thanks.", []said{{text: "Hi Elif", kind: person}}, []string{"person Elif"}},
		{"an article, a title and a possessive", "The Harbour Trust wrote to Dr. Okoro's office.", []said{
			{text: "The Harbour Trust", kind: org}, {text: "Dr. Okoro's", kind: person},
		}, []string{"organization Harbour Trust", "person Okoro"}},
		{"small letters need more", "ask mara about the tide", []said{
			{text: "mara", kind: person, p: 0.95},
			{text: "tide", kind: reading.Event, p: 0.6},
		}, []string{"person mara"}},
		{"what is known by its shape", "See INC-4521 at https://example.org/x, said Mara.", []said{
			{text: "INC-4521", kind: reading.Product}, {text: "Mara", kind: person},
		}, []string{"identifier INC-4521", "url example.org/x", "person Mara"}},
		{
			"where the reader is unsure the words decide", "They met at Leeds University.",
			[]said{{text: "Leeds University", kind: reading.Place, p: 0.55}},
			[]string{"organization Leeds University"},
		},
		{"a span below the bar is none", "They met in Tove.", []said{{text: "Tove", kind: reading.Place, p: 0.04}}, nil},
		{
			"two sentences are two names", "It was Mara. Kofi left.",
			[]said{{text: "Mara. Kofi", kind: person}},
			[]string{"person Mara", "person Kofi"},
		},
	} {
		got := namedIn(Extract(Document{Text: c.text, Tagged: taggedAs(t, c.text, c.spans...)}))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q: %q, want %q", c.name, c.text, got, c.want)
		}
	}
	// Beyond what was read the rules go on.
	const text = "We asked Globex. Priya Nair met Anselm Vogt in Oslo."
	part := &reading.Tagged{Until: len("We asked Globex.")}
	if got := namedIn(Extract(Document{Text: text, Tagged: part})); slices.Contains(got, "organization Globex") ||
		!slices.Contains(got, "place Oslo") {
		t.Errorf("read in part: %q", got)
	}
}

// TestSpeakersStand: who speaks in a transcript is known without a reader, and against it.
func TestSpeakersStand(t *testing.T) {
	t.Parallel()
	const text = "Tide: We meet in Oslo.\nMara: Agreed."
	got := namedIn(Extract(Document{
		Text: text, Speakers: []string{"Tide", "Mara"}, Tagged: taggedAs(t, text, said{text: "Tide", kind: reading.Event}),
	}))
	if !slices.Contains(got, "person Tide") || !slices.Contains(got, "person Mara") {
		t.Errorf("%q", got)
	}
}

// TestTaggedDates: a reader's times are resolved by the calendar, on the side of today that their tense tells.
func TestTaggedDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 13, 9, 0, 0, 0, time.UTC) // a Wednesday
	const past, future, now = reading.Past, reading.Future, reading.Present
	for _, c := range []struct {
		text, time string
		tense      reading.Tense
		want       string // days; until is the last
	}{
		{"Report: the pump was mended on Monday", "Monday", past, "2026-05-11"},
		{"Plan: the pump is mended on Monday", "Monday", future, "2026-05-18"},
		{"The lease signed on October 1", "October 1", past, "2025-10-01"},
		{"The lease on October 1", "October 1", future, "2026-10-01"},
		{"It stands open since Friday", "since Friday", now, "2026-05-08.."},
		{"Back on the 5th", "the 5th", past, "2026-05-05"},
		{"Back on the 5th", "the 5th", future, "2026-06-05"},
		{"Away the 20th and 21st", "the 20th and 21st", future, "2026-05-20 2026-05-21"},
		{"Renovated last autumn", "last autumn", past, "2025-09-01 2025-11-30"},
		{"Opening in spring", "spring", future, "2026-03-01 2026-05-31"},
		{"Ready by mid-June", "mid-June", future, "2026-06-15"},
		{"Ready in mid-June", "mid-June", future, "2026-06-11 2026-06-20"},
		{"Ready in early July", "early July", future, "2026-07-01 2026-07-10"},
		{"Due in the second week of June", "the second week of June", future, "2026-06-08 2026-06-14"},
		{"Due on the last Friday of the month", "the last Friday of the month", future, "2026-05-29"},
		{"Off on Whit Monday", "Whit Monday", future, "2026-05-25"},
		{"Home by Thanksgiving", "Thanksgiving", future, "2026-11-26"},
		{"Back the day after Easter Monday", "the day after Easter Monday", past, "2026-04-07"},
		{"It closed the Sunday before Easter", "the Sunday before Easter", past, "2026-03-29"},
		{"We moved a fortnight ago", "a fortnight ago", past, "2026-04-29"},
		{"We moved two years ago", "two years ago", past, "2024-05-13"},
		{"Exam Friday week", "Friday week", future, "2026-05-22"},
		{"Exam a week on Monday", "a week on Monday", future, "2026-05-25"},
		{"Exam Tuesday next week", "Tuesday next week", future, "2026-05-19"},
		{"Exam the week after next", "the week after next", future, "2026-05-25 2026-05-31"},
		{"Invoice paid 4/5", "4/5", past, "2026-05-04"},
		{"Invoice due 30/6", "30/6", future, "2026-06-30"},
		{"Fair 11-13 June", "11-13 June", future, "2026-06-11 2026-06-13"},
		{"Moved in September '19", "September '19", past, "2019-09-01 2019-09-30"},
		{"Fair this coming weekend", "this coming weekend", future, "2026-05-16 2026-05-17"},
		{"Fair this coming Wednesday", "this coming Wednesday", future, "2026-05-20"},
		{"Call tmrw", "tmrw", future, "2026-05-14"},
		{"Call at 3pm", "3pm", future, "2026-05-13"},
		{"Sprint ends in week 21", "week 21", future, "2026-05-18 2026-05-24"},
		{"Harbour Day is here", "Harbour Day", now, "2026-05-13"},
		{"Demo Monday 18 May at noon", "Monday 18 May at noon", future, "2026-05-18"},
		{"Not a word before June", "before June", future, "..2026-05-31"},
		{"It stays shut until autumn", "until autumn", future, "..2026-09-01"},
		{"Valid through June", "through June", future, "..2026-06-30"},
		{"Receipts up to 2019", "up to 2019", past, "..2019-12-31"},
		{"Repainted after the summer", "after the summer", future, "2026-09-01.."},
		{"Leave from 18 July till 2 August", "18 July till 2 August", future, "2026-07-18 2026-08-02"},
		{"Ready on the eve of the first Advent", "the eve of the first Advent", future, "2026-11-28"},
		{"Ready mid next week", "mid next week", future, "2026-05-20"},
		{"Ready the third working day of June", "the third working day of June", future, "2026-06-03"},
		{"Rain in the last days of April", "the last days of April", past, "2026-04-28 2026-04-30"},
		{"Classes the first two Mondays of June", "the first two Mondays of June", future, "2026-06-01 2026-06-08"},
		{"Paid on the 8th of last month", "the 8th of last month", past, "2026-04-08"},
		{"We married two summers ago", "two summers ago", past, "2024-06-01 2024-08-31"},
		{"We married four years ago in May", "four years ago in May", past, "2022-05-01 2022-05-31"},
		{"Married Easter in 2016", "Easter in 2016", past, "2016-03-27"},
		{"Married in '91", "'91", past, "1991-01-01 1991-12-31"},
		{"Wiring from the 70s", "the 70s", past, "1970-01-01 1979-12-31"},
		{"Off between Christmas and New Year", "between Christmas and New Year", future, "2026-12-26 2026-12-31"},
		{"Same again this time next year", "this time next year", future, "2027-05-13"},
		{"Call by Friday EOD next week", "Friday EOD next week", future, "2026-05-22"},
		{"Booked Thursday 28", "Thursday 28", future, "2026-05-28"},
		{"Home for Independence Day on the 6th of December", "Independence Day on the 6th of December", future, "2026-12-06"},
		{"Strike starts at midnight", "midnight", future, "2026-05-14"},
		{"She woke at ten past six", "ten past six", past, "2026-05-13"},
		{"It is open since New Year", "since New Year", now, "2026-01-01.."},
	} {
		found := Extract(Document{
			Text: c.text, AtMs: at.UnixMilli(),
			Tagged: taggedAs(t, c.text, said{text: c.time, kind: reading.Time, tense: c.tense}),
		})
		var got []string
		for _, d := range found.Dates {
			from, last := time.UnixMilli(d.FromMs).UTC().Format(time.DateOnly), ".."
			if d.FromMs == math.MinInt64 {
				got = append(got, ".."+time.UnixMilli(d.UntilMs-1).UTC().Format(time.DateOnly))
				continue
			}
			if d.UntilMs < at.AddDate(100, 0, 0).UnixMilli() {
				if last = time.UnixMilli(d.UntilMs - 1).UTC().Format(time.DateOnly); last == from {
					last = ""
				} else {
					last = " " + last
				}
			}
			got = append(got, from+last)
		}
		if len(got) != 1 || got[0] != c.want {
			t.Errorf("%q (%q): %q, want %q", c.text, c.time, got, c.want)
		}
	}
}

// TestDatesBesideOthers: what is told by the date before it is read from there, and a move has two dates.
func TestDatesBesideOthers(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 13, 9, 0, 0, 0, time.UTC) // a Wednesday
	future := func(s string) said { return said{text: s, kind: reading.Time, tense: reading.Future} }
	past := func(s string) said { return said{text: s, kind: reading.Time, tense: reading.Past} }
	for _, c := range []struct {
		text  string
		spans []said
		want  string // the first days
	}{
		{
			"The fair is on Saturday the 26th of September.",
			[]said{future("Saturday the 26th of September")},
			"2026-09-26",
		},
		{
			"The review moved from Friday to Tuesday next week.",
			[]said{future("Friday"), future("Tuesday next week")},
			"2026-05-15 2026-05-19",
		},
		{"Closed from the 17th to the 19th.", []said{future("from the 17th to the 19th")}, "2026-05-17"},
		{"We paint in July, the 8th is out.", []said{future("July"), future("the 8th")}, "2026-07-01 2026-07-08"},
		{
			"It opens on 3 June, party the Saturday after.",
			[]said{future("3 June"), future("the Saturday after")},
			"2026-06-03 2026-06-06",
		},
		{
			"It came in May 2021, the bill that October.",
			[]said{past("May 2021"), past("that October")},
			"2021-05-01 2021-10-01",
		},
		{
			"Tested in February 2023, again two years after.",
			[]said{past("February 2023"), future("two years after")},
			"2023-02-01 2025-02-01",
		},
		{
			"Fair 21 to 24 June, they build the night before.",
			[]said{future("21 to 24 June"), future("the night before")},
			"2026-06-21 2026-06-20",
		},
		{"Last year we were done by 2 August.", []said{past("Last year"), past("2 August")}, "2025-08-02"},
		{"On 23/06 we ship, on 4/7 they pay.", []said{future("23/06"), future("4/7")}, "2026-06-23 2026-07-04"},
		{"Doors open on Friday at noon. The lift is off until 3.", []said{future("Friday"), future("noon")}, "2026-05-15"},
	} {
		var got []string
		for _, d := range Extract(Document{
			Text: c.text, AtMs: at.UnixMilli(), Tagged: taggedAs(t, c.text, c.spans...),
		}).Dates {
			got = append(got, time.UnixMilli(d.FromMs).UTC().Format(time.DateOnly))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

// TestLooksLikeATime: a time of which the reader says that it has no tense is none, a quoted one hardly, and an address
// and a fiscal year neither.
func TestLooksLikeATime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 13, 9, 0, 0, 0, time.UTC).UnixMilli()
	for _, c := range []struct{ text, time string }{
		{"She lives at 12 May Street", "12 May"},
		{"The budget of FY24/25 Q2 is closed", "Q2"},
		{"In 2021/22 we were more", "2021/22"},
		{"Voltage sagged at 3.05 this morning", "3.05"},
		{"All Saints falls on a Wednesday", "Wednesday"},
	} {
		tagged := taggedAs(t, c.text, said{text: c.time, kind: reading.Time, tense: reading.Future})
		for _, d := range Extract(Document{Text: c.text, AtMs: at, Tagged: tagged}).Dates {
			if said := c.text[d.Span.Start:d.Span.End]; strings.Contains(said, c.time) {
				t.Errorf("%q: %q", c.text, said)
			}
		}
	}
	const text = "The note says \"see you on 3 June\"."
	for told, want := range map[float64]int{0: 0, 0.7: 0, 0.95: 1} {
		tagged := taggedAs(t, text, said{text: "3 June", kind: reading.Time, tense: reading.Future})
		tagged.Spans[0].TenseP, tagged.Spans[0].Told = told, told
		if found := Extract(Document{Text: text, AtMs: at, Tagged: tagged}); len(found.Dates) != want {
			t.Errorf("told %v: %v", told, found.Dates)
		}
	}
	if found := Extract(Document{Text: text, AtMs: at}); len(found.Dates) > 0 {
		t.Errorf("by the rules: %v", found.Dates)
	}
}

// TestNoDates: what a reader takes for no time is no date, and what comes again and again is a recurrence.
func TestNoDates(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 13, 9, 0, 0, 0, time.UTC).UnixMilli()
	for _, text := range []string{
		"Version 2024-05-01 of the schema stays", "The room is called March 5", "He wrote \"on Friday\" as an example",
		"The 14th and autumn are names of ours", "It is 3/4 full",
	} {
		if found := Extract(Document{Text: text, AtMs: at, Tagged: taggedAs(t, text)}); len(found.Dates) > 0 {
			t.Errorf("%q: %v", text, found.Dates)
		}
	}
	const text = "We meet on Wednesday, and the lift has been checked on 4 May 2026."
	found := Extract(Document{Text: text, AtMs: at, Tagged: taggedAs(t, text,
		said{text: "on Wednesday", kind: reading.Time, tense: reading.Recurring},
		said{text: "4 May 2026", kind: reading.Time, tense: reading.Recurring})})
	if len(found.Dates) != 1 || text[found.Dates[0].Span.Start:found.Dates[0].Span.End] != "4 May 2026" {
		t.Errorf("dates %v", found.Dates)
	}
}

// TestWeekendOpensAText: what looks behind the first word of a text finds nothing there.
func TestWeekendOpensAText(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Weekend in Lisbon was great.", "weekend", "Weekend"} {
		word, _, _ := strings.Cut(text, " ")
		Extract(Document{Text: text, AtMs: 1e12, Tagged: taggedAs(t, text, said{text: word, kind: reading.Time})})
	}
}

// TestAnythingTagged: whatever a reader makes of whatever text, what is found lies on the borders of characters, in
// bounds and in order.
func TestAnythingTagged(t *testing.T) {
	t.Parallel()
	words := strings.Fields(`the last Friday of week before after a day Monday 3/4 11-13 May spring next 14th fifth and
		Mara Voss, é 2024 ' 19 ago in weeks half noon 3pm 12/13/2024 early mid-June . since until to – this year month end
		Easter two Ｍａｙ ３ Мау`)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words"), " ")
		tagged, end := &reading.Tagged{Until: rapid.IntRange(0, len(text)).Draw(t, "until")}, 0
		for end < len(text) && len(tagged.Spans) < 20 {
			start := rapid.IntRange(end, len(text)-1).Draw(t, "start")
			end = rapid.IntRange(start+1, len(text)).Draw(t, "end")
			tagged.Spans = append(tagged.Spans, reading.Span{
				Span: Span{Start: start, End: end}, Type: reading.Type(rapid.IntRange(0, reading.Types-1).Draw(t, "type")),
				P: rapid.Float64Range(0, 1).Draw(t, "p"), Tense: reading.Tense(rapid.IntRange(0, 4).Draw(t, "tense")), TenseP: 1,
				Told: 1,
			})
			tagged.Words = append(tagged.Words, reading.Word{Start: int32(start), End: int32(end), Name: 1, Time: 1})
		}
		found := Extract(Document{Text: text, AtMs: 1_780_000_000_000, Tagged: tagged})
		at := 0
		for _, m := range found.Mentions {
			if m.Span.Start < at || m.Span.End <= m.Span.Start || m.Span.End > len(text) ||
				!utf8.ValidString(text[m.Span.Start:m.Span.End]) {
				t.Fatalf("%q: %v behind %d", text, m, at)
			}
			at = m.Span.End
		}
		at = 0
		for _, d := range found.Dates {
			if d.Span.Start < at || d.Span.End <= d.Span.Start || d.Span.End > len(text) || d.FromMs >= d.UntilMs {
				t.Fatalf("%q: %v behind %d", text, d, at)
			}
			at = d.Span.Start
		}
	})
}
