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

// TestHostileTexts: a megabyte of anything gives tokens and terms in proportion to its length, and a few bytes each.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	check := func(name, unit string, size int) {
		var a Analyzer
		s := strings.Repeat(unit, size/len(unit))
		p := a.Passage("", s)
		if tokens := len(a.scan.tokens); tokens > size || len(p.Terms) > size || len(p.Sequence) > size {
			t.Errorf("%s: %d tokens, %d terms, %d words in order", name, tokens, len(p.Terms), len(p.Sequence))
		}
		if q := a.Query(s, AllLangs); len(q) > maxQueryTerms {
			t.Errorf("%s: a query of %d words", name, len(q))
		}
	}
	for name, unit := range map[string]string{
		"no space": "a", "compounds": "hauptstadt", "compounds with spaces": "der hauptstadtgartenhausstadt ",
		"emoji": "\U0001F469\u200d\U0001F469\u200d\U0001F467\U0001F3FD", "marks alone": "\u0301",
		"combining marks": "a\u0301\u0308\u0323", "invalid": "\xff\xc3\xe2\x82", "kanji": "鍵", "particles": "のはが",
		"function words": "どこですか", "thai": "ที่ไหน", "digits": "٢", "joiners": "a-b_c.d/", "katakana": "カ", "hangul": "가",
		"mixed scripts": "aЖ國カ가ب",
	} {
		check(name, unit, 1<<20)
	}
	for name, unit := range map[string]string{
		"traditional": "鑰匙", "hangul with particles": "가에게서", "thai letters": "ก", "lao": "ກ", "khmer": "ក្ក",
		"burmese": "က", "cyrillic": "Ж", "cyrillic words": "Жанна ", "greek": "Ωμ ", "arabic": "ب", "arabic words": "حداد ",
		"hebrew": "שרה ", "devanagari": "क", "latin names": "Anna ", "finnish": "pöytäkirjalaatikko ",
		"mixed, with spaces": "Anna Жанна 鑰匙カギ 가방은 ", "emoji in words": "\U0001F600鑰\U0001F600",
		"marks on kana": "カ\u3099\u3099",
	} {
		check(name, unit, 1<<16)
	}
}

func TestScriptsAreHeardAlike(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, query string }{
		{"Наталья Ковалёва принесёт ключи.", "natalya kovaleva"},
		{"Встреча с Дмитрием Сергеевым в четверг.", "Sergeev"},
		{"Ο Γιώργος Παπαδόπουλος λείπει.", "giorgos papadopoulos"},
		{"محمد العمري سيحضر غدا", "Muhammad"},
		{"רבקה כהן כאן", "Cohen"},
		{"प्रिया शर्मा आज आएंगी", "Priya Sharma"},
		{"나타샤는 서울로 돌아온다", "Natasha"},
		{"ジョン・スミスさんの鍵", "john smith"},
		{"Mikhail Gorbunov is here.", "Горбунов Михаил"},
		{"Dimitris Alexiou is here.", "Δημήτρης"},
		{"Mustafa Abbas is here.", "مصطفى عباس"},
		{"Yitzhak Levin is here.", "יצחק"},
		{"Deepak Gupta is here.", "दीपक गुप्ता"},
		{"Natalie Brown is here.", "나탈리 브라운"},
		{"Thomas Baker is here.", "トーマス・ベイカー"},
	} {
		if _, _, optional := matches(tc.query, "", tc.text); optional == 0 {
			t.Errorf("%q does not sound like anything in %q", tc.query, tc.text)
		}
	}
	for _, tc := range []struct{ text, query string }{
		{"Наталья принесёт ключи.", "Gregory"},
		{"ジョンの鍵", "Alexander"},
		{"Anna is here.", "Борис"},
		{"The gene was TGFβ, of PKGIα.", "tgf pkg"},
	} {
		if _, _, optional := matches(tc.query, "", tc.text); optional != 0 {
			t.Errorf("%q sounds like something in %q", tc.query, tc.text)
		}
	}
}

func TestGermanNounsAreNotHeard(t *testing.T) {
	t.Parallel()
	const text = "Robert Fischer repariert die Heizung und bringt den Schlüssel zum Nachbarn, aber nicht die Rechnung."
	for query, want := range map[string]int{"Роберт Фишер": 2, "Хайцунг": 0, "Шлюссель": 0, "Рехнунг": 0} {
		if _, _, optional := matches(query, "", text); optional != want {
			t.Errorf("%q sounds like %d words, want %d", query, optional, want)
		}
	}
}

// TestSoundsAreForOtherScripts: where all is of one script, questions look for nothing more than before.
func TestSoundsAreForOtherScripts(t *testing.T) {
	t.Parallel()
	for passage, query := range map[string]string{
		"Anna Petrova has the keys.": "Anna Petrova", "Анна Петрова взяла ключи.": "Анна Петрова", "أخذ محمد المفتاح": "محمد",
	} {
		var a Analyzer
		p := a.Passage("", passage)
		for _, q := range a.Query(query, p.Langs) {
			if q.Optional {
				t.Errorf("%q among texts like %q is looked for by its sound", query, passage)
			}
		}
	}
}

func TestNamesHaveFewKeys(t *testing.T) {
	t.Parallel()
	for _, w := range []string{
		"schwarzenegger", "тчшщжхгкивуауэ", "クリストファーバベビ", "ريتشارد", "चौधरी", "גולדברג", "엘리자베스테일러",
		strings.Repeat("wcherghj", 5), strings.Repeat("вхг", 8),
	} {
		h := hear(string(appendLower(nil, w)), true)
		if h == nil {
			t.Errorf("%q is not heard", w)
			continue
		}
		if n := len(h.keys()); n == 0 || n > maxSounds {
			t.Errorf("%q is looked for by %d keys", w, n)
		}
	}
	for _, w := range []string{"", "a", "и", strings.Repeat("anna", longestSounded), "鍵", "\xff\xfe", "123"} {
		if h := hear(w, true); h != nil && len(h.keys()) > 0 {
			t.Errorf("%q has keys %q", w, h.keys())
		}
	}
	var a Analyzer
	sounded := 0
	for _, q := range a.Query(strings.Repeat("Марина Анатолий Gregory Евгений ", 100), AllLangs) {
		if q.Weight == soundWeight {
			sounded++
		}
	}
	if sounded > maxSounded {
		t.Errorf("%d words of a query are looked for by their sound", sounded)
	}
}

func TestEasternSpellingsMeet(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, query string }{
		{"產品說明書由林小姐翻譯", "说明书 翻译"},
		{"图书馆的还书箱", "圖書館 還書箱"},
		{"國語辞典を図書館で", "国语 图书"},
		{"らーめん屋の列", "ラーメン"},
		{"ﾗｰﾒﾝ屋", "らーめん"},
		{"寝室のたんす", "タンス"},
	} {
		if found, all, _ := matches(tc.query, "", tc.text); all == 0 || found != all {
			t.Errorf("%q in %q: %d of %d words found", tc.query, tc.text, found, all)
		}
	}
	for r := rune(firstHan); r <= lastHan; r++ {
		if s := eastern(r); eastern(s) != s {
			t.Fatalf("%c stands for %c, which stands for another", r, s)
		}
	}
}

func TestFinnishCompoundsAreFoundByTheirParts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, query string }{
		{"Tietokoneet uusitaan toimistossa ensi kuussa.", "kone"},
		{"Polkupyörän avain riippuu eteisen naulakossa.", "pyörä"},
		{"Lentokentältä pääsee bussilla keskustaan puolessa tunnissa.", "kenttä lento"},
		{"Isän verenpaine mitataan kahdesti päivässä.", "veri paine"},
	} {
		if found, all, _ := matches(tc.query, "", tc.text); all == 0 || found != all {
			t.Errorf("%q in %q: %d of %d words found", tc.query, tc.text, found, all)
		}
	}
	for _, w := range []string{"asiakas", "palaveri", "jäsenille", "huomenna", "keskustaan"} {
		if parts := split(Finnish, w); parts != nil {
			t.Errorf("%q is made of %q, want nothing", w, parts)
		}
	}
}

// TestAnyLengthIsFoundByWhatItHolds: words behind a megabyte without a space are found.
func TestAnyLengthIsFoundByWhatItHolds(t *testing.T) {
	t.Parallel()
	for unit, query := range map[string]string{
		"水": "钥匙", "ก": "กุญแจ", "가": "열쇠",
	} {
		text := strings.Repeat(unit, 1<<20/len(unit)) + query
		if found, all, _ := matches(query, "", text); all == 0 || found != all {
			t.Errorf("%q behind many %q: %d of %d words found", query, unit, found, all)
		}
	}
}
