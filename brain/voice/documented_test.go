package voice

import (
	"os"
	"strings"
	"testing"
)

// Who is shown a number can read what it says.
func TestEachMeasureIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/cognition.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]string{}
	for line := range strings.Lines(string(page)) {
		if group, ok := strings.CutPrefix(line, "| `"); ok {
			name, row, _ := strings.Cut(group, "`")
			rows[name] = row
		}
	}
	for _, m := range profileOf(t, chatty).Style {
		if !strings.Contains(rows[m.Group], "`"+m.Name+"`") && !strings.Contains(string(page), "`"+m.Group+"."+m.Name+"`") {
			t.Errorf("docs/cognition.md does not say what %s.%s is", m.Group, m.Name)
		}
	}
}
