package text_test

import (
	"strings"
	"testing"

	"orgmem/brain/text"
)

func TestTitlesThatAreMadeFromTexts(t *testing.T) {
	for content, want := range map[string]string{
		"# The boiler\nIt is old.":    "The boiler",
		"```\nls -lat /dev/fd\n```":   "ls -lat /dev/fd",
		"---\n\n!!!\nStop the boiler": "Stop the boiler",
		":)":                          ":)",
		"\n\n":                        "",
		strings.Repeat("x", 81):       strings.Repeat("x", 80) + "…",
	} {
		if got := text.Title("", content); got != want {
			t.Errorf("%q is called %q, not %q", content, got, want)
		}
	}
}
