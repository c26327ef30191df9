package text

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func words(s string) int { return len(strings.Fields(s)) }

func TestChunksCoverEverything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := Document{Title: rapid.String().Draw(t, "title"), Body: oddText().Draw(t, "body")}
		opts := ChunkOptions{
			TargetTokens: rapid.IntRange(0, 60).Draw(t, "target"), MaxTokens: rapid.IntRange(0, 90).Draw(t, "max"),
		}
		if rapid.Bool().Draw(t, "words") {
			opts.Count = words
		}
		checkChunks(t, doc, opts)
	})
}

func checkChunks(t interface{ Fatalf(string, ...any) }, doc Document, opts ChunkOptions) {
	chunks := Chunks(doc, opts)
	var spans []Span
	limit := opts.MaxTokens
	target := opts.TargetTokens
	if target == 0 {
		target = DefaultTargetTokens
	}
	if limit == 0 {
		limit = target
	}
	limit = max(limit, target)
	for _, c := range chunks {
		if c.Text != doc.Body[c.Start:c.End] {
			t.Fatalf("text and offsets differ: %q", c.Text)
		}
		if c.Tokens > max(limit, 4) {
			t.Fatalf("%d tokens, at most %d: %q", c.Tokens, limit, c.Text)
		}
		spans = append(spans, Span{c.Start, c.End})
	}
	checkSpans(t, doc.Body, spans)
}

func FuzzChunks(f *testing.F) {
	f.Add("title", "# A\n\ntext. More text.\n\n```\ncode\n```\n", 10)
	f.Add("", strings.Repeat("日本", 50), 3)
	f.Fuzz(func(t *testing.T, title, body string, target int) {
		checkChunks(t, Document{Title: title, Body: body}, ChunkOptions{TargetTokens: target & 255})
	})
}

func TestTitlePath(t *testing.T) {
	sentence := strings.Repeat("The valve is checked every week by the crew. ", 4)
	body := "# Handbook\n\nIntro. " + sentence + "\n\n## Pumps ##\n\n" + sentence + "\n\n### Care\n\n" + sentence +
		"\n\nMotors\n------\n\n" + sentence
	var got []string
	for _, c := range Chunks(Document{Title: "Handbook", Body: body}, ChunkOptions{TargetTokens: 40, Count: words}) {
		got = append(got, strings.Join(c.TitlePath, " > "))
	}
	// The path does not repeat the heading that the chunk begins with.
	want := []string{"Handbook", "Handbook", "Handbook > Pumps", "Handbook"}
	if !slices.Equal(got, want) {
		t.Fatalf("got %q", got)
	}
}

func TestTinySectionsJoin(t *testing.T) {
	var b strings.Builder
	for i := range 40 {
		fmt.Fprintf(&b, "## Release %d\n\nFixed it.\n\n", i)
	}
	chunks := Chunks(Document{Title: "Changes", Body: b.String()}, ChunkOptions{TargetTokens: 100, Count: words})
	if len(chunks) > 20 {
		t.Fatalf("%d chunks for 40 sections of five words", len(chunks))
	}
	for _, c := range chunks {
		if c.TitlePath[0] != "Changes" {
			t.Fatalf("path %q", c.TitlePath)
		}
	}
}

func TestParagraphBordersPreferred(t *testing.T) {
	para := strings.Repeat("A sentence of six plain words. ", 10) // 60 words
	body := strings.TrimSpace(strings.Repeat(para+"\n\n", 6))
	for _, c := range Chunks(Document{Body: body}, ChunkOptions{TargetTokens: 140, Count: words}) {
		if c.Tokens != 120 {
			t.Fatalf("a chunk of %d words breaks a paragraph", c.Tokens)
		}
	}
}

func TestSmallTailJoins(t *testing.T) {
	body := strings.Repeat("A sentence of six plain words. ", 20) + "\n\nThe end."
	if got := Chunks(Document{Body: body}, ChunkOptions{TargetTokens: 122, Count: words}); len(got) != 1 {
		t.Fatalf("%d chunks", len(got))
	}
}

func TestLongSentenceIsCutAtClauses(t *testing.T) {
	body := strings.Repeat("some words of a clause, ", 100)
	chunks := Chunks(Document{Body: body}, ChunkOptions{TargetTokens: 50, Count: words})
	for _, c := range chunks[:len(chunks)-1] {
		if !strings.HasSuffix(c.Text, ",") {
			t.Fatalf("cut inside a clause: %q", c.Text)
		}
	}
}

func TestCountSeesBodyOnce(t *testing.T) {
	body := strings.Repeat("A sentence of six plain words. Another one follows it here.\n\n", 500)
	seen := 0
	Chunks(Document{Body: body}, ChunkOptions{Count: func(s string) int { seen += len(s); return words(s) }})
	if seen > len(body) {
		t.Fatalf("counted %d bytes of %d", seen, len(body))
	}
}

func TestTruncate(t *testing.T) {
	for _, tc := range []struct {
		in   string
		n    int
		want string
	}{
		{"hello", 3, "hel"},
		{"héllo", 2, "h"},
		{"e\u0301x", 2, ""},
		{"e\u0301x", 3, "e\u0301"},
		{"ab👩‍👩‍👧c", 10, "ab"},
		{"日本", 5, "日"},
		{"a\r\nb", 2, "a"},
		{"x", 0, ""},
		{"", 5, ""},
	} {
		if got := Truncate(tc.in, tc.n); got != tc.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", tc.in, tc.n, got, tc.want)
		}
	}
	if got := TruncateRunes("日本語x", 2); got != "日本" {
		t.Errorf("TruncateRunes = %q", got)
	}
	if long := "a" + strings.Repeat("\u0301", 5000); Truncate(long, 4000) == "" {
		t.Error("nothing left of a letter under many accents")
	}
}
