package voice

import (
	"slices"
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

// One smiley is no habit, three are: what somebody does more than others must be seen often enough that it is hardly
// by chance. A writer is still told of the one.
func TestOneSmileyIsNoHabit(t *testing.T) {
	plain := []string{
		"The boiler in the cellar was checked on Monday and it is fine for another year.",
		"We moved the printer to the second floor because the old room was too small.",
		"The supplier sent the wrong valves again, I have asked them for the right ones.",
		"Tomas will order the new chairs when the budget for the spring is approved.",
		"The lease for the workshop ends in June and nobody has answered our letter.",
		"I walked through the store and counted what is left of the old labels.",
		"The heating bill was higher than last winter, the meter is read on Friday.",
		"Our meeting with the council was short, they want to see the drawings first.",
		"The delivery came late and two of the boxes were open when they arrived.",
		"I have put the keys of the van into the drawer below the telephone.",
	}
	const habit = "uses emoticons"
	for _, x := range []struct {
		smileys int
		told    bool
	}{{0, false}, {1, false}, {3, true}} {
		texts := slices.Clone(plain)
		for i := range x.smileys {
			texts[i] += " :)"
		}
		p := profileOf(t, texts)
		if got := Manner(p); strings.Contains(got, habit) != x.told {
			t.Errorf("%d of %d messages: %s", x.smileys, len(texts), got)
		}
		if got := Hint(p); strings.Contains(got, habit) != (x.smileys > 0) {
			t.Errorf("%d of %d messages, to a writer: %s", x.smileys, len(texts), got)
		}
	}
}

// Who leaves out the last full stop in half of ten messages does as others do; who does so in all of them does not.
func TestAFullStopThatIsOftenLeftOut(t *testing.T) {
	const line = "Nothing new from the workshop about the valves and the pump"
	for stops, told := range map[int]bool{0: true, 4: false} {
		var texts []string
		for i := range 10 {
			text := line
			if i < stops {
				text += "."
			}
			texts = append(texts, text)
		}
		if got := Manner(profileOf(t, texts)); strings.Contains(got, "full stop") != told {
			t.Errorf("%d full stops in ten messages: %s", stops, got)
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
