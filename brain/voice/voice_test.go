package voice

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Three people who were never real.
var (
	chatty = []string{
		"hey! thanks for that :) i'll look at it tonight",
		"hmm not sure... maybe it's the cache? i think we've seen this before",
		"yeah sounds good to me lol",
		"oh no :( can't get it to start, it just hangs",
		"so i was wondering, could you perhaps send me the link again?",
		"nope, still broken. probably my fault tho",
		"hi there! i'm gonna be late, sorry about that",
		"ok cool, thx a lot!! i'd say we just try it and see",
		"btw it's kinda slow today, isn't it?",
		"yep that's it! you're the best :D",
	}
	stiff = []string{
		"The committee has reviewed the proposal of the regional office and recommends its adoption in the present form.",
		"In accordance with the provisions of the agreement, the payment of the second instalment is due at the end of " +
			"the month.",
		"The results of the investigation are documented in the annex; the conclusions of the auditors differ in two points.",
		"Following the decision of the board, the administration of the archive is transferred to the department of " +
			"information.",
		"The assessment of the environmental impact was carried out by an independent institution within the prescribed " +
			"period.",
		"An extension of the deadline is possible only upon written application to the responsible authority.",
		"The implementation of the recommendations remains the responsibility of the management of the respective division.",
		"Attention is drawn to the obligation of confidentiality with regard to the contents of the negotiations.",
		"The minutes of the meeting of the commission are available to the members for inspection until Friday.",
	}
	nerd = []string{
		"The race is in `Store.flush()`: it reads s.dirty before it takes mu. Patch in #412.",
		"```\nfunc main() { run() }\n```\nfails with EINVAL on arm64, see https://example.org/log/77",
		"Bump grpc to v1.62.0, drop the http2_compat shim and regenerate api.pb.go.",
		"`go test -race ./...` is green; p99 went from 14ms to 3ms after inlining parseHeader().",
		"We should key by tenant_id, not by userId: the LRU evicts per shard (see cache.go:88).",
		"Rebased on main. Conflicts in build.sh and Makefile, both trivial.",
		"OOM again: heap at 3.9GiB, 80% in json.Decoder. Dump is under /var/tmp/heap.42.",
		"Set GOGC=50 as a stopgap, then fix newBuffer() so that it reuses the pool.",
		"I'd rather not add a mutex there; use atomic.Pointer and swap the whole map.",
	}
)

func tallyOf(texts ...string) *Tally {
	t := &Tally{}
	for _, text := range texts {
		t.Add(text)
	}
	return t
}

func profileOf(t *testing.T, texts []string) Profile {
	t.Helper()
	p, ok := tallyOf(texts...).Profile()
	if !ok {
		t.Fatal("no profile")
	}
	return p
}

func TestProfileTellsMannersApart(t *testing.T) {
	c, s, n := profileOf(t, chatty), profileOf(t, stiff), profileOf(t, nerd)
	if c.Formality >= 0.35 || s.Formality <= 0.65 || n.Formality <= c.Formality || n.Formality >= s.Formality {
		t.Errorf("formality: chat %.2f, technical %.2f, official %.2f", c.Formality, n.Formality, s.Formality)
	}
	if n.TechnicalDepth <= 0.5 || c.TechnicalDepth >= 0.2 || s.TechnicalDepth >= 0.3 {
		t.Errorf("technical depth: chat %.2f, technical %.2f, official %.2f", c.TechnicalDepth, n.TechnicalDepth,
			s.TechnicalDepth)
	}
	for _, m := range []struct{ group, name string }{
		{"opening", "lowerCase"},
		{"stance", "hedges"},
		{"address", "thanks"},
		{"address", "greetings"},
		{"address", "emoticons"},
		{"spelling", "contractions"},
		{"punctuation", "exclamations"},
	} {
		if a, b := c.style(m.group, m.name), s.style(m.group, m.name); a <= b {
			t.Errorf("%s.%s: chat %.2f, official %.2f", m.group, m.name, a, b)
		}
	}
	if c.Evidence != uint64(len(chatty)) || s.MessageWords <= c.MessageWords {
		t.Errorf("evidence %d, words %.1f and %.1f", c.Evidence, c.MessageWords, s.MessageWords)
	}
}

// Half of what somebody wrote is nearer to their other half than to anybody
// else's.
func TestHalvesFindEachOther(t *testing.T) {
	people := [][]string{chatty, stiff, nerd}
	half := func(texts []string, from int) []float64 {
		var part Tally
		for i := from; i < len(texts); i += 2 {
			part.Add(texts[i])
			part.Add(texts[i]) // more of the same kind
			part.Add(texts[i])
		}
		p, ok := part.Profile()
		if !ok {
			t.Fatal("no profile")
		}
		var v []float64
		for _, m := range p.Style {
			v = append(v, m.Value)
		}
		return v
	}
	for i, one := range people {
		best, at := math.Inf(1), -1
		for k, other := range people {
			d := 0.0
			a, b := half(one, 0), half(other, 1)
			for x := range a {
				d += (a[x] - b[x]) * (a[x] - b[x])
			}
			if d < best {
				best, at = d, k
			}
		}
		if at != i {
			t.Errorf("the first half of person %d is nearest to the second of %d", i, at)
		}
	}
}

func TestNoProfileWithoutEvidence(t *testing.T) {
	if _, ok := tallyOf(chatty[:MinMessages-1]...).Profile(); ok {
		t.Error("a profile of too few messages")
	}
	few := slices.Repeat([]string{"fine by me"}, MinMessages)
	if _, ok := tallyOf(few...).Profile(); ok {
		t.Error("a profile of too few words")
	}
	if _, ok := tallyOf(slices.Repeat([]string{"", "  \n "}, 100)...).Profile(); ok {
		t.Error("a profile of nothing")
	}
}

// Code blocks, quotes, addresses and trailers are not the person's prose.
func TestWhatIsNotProseIsNotRead(t *testing.T) {
	for _, text := range []string{
		"```\nplease read the manual, thanks\n```",
		"> hello, I think that maybe you are right",
		"&gt; hello, I think that maybe you are right",
		"https://example.org/the/and/of",
		"<https://example.org/a|the docs of it>",
		"Signed-off-by: A Person of the Office <a@example.org>",
		"`the of and`",
	} {
		if n := tallyOf(text).counts.get(cWords); n != 0 {
			t.Errorf("%q has %v words", text, n)
		}
	}
}

func TestCountsOfOneMessage(t *testing.T) {
	c := &tallyOf("so I think -- maybe (just maybe) -- it's the U.S. server…  " +
		"Did you see `x`? :slightly_smiling_face:").counts
	for k, want := range map[counter]float64{
		cMessages: 1, cDashes: 2, cParens: 1, cEllipsis: 1, cQuestions: 1, cEmoji: 1, cCode: 1, cOpensLower: 1,
		cOpensConjunction: 1, cContractions: 1, cClass + hedge: 3,
	} {
		if got := c.get(k); got != want {
			t.Errorf("counter %d is %v, want %v", k, got, want)
		}
	}
}

func TestMeasuresAreNamedOnce(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-zA-Z]*$`)
	seen := map[[2]string]bool{}
	for _, m := range profileOf(t, chatty).Style {
		key := [2]string{m.Group, m.Name}
		if seen[key] || !name.MatchString(m.Group) || !name.MatchString(m.Name) {
			t.Errorf("measure %q", key)
		}
		seen[key] = true
	}
	for _, tr := range traits {
		if !seen[[2]string{tr.group, tr.name}] {
			t.Errorf("the hint asks for %s.%s, which is not measured", tr.group, tr.name)
		}
	}
	for i, words := range classes {
		if words == "" {
			t.Errorf("class %d has no words", i)
		}
	}
}

func TestTallyIsASum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom(slices.Concat(chatty, stiff, nerd)), rapid.String()), 0, 30).Draw(t, "texts")
		whole := tallyOf(texts...)
		cut := rapid.IntRange(0, len(texts)).Draw(t, "cut")
		parts := tallyOf(texts[cut:]...)
		stored, ok := TallyOf(tallyOf(texts[:cut]...).Sums())
		if !ok {
			t.Fatal("a tally does not read its own sums")
		}
		parts.Merge(stored)
		for i, v := range parts.Sums() {
			if w := whole.Sums()[i]; math.Abs(v-w) > 1e-9*max(1, math.Abs(w)) {
				t.Fatalf("sum %d is %v in parts and %v as a whole", i, v, w)
			}
		}
		checkProfile(t, whole)
	})
}

func TestTallyOfAnotherVersion(t *testing.T) {
	sums := (&Tally{}).Sums()
	if _, ok := TallyOf(sums[:len(sums)-1]); ok {
		t.Error("a shorter tally was read")
	}
	sums[0]++
	if _, ok := TallyOf(sums); ok {
		t.Error("another version was read")
	}
	if _, ok := TallyOf(nil); ok {
		t.Error("nothing was read as a tally")
	}
}

func checkProfile(t interface{ Fatalf(string, ...any) }, tally *Tally) {
	p, ok := tally.Profile()
	if !ok {
		return
	}
	if !(p.Formality >= 0 && p.Formality <= 1 && p.TechnicalDepth >= 0 && p.TechnicalDepth <= 1) {
		t.Fatalf("formality %v, technical depth %v", p.Formality, p.TechnicalDepth)
	}
	for _, m := range p.Style {
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			t.Fatalf("%s.%s is %v", m.Group, m.Name, m.Value)
		}
	}
}

func FuzzAdd(f *testing.F) {
	for _, texts := range [][]string{chatty, stiff, nerd} {
		for _, text := range texts {
			f.Add(text)
		}
	}
	f.Add("```")
	f.Add("<@")
	f.Add(":-):)\x80 ’a’ 1.")
	f.Fuzz(func(t *testing.T, text string) {
		tally := tallyOf(text)
		for i, v := range tally.counts.sums {
			if v < 0 || math.IsNaN(v) {
				t.Fatalf("counter %d is %v", i, v)
			}
		}
		for range MinMessages {
			tally.Add(text)
		}
		checkProfile(t, tally)
	})
}

func TestHint(t *testing.T) {
	for _, one := range []struct {
		texts []string
		has   []string
		not   []string
	}{
		{chatty, []string{"short", "informal", "lower case", "emoticons"}, []string{" formal,"}},
		{stiff, []string{" formal,", "rather than contracting"}, []string{"emoji", "greets"}},
		{nerd, []string{"technical detail"}, []string{"emoticons"}},
	} {
		h := Hint(profileOf(t, one.texts))
		for _, part := range one.has {
			if !strings.Contains(h, part) {
				t.Errorf("%q lacks %q", h, part)
			}
		}
		for _, part := range one.not {
			if strings.Contains(h, part) {
				t.Errorf("%q has %q", h, part)
			}
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	var n int64
	for _, s := range stiff {
		n += int64(len(s))
	}
	var t Tally
	b.SetBytes(n)
	b.ReportAllocs()
	for b.Loop() {
		for _, s := range stiff {
			t.Add(s)
		}
	}
}
