package topic

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/locale"
	"orgmem/brain/text"
)

// abroad are words that are frequent everywhere in other languages than English, beside those of dates and the function
// words: what is new, good and much, what has to be and what comes.
var abroad = text.Set(`neu neue neuen neuer neues gut gute guten guter viel viele vielen mehr wieder schon bitte danke
	uhr euro
	muss müssen braucht brauchen kommt kommen gibt gemacht machen geht gehen soll sollen ganz gerade sehr etwa immer
	termin nouveau nouvelle nouveaux nouvelles bon bonne beaucoup plus encore déjà merci euros faut doit doivent vient
	fait faire aller toujours très heures besoin chose choses nuevo nueva nuevos nuevas bueno buena mucho mucha más otra
	otro vez gracias hay debe deben tiene tienen viene hacer hecho siempre muy horas cosa cosas necesita nuovo nuova nuovi
	nuove buono buona molto molta ancora grazie bisogna deve devono viene fare fatto sempre ore cosa cose novo nova novos
	novas bom boa muito muita mais outra obrigado obrigada precisa preciso vem fazer feito sempre hoje nieuw nieuwe goed
	goede veel meer weer graag bedankt uur moet moeten komt komen doen gedaan altijd heel nodig nowy nowa dobry
	dobra dużo więcej znowu proszę dziękuję trzeba musi muszą jest zawsze bardzo`)

// genericAbroad tells whether a word of a text that is not in English says little, whatever the text is about.
func genericAbroad(word string) bool { return abroad[word] || locale.TimeWord(word) }

// kana holds for the characters that Japanese has and Chinese has not.
func kana(r rune) bool { return r >= 0x3041 && r <= 0x30FF && r != '・' }

// particles stand behind nouns of Japanese.
const particles = "をはがにでともへやの"

// everyday are words of Japanese that say when, and little else.
var everyday = text.Set(`今日 明日 昨日 今週 来週 先週 今月 来月 先月 今年 来年 去年 毎日 毎週 午前 午後 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日
	日曜日 時間 場合 必要 予定 以上 以下 自分 全部`)

// nouns reads a run of Japanese: what is written in katakana, and the characters of Chinese that no ending of a verb
// follows. Names and nouns are written so, and what is left, verbs and particles, names nothing.
func nouns(dst []token, s string, i int) (int, []token) {
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !text.Spaceless(r) && !unicode.IsMark(r) && r != 'ー' {
			break
		}
		in := unicode.Han
		if unicode.Is(unicode.Katakana, r) {
			in = unicode.Katakana
		} else if !unicode.Is(unicode.Han, r) {
			dst = append(dst, token{stop: true})
			i += n
			continue
		}
		from, length := i, 0
		for i < len(s) {
			r, n := utf8.DecodeRuneInString(s[i:])
			if !unicode.Is(in, r) && r != 'ー' && r != '々' {
				break
			}
			i += n
			length++
		}
		w := s[from:i]
		next, _ := utf8.DecodeRuneInString(s[i:])
		ends := i == len(s) || !unicode.Is(unicode.Hiragana, next) || strings.ContainsRune(particles, next)
		if (length > 1 || in == unicode.Han && ends) && len(w) <= maxWordBytes && !everyday[w] {
			dst = append(dst, token{key: w, surface: w})
		}
		dst = append(dst, token{stop: true})
	}
	return i, dst
}

// pairs reads a run of a script without spaces as overlapping pairs of characters, the
// usual stand-in for words there.
func pairs(dst []token, s string, i int) (int, []token) {
	prev := -1
	for i < len(s) {
		r, n := utf8.DecodeRuneInString(s[i:])
		if !text.Spaceless(r) && !unicode.IsMark(r) {
			break
		}
		if prev >= 0 {
			w := s[prev : i+n]
			dst = append(dst, token{key: w, surface: w}, token{stop: true})
		}
		prev = i
		i += n
	}
	return i, dst
}
