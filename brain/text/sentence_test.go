package text

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func sentences(s string) []string {
	var out []string
	for sp := range Sentences(s) {
		out = append(out, s[sp.Start:sp.End])
	}
	return out
}

func TestSentences(t *testing.T) {
	for name, tc := range map[string]struct {
		in   string
		want []string
	}{
		"plain": {
			"The pump failed. We replaced it! Did it help?", []string{"The pump failed.", "We replaced it!", "Did it help?"},
		},
		"abbreviations": {
			"Dr. Weber met Mrs. Okafor at 5 p.m. on Monday. They agreed.",
			[]string{"Dr. Weber met Mrs. Okafor at 5 p.m. on Monday.", "They agreed."},
		},
		"latin short": {
			"Use a buffer, e.g. Redis, i.e. memory. It is fast.",
			[]string{"Use a buffer, e.g. Redis, i.e. memory.", "It is fast."},
		},
		"initials": {"J. R. Smith wrote it. U.S. law applies.", []string{"J. R. Smith wrote it.", "U.S. law applies."}},
		"etc": {
			"We sell bolts, nuts, etc. Orders ship daily.", []string{"We sell bolts, nuts, etc.", "Orders ship daily."},
		},
		"number": {
			"See fig. 3 and No. 5 for 3.14 and v1.2.3. Done.", []string{"See fig. 3 and No. 5 for 3.14 and v1.2.3.", "Done."},
		},
		"no": {"He said no. Nobody asked.", []string{"He said no.", "Nobody asked."}},
		"url": {
			"Look at https://example.org/a.b?c=d. Then call.", []string{"Look at https://example.org/a.b?c=d.", "Then call."},
		},
		"quotes": {
			"\u201cWhy now?\u201d he asked. (Nobody knew.) She left.",
			[]string{"\u201cWhy now?\u201d he asked.", "(Nobody knew.)", "She left."},
		},
		"ellipsis": {"Well... maybe. Or... No way.", []string{"Well... maybe.", "Or...", "No way."}},
		"japanese": {
			"会議は三時に始まります。遅れないでください！本当ですか？「はい。」そうです。", []string{"会議は三時に始まります。", "遅れないでください！", "本当ですか？", "「はい。」", "そうです。"},
		},
		"arabic": {"أين الاجتماع؟ في الطابق الثالث. شكرا.", []string{"أين الاجتماع؟", "في الطابق الثالث.", "شكرا."}},
		"hindi":  {"बैठक तीन बजे है। देर मत करना।", []string{"बैठक तीन बजे है।", "देर मत करना।"}},
		"list": {
			"Bring:\n- two pens\n- one ruler and\n  a compass\n1. first\n2. second",
			[]string{"Bring:", "- two pens", "- one ruler and\n  a compass", "1. first", "2. second"},
		},
		"wrapped": {
			"This line is wrapped at a margin of about sixty letters, so\nit goes on here. Next one.",
			[]string{"This line is wrapped at a margin of about sixty letters, so\nit goes on here.", "Next one."},
		},
		"chat":       {"Ana: are we on?\nBen: yes\nAna: good", []string{"Ana: are we on?", "Ben: yes", "Ana: good"}},
		"blank line": {"One without stop\n\ntwo without stop", []string{"One without stop", "two without stop"}},
		"german": {
			"Das ist z.B. gut. Herr Dr. Maier kommt usw. und geht.",
			[]string{"Das ist z.B. gut.", "Herr Dr. Maier kommt usw. und geht."},
		},
		"blank": {" \n\t ", nil},
	} {
		if got := sentences(tc.in); !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, tc.want)
		}
	}
}

// checkSpans holds spans to the contract: in order, apart, and nothing but white
// space between them.
func checkSpans(t interface{ Fatalf(string, ...any) }, s string, spans []Span) {
	at := 0
	blank := func(part string) bool { return strings.TrimFunc(part, unicode.IsSpace) == "" }
	for _, sp := range spans {
		if sp.Start < at || sp.End <= sp.Start || sp.End > len(s) {
			t.Fatalf("span %v after %d in %q", sp, at, s)
		}
		if !blank(s[at:sp.Start]) {
			t.Fatalf("lost %q of %q", s[at:sp.Start], s)
		}
		at = sp.End
	}
	if !blank(s[at:]) {
		t.Fatalf("lost the end %q of %q", s[at:], s)
	}
}

// oddText draws texts that look like anything people push in.
func oddText() *rapid.Generator[string] {
	bits := []string{
		"a", "Word", "fooBar", "INC-4521", "3.14", ".", "! ", "? ", "。", "؟ ", "\n", "\n\n", " ", "\t", "- ", "# ",
		"## Heading\n", "```\n",
		"e.g.", "Dr. ", "日本語", "한국어", "ภาษาไทย", "е\u0308ё", "e\u0301", "\u200d", "👩‍👩‍👧", "http://x.y/z?q=1", "|", "===\n",
		"---\n", ",", "'", "\"", "(", ")", "\xff", "\x00", strings.Repeat("x", 300), strings.Repeat("long word ", 60),
	}
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(bits), rapid.String()), 0, 40), func(p []string) string {
		return strings.Join(p, "")
	})
}

func TestSentencesCoverEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := oddText().Draw(t, "text")
		checkSpans(t, s, slices.Collect(Sentences(s)))
	})
}

func TestSentencesStop(t *testing.T) {
	n := 0
	for range Sentences("One. Two. Three.\n\nFour.") {
		if n++; n == 2 {
			break
		}
	}
	if n != 2 {
		t.Fatalf("went on to %d", n)
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"Dr. A. b.\nC", "。！", "1. x\n2) y", "a\r\n\r\nb", "#\n# h\n```\n", "\xff.\xfe "} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		checkSpans(t, s, slices.Collect(Sentences(s)))
		for _, n := range []int{1, 7, len(s) / 2} {
			if p := Truncate(s, n); len(p) > n || !strings.HasPrefix(s, p) {
				t.Fatalf("Truncate(%q, %d) = %q", s, n, p)
			}
		}
	})
}

// TestLinear would run into the time limit of go test if anything were
// quadratic: long inputs without anything to hold on to.
func TestLinear(t *testing.T) {
	const size = 1_000_000
	for _, unit := range []string{
		"x", ".", "a.", " ", "\n", "- ", "日", "\u0301", "word ", "A. ", "x\n", "#", "'a", "a-", "\"", "ก", "\xff", "```\n",
		"=\n", "(", "*",
	} {
		s := strings.Repeat(unit, size/len(unit))
		for range Sentences(s) { // only its cost matters
		}
		Chunks(Document{Body: s}, ChunkOptions{})
		var a Analyzer
		a.Passage("", s)
		Truncate(s, len(s)-1)
	}
}
