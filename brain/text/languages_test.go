package text

import (
	"strings"
	"testing"
)

func TestInflectedWordsOfEachLanguageAreFound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, query string }{
		{"Cambiate le gomme invernali, controllati i freni.", "freno"},
		{"Les clés du garage sont chez la voisine.", "clé"},
		{"Guardé las facturas del taller en la carpeta azul.", "factura"},
		{"As chaves do armazém ficam na gaveta.", "chave"},
		{"De sleutels van de schuur hangen achter de deur.", "sleutel"},
		{"Bilarna står i garaget och är inte tvättade.", "bilar"},
		{"Nøklene til boden henger på kjøkkenet.", "boden"},
		{"Autossa on uudet talvirenkaat ja jarrut.", "jarru"},
		{"A pince kulcsai a konyhában vannak.", "kulcs"},
		{"Cheile de la pivniță sunt la vecină.", "pivnița"},
		{"Bodrumun anahtarları mutfakta asılı duruyor.", "anahtar"},
		{"Klucze do piwnicy wiszą w kuchni obok lodówki.", "kuchnia"},
		{"Klucze do piwnicy wiszą w kuchni obok lodówki.", "klucz"},
		{"Τα κλειδιά του υπογείου είναι στην κουζίνα.", "υπόγειο"},
		{"तहखाने की चाबियाँ रसोई में हैं।", "चाबी"},
		{"Ключи от подвала висят на кухне.", "ключ подвал"},
	} {
		if found, all, _ := matches(tc.query, "", tc.text); all == 0 || found != all {
			t.Errorf("%q in %q: %d of %d words found", tc.query, tc.text, found, all)
		}
	}
}

func TestSpellingsMeet(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, query string }{
		{"Die Sitzung in Zürich war gut, und die Gäste sind zufrieden.", "zurich"},
		{"Die Sitzung in Zürich war gut, und die Gäste sind zufrieden.", "Zuerich gaeste"},
		{"Die Sitzung in Zuerich war gut, und die Gaeste sind zufrieden.", "Zürich Gäste"},
		{"GROẞE STRAẞE: die Heizung ist dort nicht in Ordnung.", "grosse straße"},
		{"On se retrouve au café avec les employés de la mairie.", "cafe employes"},
		{"La organización de la fiesta está en manos de Marta y de su hermano.", "organizacion"},
		{"Az egyesület székháza a városházával szemben van, és ma nincs nyitva.", "szekhaza"},
		{"Réunion ＡＢＣ１２３ ｃａｆｅ", "abc123 café"},
		{"ﾎﾟﾝﾌﾟの点検", "ポンプ"},
		{"الاجتماعـــات في الشَّرِكَة", "الشركة الاجتماعات"},
		{"Ещё один счёт за ёлку.", "елка счет"},
		{"Ştefan locuiește în București, iar fraţii lui nu sunt aici.", "Bucureşti frații"},
		{"Møde i Aarhus med kunden, og det er på mandag.", "Århus"},
		{"الغرفة ٢٠٥", "205"},
		{"कमरा २०५", "205"},
		{"کتاب\u200cهای من", "كتاب"},
	} {
		if found, all, _ := matches(tc.query, "", tc.text); all == 0 || found != all {
			t.Errorf("%q in %q: %d of %d words found", tc.query, tc.text, found, all)
		}
	}
}

func TestADiacriticMoreIsFoundToo(t *testing.T) {
	t.Parallel()
	_, _, optional := matches("organización", "", "La organizacion de la fiesta es cosa de Marta y de su hermano.")
	if optional == 0 {
		t.Error("a text without diacritics is not found by a word that has them")
	}
}

func TestCompoundsAreFoundByTheirParts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, query string }{
		{"Der Blumengarten ist gegossen, und die Hunde sind im Haus.", "Garten"},
		{"Die Hauptstadt ist nicht weit von hier.", "Stadt"},
		{"De geluidsbestanden staan op de schijf van het kantoor.", "bestand"},
		{"Alla skolbarn är hemma, och det är inte bra.", "barn"},
	} {
		found, all, _ := matches(tc.query, "", tc.text)
		if all == 0 || found != all {
			t.Errorf("%q in %q: %d of %d words found", tc.query, tc.text, found, all)
		}
	}
	_, _, optional := matches("Hauptstadt der Schweiz", "", "Die Stadt hat nach dem Krieg nur noch ein Tor.")
	if optional == 0 {
		t.Error("a compound's part in a text is not found by the compound")
	}
	for w, want := range map[string]string{
		"hauptstadt": "haupt stadt", "lebensraum": "leb raum", "deutlich": "", "garten": "", "verstehen": "",
	} {
		if got := strings.Join(split(German, w), " "); got != want {
			t.Errorf("%q is made of %q, want %q", w, got, want)
		}
	}
	if got := split(English, "toothbrush"); got != nil {
		t.Errorf("an English word is taken apart: %q", got)
	}
}

func TestQuestionsLoseTheirFunctionWords(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]int{ // how many words count in full
		"Wann wird die Heizung gewartet?":   2,
		"Combien coûte la réparation ?":     2,
		"¿Cuándo vence el contrato?":        2,
		"Quando scade la garanzia?":         2,
		"Onde ficam as chaves do armazém?":  3,
		"Wanneer is de keuring van de bus?": 2,
		"Hvornår er mødet med kunden?":      2,
		"Gdzie są klucze do piwnicy?":       2,
		"Di mana kunci mobil saya?":         2,
		"Chìa khóa của xe ở đâu?":           3,
		"Когда истекает договор?":           2,
		"متى ينتهي العقد؟":                  2,
		"चाबी कहाँ है?":                     1,
		"Πού είναι το κλειδί;":              1,
		"איפה המפתח של הרכב?":               2,
		"鍵はどこですか":                           1,
		"钥匙在哪里":                             1,
	} {
		var a Analyzer
		got := 0
		for _, q := range a.Query(query, AllLangs) {
			if q.Weight == 1 && !q.Optional {
				got++
			}
		}
		if got != want {
			t.Errorf("%q: %d words, want %d", query, got, want)
		}
	}
	if found, all, _ := matches("鍵はどこですか", "", "鍵が玄関にある。"); found != 1 {
		t.Errorf("a word of one character beside particles: %d of %d found", found, all)
	}
	var a Analyzer
	if got := a.Query("どこですか", AllLangs); len(got) == 0 {
		t.Error("a question of function words only has no words at all")
	}
}

// TestAWrongGuessLosesNothing: whatever a passage is taken for, its words as they stand find it.
func TestAWrongGuessLosesNothing(t *testing.T) {
	t.Parallel()
	for _, passage := range []string{
		"Running costs Amsterdam, vergadering postponed", "Zone: Veneto, Friuli, Trentino", "Jan: 412 kWh power",
		"gatto cane perro dog Hund", "Annexes A, B: prijzen, prices", "Klíče od sklepa visí v kuchyni",
	} {
		for w := range strings.FieldsFuncSeq(passage, func(r rune) bool { return strings.ContainsRune(" ,:", r) }) {
			if found, all, _ := matches(w, "", passage); found != all {
				t.Errorf("%q is not found in %q", w, passage)
			}
		}
	}
}

func TestShortNotesAreOfTheirLanguage(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]Lang{
		"Heizung entlüftet":           German,
		"Clés chez la voisine":        French,
		"Sleutels liggen bij Anna":    Dutch,
		"Chaves na gaveta da cozinha": Portuguese,
		"Llaves entregadas al vecino": Spanish,
		"Nyckeln ligger under mattan": Swedish,
		"Klucze wiszą w kuchni":       Polish,
		"Kunci ada di laci dapur":     Indonesian,
		"Chìa khóa để trong ngăn kéo": Vietnamese,
		"Keys with the neighbour":     English,
		"Pump valve Dock 7":           English,
	} {
		var a Analyzer
		a.Passage("", s)
		if got := a.identify(englishFirst); got != want {
			t.Errorf("%q: language %d, want %d", s, got, want)
		}
	}
}

// TestHostileTexts: a megabyte of anything gives terms in proportion to its length, and a few bytes each.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	const size = 1 << 20
	for name, unit := range map[string]string{
		"no space": "a", "compounds": "hauptstadt", "compounds with spaces": "der hauptstadtgartenhausstadt ",
		"emoji": "\U0001F469\u200d\U0001F469\u200d\U0001F467\U0001F3FD", "marks alone": "\u0301",
		"combining marks": "a\u0301\u0308\u0323", "invalid": "\xff\xc3\xe2\x82", "kanji": "鍵", "particles": "のはが",
		"function words": "どこですか", "thai": "ที่ไหน", "digits": "٢", "joiners": "a-b_c.d/",
	} {
		var a Analyzer
		s := strings.Repeat(unit, size/len(unit))
		p := a.Passage("", s)
		if len(p.Terms) > size || len(p.Sequence) > size {
			t.Errorf("%s: %d terms, %d words in order", name, len(p.Terms), len(p.Sequence))
		}
		if q := a.Query(s, AllLangs); len(q) > maxQueryTerms {
			t.Errorf("%s: a query of %d words", name, len(q))
		}
	}
}
