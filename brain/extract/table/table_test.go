package table

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHead(t *testing.T) {
	t.Parallel()
	for _, x := range []struct{ text, of, want string }{
		{"| what | when |\n|---|---|\n| opens | 2024-06-01 |", "2024-06-01", "when"},
		{"what | **when**\n---|:--\nopens | 2024-06-01 |\n", "2024-06-01", "when"},
		{"| a | due |\n|---|---|\n| b | c |\n| d | **3 May** |", "3 May", "due"},
		{"| a | due |\n|---|---|\n| b | on 3 May |", "3 May", ""},
		{"| a | due |\n| b | 3 May |", "3 May", ""},
		{"Text | due |\n\n|---|---|\n| b | 3 May |", "3 May", ""},
		{"| a |\n|---|\n| b | 3 May |", "3 May", ""},
		{"due on 3 May", "3 May", ""},
	} {
		at := strings.Index(x.text, x.of)
		if got, ok := Head(x.text, at, at+len(x.of)); got != x.want || ok != (x.want != "") {
			t.Errorf("%q: %q, %v, want %q", x.text, got, ok, x.want)
		}
	}
}

// TestAnyPlace: wherever in whatever text.
func TestAnyPlace(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("|-: \na*"))).Draw(t, "s")
		start := rapid.IntRange(0, len(s)).Draw(t, "start")
		Head(s, start, rapid.IntRange(start, len(s)).Draw(t, "end"))
	})
}
