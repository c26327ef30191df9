package voice

import (
	"fmt"
	"strings"
	"testing"
)

// Two of forty long documents that hold an emoji make no habit; messages of a few words that do, and documents that
// hold many, still do.
func TestHabitsOfLongTexts(t *testing.T) {
	const line = "The committee looked at the plans of the new bridge and asked for the drawings of the northern ramp. "
	told := func(texts []string) string {
		t.Helper()
		return Hint(profileOf(t, texts).OfLikeLength())
	}
	var minutes, letters, chat []string
	for i := range 40 {
		text := fmt.Sprintf("Item %d. %s", i, strings.Repeat(line, 20))
		if i < 2 {
			text += "The vote was close \U0001F642. "
		}
		if i < 6 {
			text += "Many thanks to the harbour office."
		}
		minutes = append(minutes, text)
		letters = append(letters, text+strings.Repeat("The ramp is open \U0001F642. ", 9))
		note := "the ramp is open again, drive slowly"
		if i < 4 {
			note += " \U0001F642"
		}
		chat = append(chat, note)
	}
	if got := told(minutes); strings.Contains(got, "emoji") || strings.Contains(got, "thanks") {
		t.Errorf("of minutes: %s", got)
	}
	if got := told(letters); !strings.Contains(got, "emoji") {
		t.Errorf("of letters that are full of them: %s", got)
	}
	if got := told(chat); !strings.Contains(got, "emoji") {
		t.Errorf("of a chat: %s", got)
	}
}
