package answer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/text"
)

// Courtesies are what people say to each other on every occasion, and what answers no question: "Hey Joanna!", "Thanks
// so much, Ben!", "See you soon". They open and close what else is said: "Hi Ben, the rent is 900 euros, thanks!"

const (
	// maxCalled is how many names stand in a courtesy: "Hi Ben, Carla and Dora".
	maxCalled = 4
	// maxCourtesy is how many words a sentence has, at most, that is nothing but courtesies.
	maxCourtesy = 12
)

// The phrases of courtesies, in the words of wordsOf and parted by bars: those that open what else is said, those that
// close it, and those that do either.
const (
	opening = `hi|hello|hey|hiya|howdy|hallo|greetings|hi there|hey there|hello there|good morning|good afternoon|` +
		`good evening|good day|how are you|how are you doing|how s it going|how have you been|what s up|long time no see|` +
		`long time no talk|hope you are well|hope you re well|i hope you are well|i hope you re well|` +
		`hope you re doing well|hope all is well|nice to meet you|nice to see you|good to see you|great to see you|` +
		`nice to hear from you|good to hear from you|great to hear from you|welcome back|` +
		`moin|servus|guten morgen|guten tag|guten abend|grüß dich|grüß gott|grüezi|wie geht s|wie geht es dir|` +
		`schön von dir zu hören|bonjour|bonsoir|salut|coucou|ça va|comment ça va|hola|buenas|buenos días|buenas tardes|` +
		`cómo estás|qué tal|olá|oi|bom dia|boa tarde|tudo bem|ciao|salve|buongiorno|buonasera|come stai|come va|hoi|` +
		`goedemorgen|goedemiddag|goedenavond|goede morgen|hoe gaat het|привет|здравствуйте|доброе утро|добрый день|` +
		`добрый вечер|こんにちは|こんばんは|おはよう|おはようございます|お疲れ様です|你好|您好|早上好|晚上好|안녕하세요|สวัสดี`
	closing = `good night|bye|bye bye|goodbye|farewell|see you|see you soon|see you later|see you then|see you there|` +
		`see you around|see ya|talk soon|talk to you soon|talk to you later|catch you later|take care|best regards|` +
		`kind regards|warm regards|regards|best wishes|all the best|sincerely|yours sincerely|have a nice day|` +
		`have a great day|have a good day|have a good one|have a nice weekend|have a great weekend|nice talking to you|` +
		`gute nacht|tschüss|tschüß|auf wiedersehen|auf wiederhören|bis bald|bis dann|bis später|mach s gut|liebe grüße|` +
		`viele grüße|beste grüße|schöne grüße|freundliche grüße|mit freundlichen grüßen|schönen tag noch|` +
		`schönes wochenende|à bientôt|à plus tard|au revoir|bonne nuit|bonne journée|bonne soirée|cordialement|` +
		`bien à vous|adiós|saludos|un saludo|un abrazo|buenas noches|hasta luego|hasta pronto|tchau|boa noite|até logo|` +
		`até breve|até mais|abraços|buonanotte|buona notte|buona giornata|buona serata|arrivederci|a presto|a dopo|` +
		`cordiali saluti|welterusten|doei|tot ziens|tot straks|tot later|tot snel|met vriendelijke groet|` +
		`vriendelijke groeten|до свидания|さようなら|再见|안녕히`
	either = `thanks|thank you|thank|thx|many thanks|thanks a lot|thanks a million|thanks a bunch|thanks again|` +
		`thanks for asking|thank you for asking|thanks for sharing|thank you for sharing|thanks for letting me know|` +
		`thanks in advance|cheers|you re welcome|you are welcome|no worries|my pleasure|welcome|` +
		`danke|dankeschön|danke schön|danke sehr|vielen dank|herzlichen dank|besten dank|tausend dank|danke dir|danke euch|` +
		`danke ihnen|danke der nachfrage|gern geschehen|gerne geschehen|keine ursache|merci|merci beaucoup|merci bien|` +
		`de rien|je vous en prie|gracias|muchas gracias|mil gracias|de nada|obrigado|obrigada|muito obrigado|` +
		`muito obrigada|por nada|grazie|grazie mille|mille grazie|tante grazie|molte grazie|bedankt|dank je|dank u|` +
		`dank je wel|dank u wel|hartelijk dank|heel erg bedankt|graag gedaan|спасибо|большое спасибо|ありがとう|` +
		`ありがとうございます|谢谢|多谢|감사합니다|고마워요|ขอบคุณ`
	// apart are said by themselves: what follows them may be what they are for.
	apart = `congrats|congratulations|glad to hear that|great to hear that|good to hear that|great to hear|good to hear|` +
		`glad to hear|glückwunsch|herzlichen glückwunsch|félicitations|felicidades|parabéns|congratulazioni|gefeliciteerd`
)

var (
	openings   = phrasesByFirst(opening + "|" + either)
	closings   = phrasesByFirst(closing + "|" + either)
	courtesies = phrasesByFirst(opening + "|" + closing + "|" + either + "|" + apart)
	// around are words that stand about a courtesy and say no more than it does.
	around = text.Set(`so very much again there all everyone everybody team folks guys friends friend both too and dear
		my buddy mate man dude mom mum dad oh ah wow aw aww well ok okay sehr nochmal noch mal auch alle allen zusammen
		leute ihr euch dir ihnen und liebe lieber tous toutes encore et à todos todas y a tutti tutte ancora e pessoal gente
		iedereen allemaal nogmaals en kindly`)
	// hangs are words with which no sentence begins that had something cut off before it.
	hangs = text.Set(`at on in for to of from by with that and or but if because about as um am im bei für zu mit an auf
		von dass und oder aber weil pour de à en que et ou mais por para con y o pero per di a che e ma voor met van op dat`)
	// whens are names of times, which say more than a courtesy: "See you Monday".
	whens = text.Set(`monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag
		samstag sonnabend sonntag january february march april may june july august september october november december
		januar februar märz mai juni juli oktober dezember christmas easter weihnachten ostern`)
)

// phrasesByFirst are phrases as their words, by the first of these.
func phrasesByFirst(list string) map[string][][]string {
	by := map[string][][]string{}
	for phrase := range strings.SplitSeq(list, "|") {
		words := wordsOf(phrase)
		by[words[0]] = append(by[words[0]], words)
	}
	return by
}

// spokenWord is a word, where it stands, and whether it is written like a name.
type spokenWord struct {
	text.Span

	low  string
	name bool
}

// spokenWords are the words of a text, as wordsOf parts them.
func spokenWords(s string) (words []spokenWord) {
	start := -1
	take := func(end int) {
		if start >= 0 {
			w := s[start:end]
			first, _ := utf8.DecodeRuneInString(w)
			low := strings.ToLower(w)
			words = append(words, spokenWord{text.Span{Start: start, End: end}, low, unicode.IsUpper(first) && !whens[low]})
			start = -1
		}
	}
	for i, r := range s {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			take(i)
		case start < 0:
			start = i
		}
	}
	take(len(s))
	return words
}

// phraseAt is how many words the longest of some phrases has that stands at word i.
func phraseAt(phrases map[string][][]string, words []spokenWord, i int) (n int) {
next:
	for _, p := range phrases[words[i].low] {
		if len(p) <= n || i+len(p) > len(words) {
			continue
		}
		for k, w := range p {
			if words[i+k].low != w {
				continue next
			}
		}
		n = len(p)
	}
	return n
}

// courteous tells whether words are courtesies and who they are said to, and nothing else.
func courteous(words []spokenWord) bool {
	found, called := false, 0
	for i := 0; i < len(words); {
		if n := phraseAt(courtesies, words, i); n > 0 {
			found = true
			i += n
			continue
		}
		if !around[words[i].low] {
			if called++; !words[i].name || called > maxCalled {
				return false
			}
		}
		i++
	}
	return found && len(words) <= maxCourtesy
}

// courtesy tells whether a sentence, which may have its speaker before it, is nothing but a courtesy. A single word
// that no mark ends may be the value of a field: "Password: hello".
func courtesy(s string) bool {
	n := labelled(s)
	words := spokenWords(s[n:])
	return courteous(words) && (n == 0 || len(words) > 1 || words[0].End < len(s)-n)
}

// labelled is how long the name of a speaker is with which a line begins, its colon and the blank behind it included.
func labelled(s string) int { return len(speaking.FindString(s)) }

// parted tells whether a mark parts the words i-1 and i of a sentence, or its end does.
func parted(s string, words []spokenWord, i int) bool {
	if i >= len(words) {
		return true
	}
	gap := s[words[i-1].End:words[i].Start]
	return strings.ContainsAny(gap, ",;:.!…–—！、，。\n") || strings.Contains(gap, " - ")
}

// opened is where a sentence begins behind the courtesies that open it; 0: none does.
func opened(s string) (end int) {
	words := spokenWords(s)
	for i := 0; i < len(words) && i < maxCourtesy; {
		from := i
		for i < len(words) && around[words[i].low] && from == 0 { // "Oh hey Ben"
			i++
		}
		if i == len(words) {
			break
		}
		n := phraseAt(openings, words, i)
		if n == 0 {
			break
		}
		i += n
		for called := 0; !parted(s, words, i); i++ {
			if !around[words[i].low] {
				if called++; !words[i].name || called > maxCalled {
					return end
				}
			}
		}
		if k := i + 1; i < len(words) && words[i].name && parted(s, words, k) && k < len(words) &&
			(!words[k].name || words[k].low == "i") { // "Thanks, Ben, the rent"
			i = k
		}
		if i < len(words) && !hangs[words[i].low] {
			end = words[i].Start
		}
	}
	return end
}

// closed is where a sentence ends before the courtesies that close it; its length: none does.
func closed(s string) (end int) {
	words, end := spokenWords(s), len(s)
	for i := len(words) - 1; i > 0 && len(words)-i <= maxCourtesy; i-- {
		if parted(s, words, i) && phraseAt(closings, words, i) > 0 && courteous(words[i:]) {
			end = words[i-1].End
			if mark := strings.IndexAny(s[end:words[i].Start], ".!…"); mark >= 0 {
				_, n := utf8.DecodeRuneInString(s[end+mark:])
				end += mark + n
			}
		}
	}
	return end
}
