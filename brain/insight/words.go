package insight

import (
	"strconv"
	"strings"

	"orgmem/brain/extract"
	"orgmem/brain/text"
)

// templates are the words of ours around what notes of a language say. %s stands for what is filled in.
type templates struct {
	on, by, noDate, question, asked string
	months                          []string
	// date is a day by its number, month and year.
	date string
	// open and close are quotation marks.
	open, close string
}

// day is a day as a person reads it.
func (t *templates) day(ms int64) string {
	y, m, d := extract.DayOf(ms)
	month := strconv.Itoa(m)
	if t.months != nil {
		month = t.months[m-1]
	}
	return strings.NewReplacer("{d}", strconv.Itoa(d), "{m}", month, "{y}", strconv.Itoa(y)).Replace(t.date)
}

// quoted is what was said, and when.
func (t *templates) quoted(said string, atMS int64) string {
	return t.open + text.Truncate(plain(said), maxQuote) + t.close + " (" + t.day(atMS) + ")"
}

func fill(template, with string) string { return strings.Replace(template, "%s", with, 1) }

// wordsFor are the templates of a language.
func wordsFor(code string) *templates { return templatesIn[code] }

var templatesIn = map[string]*templates{
	"de": {
		on: "Am %s", by: "Bis %s", noDate: "Ohne Termin", question: "Offene Frage: %s",
		asked: "Gefragt am %s; nichts, was seitdem geschrieben wurde, antwortet darauf.",
		months: strings.Fields("Januar Februar März April Mai Juni Juli August September Oktober November " +
			"Dezember"),
		date: "{d}. {m} {y}", open: "„", close: "“",
	},
	"fr": {
		on: "Le %s", by: "Avant la fin du %s", noDate: "Sans date", question: "Question ouverte : %s",
		asked:  "Posée le %s ; rien de ce qui a été écrit depuis n’y répond.",
		months: strings.Fields("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
		date:   "{d} {m} {y}", open: "« ", close: " »",
	},
	"es": {
		on: "El %s", by: "A más tardar el %s", noDate: "Sin fecha", question: "Pregunta abierta: %s",
		asked:  "Preguntada el %s; nada de lo escrito desde entonces la responde.",
		months: strings.Fields("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"),
		date:   "{d} de {m} de {y}", open: "«", close: "»",
	},
	"it": {
		on: "Il %s", by: "Entro il %s", noDate: "Senza data", question: "Domanda aperta: %s",
		asked: "Posta il %s; niente di quanto scritto in seguito vi risponde.",
		months: strings.Fields("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre " +
			"dicembre"),
		date: "{d} {m} {y}", open: "«", close: "»",
	},
	"pt": {
		on: "Em %s", by: "Até %s", noDate: "Sem data", question: "Pergunta em aberto: %s",
		asked:  "Feita em %s; nada do que foi escrito desde então lhe responde.",
		months: strings.Fields("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
		date:   "{d} de {m} de {y}", open: "«", close: "»",
	},
	"nl": {
		on: "Op %s", by: "Uiterlijk %s", noDate: "Zonder datum", question: "Open vraag: %s",
		asked:  "Gevraagd op %s; niets wat sindsdien is geschreven geeft er antwoord op.",
		months: strings.Fields("januari februari maart april mei juni juli augustus september oktober november december"),
		date:   "{d} {m} {y}", open: "“", close: "”",
	},
	"pl": {
		on: "Dnia %s", by: "Do %s", noDate: "Bez terminu", question: "Otwarte pytanie: %s",
		asked: "Zadane %s; nic, co napisano od tego czasu, na nie nie odpowiada.",
		months: strings.Fields("stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października " +
			"listopada grudnia"),
		date: "{d} {m} {y}", open: "„", close: "”",
	},
	"ja": {
		on: "%s", by: "%sまで", noDate: "期日なし", question: "未回答の質問：%s",
		asked: "%sに質問。その後に書かれたものに答えはありません。", date: "{y}年{m}月{d}日", open: "「", close: "」",
	},
	"zh": {
		on: "%s", by: "%s之前", noDate: "没有日期", question: "未回答的问题：%s",
		asked: "提问于%s；此后写下的内容没有回答它。", date: "{y}年{m}月{d}日", open: "“", close: "”",
	},
	"ar": {
		on: "في %s", by: "حتى %s", noDate: "بلا موعد", question: "سؤال مفتوح: %s",
		asked:  "طُرح في %s؛ لا شيء مما كُتب بعده يجيب عنه.",
		months: strings.Fields("يناير فبراير مارس أبريل مايو يونيو يوليو أغسطس سبتمبر أكتوبر نوفمبر ديسمبر"),
		date:   "{d} {m} {y}", open: "«", close: "»",
	},
	"hi": {
		on: "%s को", by: "%s तक", noDate: "बिना तारीख", question: "खुला प्रश्न: %s",
		asked:  "%s को पूछा गया; उसके बाद लिखी किसी बात में उत्तर नहीं है।",
		months: strings.Fields("जनवरी फ़रवरी मार्च अप्रैल मई जून जुलाई अगस्त सितंबर अक्टूबर नवंबर दिसंबर"),
		date:   "{d} {m} {y}", open: "“", close: "”",
	},
}
