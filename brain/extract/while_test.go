package extract

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A long document is ended within its next 64 KiB, and leaves nothing behind for the
// document that comes next.
func TestAReadingIsEnded(t *testing.T) {
	long := strings.Repeat("On 3 May 2026 Anselm Vogt of Acme filed INC-4521 about the heating.\n\n", 16<<10)
	enough := errors.New("enough")
	asked := 0
	found, err := While(Document{Text: long}, func() error {
		if asked++; asked == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || asked != 3 || len(found.Mentions) != 0 {
		t.Errorf("asked %d times: %v, %d mentions", asked, err, len(found.Mentions))
	}
	asked = 0
	if _, err := While(Document{Text: long}, func() error { asked++; return nil }); err != nil ||
		asked < len(long)/stepBytes-1 {
		t.Errorf("asked %d times in %d bytes: %v", asked, len(long), err)
	}
	const short = "Priya Nair met Anselm Vogt in Oslo on 4 May 2026."
	fresh, err := newReader().read(Document{Text: short}, func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := Extract(Document{Text: short}); len(got.Mentions) == 0 || !reflect.DeepEqual(got, fresh) {
		t.Errorf("behind it: %v, want %v", got, fresh)
	}
}
