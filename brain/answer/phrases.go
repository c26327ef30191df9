package answer

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"orgmem/brain/extract"
	"orgmem/brain/extract/locale"
	"orgmem/brain/text"
)

// phrases are what an answer says in words of its own, in one language.
type phrases struct {
	nothing  string // memory does not answer
	before   string // what a former value stands behind; %s is its day
	disputed string // texts that the answer rests on contradict each other
	other    string // somebody of the organization whom nothing names
	months   string // from January on; empty: days are written in digits
	day      string // of a month: D, M
	year     string // what stands between the month and the year
}

// NothingKnown is the answer in English when memory says nothing: no other is invented.
const NothingKnown = "Nothing in memory answers this."

// inEnglish stands for what a language has no words for.
var inEnglish = phrases{
	nothing: NothingKnown, before: "Before, on %s: ", disputed: "These notes contradict each other.",
	other:  "Another member",
	months: "January February March April May June July August September October November December",
	day:    "D M", year: " ",
}

var phrasesOf = map[text.Lang]phrases{
	text.German: {
		"Dazu steht nichts im Gedächtnis.", "Vorher, am %s: ", "Diese Notizen widersprechen sich.", "Ein anderes Mitglied",
		"Januar Februar März April Mai Juni Juli August September Oktober November Dezember", "D. M", " ",
	},
	text.French: {
		"Rien dans la mémoire ne répond à cette question.", "Avant, le %s : ", "Ces notes se contredisent.",
		"Un autre membre",
		"janvier février mars avril mai juin juillet août septembre octobre novembre décembre", "D M", " ",
	},
	text.Spanish: {
		"Nada en la memoria responde a esto.", "Antes, el %s: ", "Estas notas se contradicen.", "Otro miembro",
		"enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre", "D de M", " de ",
	},
	text.Portuguese: {
		"Nada na memória responde a isto.", "Antes, em %s: ", "Estas notas se contradizem.", "Outro membro",
		"janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro", "D de M", " de ",
	},
	text.Italian: {
		"Nulla nella memoria risponde a questa domanda.", "Prima, il %s: ", "Queste note si contraddicono.",
		"Un altro membro",
		"gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre", "D M", " ",
	},
	text.Dutch: {
		"Niets in het geheugen geeft hier antwoord op.", "Eerder, op %s: ", "Deze notities spreken elkaar tegen.",
		"Een ander lid",
		"januari februari maart april mei juni juli augustus september oktober november december", "D M", " ",
	},
	text.Swedish:   {nothing: "Inget i minnet besvarar detta.", before: "Tidigare, %s: "},
	text.Norwegian: {nothing: "Ingenting i minnet svarer på dette.", before: "Tidligere, %s: "},
	text.Danish:    {nothing: "Intet i hukommelsen besvarer dette.", before: "Tidligere, %s: "},
	text.Finnish:   {nothing: "Mikään muistissa ei vastaa tähän.", before: "Aiemmin, %s: "},
	text.Hungarian: {nothing: "A memóriában semmi sem válaszol erre.", before: "Korábban, %s: "},
	text.Romanian:  {nothing: "Nu știm nimic care să răspundă la aceasta.", before: "Înainte, %s: "},
	text.Turkish:   {nothing: "Bellekte bunu yanıtlayan bir şey yok.", before: "Önceden, %s: "},
	text.Russian:   {nothing: "В памяти нет ответа на этот вопрос.", before: "Раньше, %s: "},
	text.Arabic:    {nothing: "لا يوجد في الذاكرة ما يجيب عن هذا.", before: "سابقًا، %s: "},
}

// phrasesIn are the phrases of languages by their two letters: of those recognised by other words than function
// words, and of Polish, which has no stemmer.
var phrasesIn = map[string]phrases{
	"de": phrasesOf[text.German], "fr": phrasesOf[text.French], "es": phrasesOf[text.Spanish],
	"pt": phrasesOf[text.Portuguese], "it": phrasesOf[text.Italian], "nl": phrasesOf[text.Dutch],
	"pl": {
		"Nic w pamięci na to nie odpowiada.", "Wcześniej, %s: ", "Te notatki są ze sobą sprzeczne.",
		"Inna osoba z organizacji",
		"stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia", "D M", " ",
	},
}

// nothingIn are the refusals of languages that are told by their script.
var nothingIn = []struct {
	script  *unicode.RangeTable
	nothing string
}{
	{unicode.Hiragana, "記憶の中に答えは見つかりませんでした。"},
	{unicode.Katakana, "記憶の中に答えは見つかりませんでした。"},
	{unicode.Hangul, "기억에 이에 대한 답이 없습니다."},
	{unicode.Han, "记忆中没有对此的回答。"},
	{unicode.Devanagari, "स्मृति में इसका कोई उत्तर नहीं है।"},
	{unicode.Thai, "ไม่มีสิ่งใดในความจำที่ตอบคำถามนี้"},
	{unicode.Greek, "Τίποτα στη μνήμη δεν απαντά σε αυτό."},
	{unicode.Hebrew, "אין בזיכרון תשובה לכך."},
}

// Nothing says, in the language of a question, that memory does not answer it.
func Nothing(question string) string { return wordsFor(question).nothing }

// wordsFor are the phrases in the language of a question, in English what it has none for.
func wordsFor(question string) phrases {
	lang := text.LanguageOfQuestion(question)
	p, ok := phrasesOf[lang]
	if _, known := phrasesIn[locale.Of(question).Only()]; known && (!ok || p.other != "") {
		p, ok = phrasesIn[locale.Of(question).Only()], true // more words than function words tell it
	}
	if !ok {
		p = inEnglish
	}
	if lang == text.Neutral {
		p = phrases{nothing: NothingKnown, before: "%s: "}
		for _, x := range nothingIn {
			if strings.ContainsFunc(question, func(r rune) bool { return unicode.Is(x.script, r) }) {
				p.nothing = x.nothing
				break
			}
		}
	}
	if p.disputed == "" {
		p.disputed = inEnglish.disputed
	}
	if p.other == "" {
		p.other = inEnglish.other
	}
	return p
}

// date writes the day of a time, with its year where that is another than the asker's.
func (p *phrases) date(ms, askedMs int64) string {
	year, month, day := extract.DayOf(ms)
	if p.months == "" {
		return fmt.Sprintf("%04d-%02d-%02d", year, month, day)
	}
	out := strings.Replace(p.day, "D", strconv.Itoa(day), 1)
	out = strings.Replace(out, "M", strings.Fields(p.months)[month-1], 1)
	if asked, _, _ := extract.DayOf(askedMs); asked != year {
		out += p.year + strconv.Itoa(year)
	}
	return out
}
