package embed

import (
	"slices"
	"testing"
)

// TestTokenSpans: asking where tokens stand gives the same tokens, and each stands where its word does.
func TestTokenSpans(t *testing.T) {
	base := tinyModel(t, tinyHeader())
	tower, err := LoadTower(tinyTower(t, base, 0), base, nil)
	if err != nil {
		t.Fatal(err)
	}
	const text = "The  PLÁNS, meeting\n moved"
	ids, spans := tower.AppendTokenSpans(nil, nil, text, 5)
	if want := tower.AppendTokens(nil, text, 5); !slices.Equal(ids, want) || len(spans) != len(ids) {
		t.Fatalf("%v at %v, want %v", ids, spans, want)
	}
	for i, want := range []string{"The", "PLÁN", "S", ",", "meeting"} {
		if got := text[spans[i].Start:spans[i].End]; got != want {
			t.Errorf("token %d stands at %q, want %q", i, got, want)
		}
	}
}
