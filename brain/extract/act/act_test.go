package act

import (
	"testing"

	"pgregory.net/rapid"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		code, said string
		kind       Kind
		who, thing string
		polarity   int
	}{
		{"de", "Ich mag keine Rosinen im Kuchen.", Preference, "", "Rosinen im Kuchen", -1},
		{"de", "Ich arbeite lieber morgens als abends.", Preference, "", "morgens als abends", 1},
		{"de", "Frau Seidel ist für die Schlüssel zuständig.", Duty, "Frau Seidel", "die Schlüssel", 0},
		{"de", "Wir werden den Zaun neu streichen, versprochen.", Promise, "", "den Zaun neu streichen", 0},
		{"fr", "Je n'aime pas les raisins secs dans les gâteaux.", Preference, "", "raisins secs dans les gâteaux", -1},
		{"fr", "C'est Bernard qui s'occupe du jardin maintenant.", Duty, "Bernard", "jardin maintenant", 0},
		{"es", "Vamos a pintar la valla.", Promise, "", "la valla", 0},
		{"es", "Prefiero trabajar por la mañana.", Preference, "", "trabajar por la mañana", 1},
		{"it", "La signora Ferri è responsabile delle chiavi.", Duty, "La signora Ferri", "chiavi", 0},
		{"pt", "Não gosto de passas no bolo.", Preference, "", "passas no bolo", -1},
		{"nl", "Ik zal de dakgoot schoonmaken.", Promise, "", "de dakgoot schoonmaken", 0},
		{"pl", "Nienawidzę długich zebrań.", Preference, "", "długich zebrań", -1},
		{"ja", "買い物は鈴木さんが担当します。", Duty, "鈴木", "買い物", 0},
		{"zh", "钥匙由王芳负责。", Duty, "王芳", "钥匙", 0},
		{"ar", "أكره الاجتماعات الطويلة.", Preference, "", "الاجتماعات الطويلة", -1},
		{"hi", "मुझे सुबह काम करना पसंद है।", Preference, "", "सुबह काम करना", 1},
		{"de", "Die Miete steigt von 940 € auf 985 €.", Change, "", "Die Miete steigt von 940 € auf 985 €", 0},
	} {
		found := false
		for _, a := range Read(c.code, c.said) {
			if a.Kind != c.kind {
				continue
			}
			found = true
			who, thing := c.said[a.Who.Start:a.Who.End], c.said[a.Thing.Start:a.Thing.End]
			if who != c.who || thing != c.thing || a.Polarity != c.polarity {
				t.Errorf("%s: who %q, thing %q, polarity %d", c.said, who, thing, a.Polarity)
			}
		}
		if !found {
			t.Errorf("%s: not found", c.said)
		}
	}
}

func TestReadNothing(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		{"de", "Ich liebe dich."},
		{"de", "Ich kann das nicht."},
		{"de", "Ich gehe jetzt schlafen."},
		{"de", "Früher mochte ich Käse."},
		{"de", "Wer kümmert sich um den Garten?"},
		{"de", "Ich denke, dass es so passt."},
		{"fr", "Je crois qu'il va pleuvoir."},
		{"es", "Compré el pan y la leche."},
		{"es", "Creo que va a llover."},
		{"it", "Credo che pioverà."},
		{"pt", "Comprei o pão ontem."},
		{"nl", "Ik ga slapen."},
		{"es", "El ayuntamiento gestiona 14.000 viviendas."},
		{"fr", "J'adore quand tu ris."},
		{"xx", "Ich werde den Zaun streichen."},
		{"de", ""},
	} {
		if got := Read(c[0], c[1]); len(got) > 0 {
			t.Errorf("%s: %v", c[1], got)
		}
	}
}

// Whatever the text, spans lie in it, on the borders of characters.
func TestSpans(t *testing.T) {
	t.Parallel()
	codes := append(Codes(), "ja", "zh", "ar", "hi")
	rapid.Check(t, func(t *rapid.T) {
		runes := []rune("ich mag je vais voy a la , . ? 私は好きですİ我喜欢 لا मैं\xff\n9")
		said := rapid.StringOf(rapid.SampledFrom(runes)).Draw(t, "said")
		code := rapid.SampledFrom(codes).Draw(t, "code")
		for _, a := range Read(code, said) {
			_ = said[a.Thing.Start:a.Thing.End]
			_ = said[a.Who.Start:a.Who.End]
		}
		Keys(code, said)
		_, _ = Open(code, said) || Idle(code, said), Self(code, said) || Ended(code, said)
	})
}
