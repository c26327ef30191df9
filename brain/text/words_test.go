package text

import (
	"slices"
	"strings"
	"testing"
)

// TestFoundAcrossSpellings holds what a reader takes for the same word to be found.
func TestFoundAcrossSpellings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ query, body string }{
		{"Dichtung Fenster", "Wir haben gestern die Kellerfensterdichtung bestellt und sie kommt morgen."},
		{"Mueller", "Herr Müller hat die Rechnung noch nicht bezahlt."},
		{"Mueller", "We met Jörg Müller at the station and he was late."},
		{"Müller", "We met Joerg Mueller at the station and he was late."},
		{"東京", "我下周去东京出差，住在酒店。"},
		{"鑰匙在哪裡", "备用钥匙在抽屉里。"},
		{"鍵はどこですか", "スペアの鍵は引き出しにあります。"},
		{"サーバー", "新しいサーバの設定を変更した。"},
		{"열쇠는 어디에 있나요?", "예비 열쇠를 서랍에 두었습니다."},
		{"กุญแจอยู่ที่ไหน", "กุญแจสำรองอยู่ในลิ้นชัก"},
		{"مدرسه", "ذهب الطفل الى المدرسة في الصباح"},
		{"کتابها", "من دیروز یک کتاب خریدم و خواندم"},
		{"۱۲۳", "شماره اتاق 123 است"},
		{"१२३", "कमरा नंबर 123 है"},
		{"ירושלים", "אנחנו גרים בירושלים כבר עשר שנים"},
		{"ספר", "קניתי את הספרים החדשים בחנות"},
		{"किताब", "मैंने कल नई किताबें खरीदीं"},
		{"κλειδί", "Τα κλειδιά είναι στο συρτάρι"},
		{"spotkanie", "Nie byłem na ostatnim spotkaniu zespołu w sprawie budżetu."},
		{"schůzka", "Na schůzce jsme mluvili o novém rozpočtu a termínech."},
		{"ключ", "Запасні ключі лежать у шухляді, а другі в сусіда."},
		{"makanan", "Kami makan bersama di restoran dekat kantor tadi malam."},
		{"chia khoa", "Chìa khóa dự phòng ở trong ngăn kéo của tôi."},
		{"চাবি", "অতিরিক্ত চাবিটি ড্রয়ারে রাখা আছে"},
		{"کتاب", "میں نے کل نئی کتابیں خریدیں"},
	} {
		if found, all, _ := matches(tc.query, "", tc.body); all == 0 || found != all {
			t.Errorf("%q in %q: %d of %d words found", tc.query, tc.body, found, all)
		}
	}
}

// TestFoundBeside holds parts of compounds and other alphabets to count beside the word itself.
func TestFoundBeside(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		query, body string
		least       int
	}{
		{"Kellerfensterdichtung", "Die Dichtung am Fenster im Keller ist undicht und muss ersetzt werden.", 3},
		{"Ivanov", "Вчера приходил Иванов и оставил ключи от машины.", 1},
		{"Dostoevsky", "Мы читали роман, который написал Достоевский.", 1},
		{"Иванов", "Yesterday Mr Ivanov came and left the keys of the car.", 1},
	} {
		if _, _, beside := matches(tc.query, "", tc.body); beside < tc.least {
			t.Errorf("%q in %q: %d found beside it, want %d", tc.query, tc.body, beside, tc.least)
		}
	}
}

func TestLanguageOfScripts(t *testing.T) {
	t.Parallel()
	var a Analyzer
	for s, want := range map[string]Lang{
		"Gdzie są klucze do biura?":        Polish,
		"Kde je klíč od kanceláře?":        Czech,
		"Kunci kantor ada di mana?":        Indonesian,
		"Chìa khóa văn phòng ở đâu?":       Vietnamese,
		"Де ключі від кабінету?":           Ukrainian,
		"Ключи от машины лежат на столе":   Russian,
		"کلید دفتر کجاست؟":                 Persian,
		"دفتر کی چابی کہاں ہے؟":            Urdu,
		"أين مفتاح المكتب؟":                Arabic,
		"Πού είναι τα κλειδιά;":            Greek,
		"איפה המפתחות?":                    Hebrew,
		"चाबी कहाँ है?":                    Hindi,
		"চাবি কোথায়?":                     Bengali,
		"กุญแจอยู่ที่ไหน":                  Thai,
		"열쇠 어디 있어요?":                       Korean,
		"钥匙在哪里？":                           Chinese,
		"ねえ、鍵どこ？":                          Japanese,
		"Onde estão as chaves do carro?":   Portuguese,
		"Hvor er nøglerne til bilen henne": Danish,
		"😀🎉":                               Neutral, "": Neutral, "12 34": Neutral,
	} {
		if got := a.Language(s); got != want {
			t.Errorf("%q: language %d, want %d", s, got, want)
		}
	}
}

// TestSentencesOfTwoLanguages holds each sentence of a passage to its own language.
func TestSentencesOfTwoLanguages(t *testing.T) {
	t.Parallel()
	var a Analyzer
	p := a.Passage("", "The meeting with the supplier was moved to Friday because of the strike. "+
		"Der Lieferant hat uns gestern angerufen und um einen anderen Termin gebeten. "+
		"We told him that it is fine with all of us.")
	for _, l := range []Lang{English, German} {
		if !p.Langs.Has(l) {
			t.Errorf("language %d is not seen", l)
		}
	}
	german := a.Query("Lieferanten", 1<<German)
	if len(german) == 0 || !slices.ContainsFunc(p.Terms, func(f TermFreq) bool { return f.Term == german[0].Alts[0] }) {
		t.Error("the German sentence is not stemmed as German")
	}
	english := a.Query("meetings", 1<<English)
	if !slices.ContainsFunc(p.Terms, func(f TermFreq) bool { return f.Term == english[0].Alts[0] }) {
		t.Error("the English sentence is not stemmed as English")
	}
}

// TestQuestionWordsAreLeftOut holds questions to what they ask about.
func TestQuestionWordsAreLeftOut(t *testing.T) {
	t.Parallel()
	var a Analyzer
	for query, want := range map[string]int{
		"Wo ist der Schlüssel von der Werkstatt?": 2,
		"Où est la clé de la voiture ?":           2,
		"Gdzie jest klucz do biura?":              2,
		"Где лежат ключи от машины?":              3,
		"钥匙在哪里？":                                  1,
		"鍵はどこですか":                                 1,
		"열쇠는 어디에 있나요?":                            1,
		"चाबी कहाँ है?":                           1,
		"أين هو المفتاح؟":                         1,
	} {
		var words int
		for _, q := range a.Query(query, 0) {
			if !q.Optional {
				words++
			}
		}
		if words != want {
			t.Errorf("%q: %d words, want %d", query, words, want)
		}
	}
}

// TestOddTextIsLinear feeds what no language has; each must end, and be found by what it holds.
func TestOddTextIsLinear(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]string{
		"no space, Latin":   strings.Repeat("kellerfenster", 80_000),
		"no space, Han":     strings.Repeat("钥匙在哪里", 70_000),
		"no space, Thai":    strings.Repeat("กุญแจ", 70_000),
		"long marks":        strings.Repeat("アー", 170_000),
		"combining marks":   "a" + strings.Repeat("\u0301", 500_000),
		"zero width":        strings.Repeat("\u200b\u200d\u200f", 110_000) + "boiler",
		"emoji":             strings.Repeat("😀👩‍👩‍👧‍👦", 30_000),
		"invalid":           strings.Repeat("\xff\xfeä\xc3", 200_000),
		"Latin-1 as UTF-8":  strings.Repeat("M\xfcller stra\xdfe ", 70_000),
		"right to left":     strings.Repeat("\u202eمفتاح abc\u202c ", 40_000),
		"one-letter script": strings.Repeat("а ", 400_000),
	} {
		var a Analyzer
		p := a.Passage("", s)
		if name != "combining marks" && name != "emoji" && len(p.Terms) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		a.Query(s, AllLangs)
	}
}
