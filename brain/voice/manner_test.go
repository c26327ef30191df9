package voice

import (
	"strings"
	"testing"
)

func TestMannerInPlainWords(t *testing.T) {
	for _, x := range []struct {
		name   string
		texts  []string
		begins string
		not    []string
	}{
		{
			"chat", chatty,
			"Writes short, informal messages (typically 9 words; 10 messages). More than others, begins in lower case, ",
			[]string{"formal messages deep", "without hedging"},
		},
		{
			"official", stiff, "Writes short, formal messages (typically 17 words; 9 messages).",
			[]string{"informal", "rather than contracting"},
		},
		{"technical", nerd, "Writes short messages deep in technical detail (typically ", []string{"formal"}},
	} {
		p := profileOf(t, x.texts)
		got := Manner(p)
		if !strings.HasPrefix(got, x.begins) {
			t.Errorf("%s: %s", x.name, got)
		}
		for _, not := range x.not {
			if strings.Contains(got, not) {
				t.Errorf("%s: %s", x.name, got)
			}
		}
		if strings.Count(got, ", ") > maxShown+1 {
			t.Errorf("%s: %s", x.name, got)
		}
	}
}

// Of another language the lists of English words say nothing: neither that somebody hedges little nor how formal
// they are.
func TestOtherLanguagesAreNotJudgedByEnglishWords(t *testing.T) {
	german := []string{
		"Der Kessel im Keller läuft wieder, vielleicht hält er diesmal bis zum Frühling durch.",
		"Morgen kommt der Klempner, danke fürs Bescheid sagen, ich bin ab acht Uhr da.",
		"Die neue Pumpe ist lauter als die alte, das müssen wir noch einmal ansehen.",
		"Ich glaube, der Zähler wurde falsch abgelesen, jedenfalls stimmt die Rechnung nicht.",
		"Wir haben die Fenster im Treppenhaus streichen lassen, sie sehen jetzt gut aus.",
		"Bitte stellt die Fahrräder nicht mehr vor die Tür, da kommt sonst niemand durch.",
		"Der Termin mit der Hausverwaltung ist auf den dritten Mai verschoben worden.",
		"Vermutlich reicht das Öl noch zwei Wochen, danach müssen wir neues bestellen.",
		"Das Licht im Flur flackert schon wieder, es liegt wohl doch nicht an der Birne.",
	}
	p := profileOf(t, german)
	if got := Manner(p); !strings.HasPrefix(got, "Writes short messages (typically ") {
		t.Error(got)
	}
	for _, said := range []string{Hint(p), Manner(p)} {
		if strings.Contains(said, "hedging") || strings.Contains(said, "contract") || strings.Contains(said, "says we") {
			t.Error(said)
		}
	}
}
