package extract

import "testing"

// A day or a month is nobody's name, in whatever language.
func TestDaysAreNoNames(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"Herr Thomas Weber von der Stadtwerke Nord AG trifft Anna Berger am Montag in Köln.",
		"Der Vertrag mit Herrn Weber gilt ab März und nicht ab Mai.",
	} {
		for _, m := range Extract(Document{Text: s}).Mentions {
			switch m.Name {
			case "Montag", "März", "Mai":
				t.Errorf("%s: %q is a name", s, m.Name)
			}
		}
	}
}
