package insight

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/brain/claim"
)

// insightsOf are those of notes of 10 November 2026, each with its kind.
func insightsOf(t *testing.T, notes ...string) (titles []string) {
	t.Helper()
	var r claim.Reader
	c := corpus{nowMS: time.Date(2026, 11, 12, 9, 0, 0, 0, time.UTC).UnixMilli()}
	for i, s := range notes {
		n := asNote(&r, s, "Jana", time.Date(2026, 11, 10, 9+i, 0, 0, 0, time.UTC).UnixMilli())
		n.Source = int32(i)
		c.notes = append(c.notes, n)
	}
	for _, x := range Rank(Gather(c.notes), ByRules, c.nowMS) {
		titles = append(titles, x.Kind+": "+x.Title+" | "+x.Detail)
	}
	return titles
}

// What is told of notes in other languages is worded in theirs.
func TestInsightsAbroad(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ note, want string }{
		{"Ich kümmere mich um die Anmeldung beim Turnverein.", "commitment: Jana: Ich kümmere mich um die Anmeldung beim " +
			"Turnverein | Ohne Termin: „Ich kümmere mich um die Anmeldung beim Turnverein.“ (10. November 2026)"},
		{"Je t'envoie le devis d'ici vendredi.", "due: Je t'envoie le devis d'ici vendredi | Avant la fin du " +
			"13 novembre 2026, Jana: « Je t'envoie le devis d'ici vendredi. » (10 novembre 2026)"},
		{"La reunión de padres se ha aplazado del 18 al 25 de noviembre.", "change: La reunión de padres se ha aplazado " +
			"del 18 al 25 de noviembre | " +
			"«La reunión de padres se ha aplazado del 18 al 25 de noviembre.» (10 de noviembre de 2026)"},
		{"Frau Seidel ist für die Schlüssel zuständig.", "responsibility: Frau Seidel ist für die Schlüssel " +
			"zuständig | „Frau Seidel ist für die Schlüssel zuständig.“ (10. November 2026)"},
		{"Wie haalt het pakje op bij de buren?", "open_question: Open vraag: Wie haalt het pakje op bij de buren? | " +
			"Gevraagd op 10 november 2026; niets wat sindsdien is geschreven geeft er antwoord op."},
	} {
		got := insightsOf(t, c.note)
		if !slices.Contains(got, c.want) {
			t.Errorf("%s\n got %q\nwant %q", c.note, got, c.want)
		}
	}
}

// What is wished for, doubted, reported, denied, or of every day, is told of nobody.
func TestNothingIsToldAbroad(t *testing.T) {
	t.Parallel()
	for _, note := range []string{
		"Vielleicht kaufe ich nächste Woche ein neues Fahrrad.", "Wenn es regnet, bleiben wir am Samstag zu Hause.",
		"Ich glaube, es wird am Samstag regnen.", "Er hat gesagt, er bringt am Freitag das Werkzeug zurück.",
		"Ich kaufe immer auf dem Markt ein.", "Ich würde am Montag kommen.", "Am Montag kommt niemand in das Büro.",
		"S'il pleut, nous restons à la maison samedi.", "Je viendrais lundi avec la voiture.",
		"Si llueve, el sábado nos quedamos en casa.", "Podríamos ir al cine el sábado con los niños.",
		"Se piove, sabato restiamo a casa.", "Talvez compre uma bicicleta na próxima semana.",
		"Als het regent, blijven we zaterdag thuis.", "可能明天我会买一辆自行车。", "来週、自転車を買うかもしれません。",
	} {
		if got := insightsOf(t, note); len(got) > 0 {
			t.Errorf("%s: %q", note, got)
		}
	}
}

// What was promised is not told any longer once a later note says that it is done.
func TestDoneAbroad(t *testing.T) {
	t.Parallel()
	got := insightsOf(t, "Ich schicke den Mietvertrag bis Freitag.", "Der Mietvertrag ist jetzt verschickt.")
	if len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// The notes that bench/abroad measures give what they gave: of the insights that are told nearly all are expected. The
// floor is what was measured without a reader, less a few.
func TestNotesAbroad(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "abroad", "*", "*.txt"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	told, signed, wanted, found := 0, 0, 0, 0
	for _, file := range files {
		c, expect := abroadCorpus(t, file)
		hit := map[int]bool{}
		for _, x := range Rank(Gather(c.notes), ByRules, c.notes[0].AtMs) {
			told++
			ok := false
			for k, e := range expect[x.Notes[0]] {
				if e.matches(x.Kind, x.Title+" "+x.Detail) {
					ok = true
					hit[100*x.Notes[0]+k] = true
				}
			}
			if ok {
				signed++
			}
		}
		for i := range expect {
			for k := range expect[i] {
				if e := &expect[i][k]; e.line != "" {
					wanted++
					if hit[100*i+k] {
						found++
					}
				}
			}
		}
	}
	t.Logf("%d of %d told are expected, %d of %d expected are told", signed, told, found, wanted)
	if signed*100 < 97*told || found*100 < 88*wanted {
		t.Errorf("%d of %d told are expected, %d of %d expected are told", signed, told, found, wanted)
	}
}

// abroadCorpus reads a file of bench/abroad: notes, and what is expected of each; what may be told has no line.
func abroadCorpus(t *testing.T, file string) (c corpus, expect [][]expected) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var r claim.Reader
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if head, said, ok := strings.Cut(line, " | "); ok {
			at, err := time.Parse("2006-01-02 15:04", head[:16])
			if err != nil {
				t.Fatal(err)
			}
			n := asNote(&r, said, head[17:], at.UnixMilli())
			n.Source = int32(len(c.notes))
			c.notes, expect = append(c.notes, n), append(expect, nil)
			continue
		}
		f := strings.Fields(line)
		if len(f) < 3 || slices.Contains([]string{"name", "money", "number", "preference", "belief"}, f[1]) {
			continue
		}
		e := expected{kind: f[1], line: line}
		if f[0] == "~" {
			e.line = ""
		}
		for group := range strings.SplitSeq(strings.ToLower(f[2]), ";") {
			e.words = append(e.words, strings.Split(group, "/"))
		}
		expect[len(expect)-1] = append(expect[len(expect)-1], e)
	}
	return c, expect
}
