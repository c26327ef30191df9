package act

import (
	"regexp"
	"strings"
	"unicode"

	"orgmem/brain/text"
)

var polish = table{
	verbs: "wczoraj dziękuję cześć myślę jestem wolę lubię musimy dzieci za od do pani pan",
	lang:  text.Polish,
	promises: `
		^ ?ja ?ci|?wam|?mu|?jej|?im zajmę|zajmiemy się <thing>
		^ ?ja ?ci|?wam obiecuję|obiecujemy ?, <thing>
		^ ?ja ?ci|?wam|?mu|?jej|?im ?też|?jeszcze zrobię|kupię|wezmę|napiszę|zadzwonię|zapłacę|naprawię|\
			załatwię|zamówię|oddam|odpowiem|umyję|upiekę|ugotuję|zarezerwuję|pomaluję|przygotuję|wy-|zrobimy|\
			kupimy|pomalujemy|załatwimy ?do <thing>`,
	duties: `
		<who> jest|są ?teraz odpowiedzialny|odpowiedzialna|odpowiedzialni za <thing>
		za <thing> odpowiada|odpowiadają ?teraz <who> $
		<who> odpowiada|odpowiadają ?teraz za <thing>
		<thing> zajmuje się ?teraz <who> $
		<who> zajmuje|zajmują się ?teraz <thing>`,
	likes: `
		^ ?ja ! ?bardzo lubię|lubimy|uwielbiam|uwielbiamy|kocham|wolę|wolimy <thing>`,
	dislikes: `
		^ ?ja nienawidzę|nienawidzimy <thing>
		nie znoszę|znosimy|cierpię <thing>`,
	beliefs: `
		jestem ~ przekonany|przekonana|pewien|pewna , że <rest>
		myślę|uważam|sądzę , że <rest>
		moim zdaniem ?, <rest>`,
	instead: "zamiast",
	not:     "nie nigdy nikt nic żaden żadna",
	hedges:  "może jeśli jeżeli gdyby prawdopodobnie chyba mogłoby mógłby mogłaby moglibyśmy oby czy gdy",
	reports: "powiedział powiedziała mówił twierdzi obiecał obiecała mówi", asking: "kto co kiedy gdzie " +
		"jak dlaczego który czy ile",
	pronouns: "ja ty on ona ono my wy oni one to tego temu się mnie mi ci cię go mu ją jej nas was ich im " +
		"tak coś wszystko",
	selves: "ja my", habits: "zawsze często każdy każdego codziennie zwykle nigdy czasem",
	idle: "spać padać pada śnieg nadzieję widzę zobaczę zobaczymy spróbuję poczekam pójdę dzięki",
	past: "lubiłem lubiłam wolałem " +
		"wolałam był była było były dawniej kiedyś", very: "bardzo najbardziej szczególnie", openers: "więc i " +
		"ale dobrze ok tak dzisiaj",
	articles: "nasz nasza mój moja", small: "się nie jest dla jeszcze już też tylko bardzo przez oraz",
	must: "musi muszą musimy muszę trzeba należy termin upływa mija kończy najpóźniej złożyć",
	done: "zrobione gotowe wysłane wysłałem wysłałam zapłacone zapłaciłem zapłaciłam kupione kupiłem " +
		"kupiłam zamówione " +
		"naprawione umyte załatwione oddane odebrane podpisane", wishes: "chciałbym chciałabym proponuję " +
		"wolałbym lepiej powinien",
	holding: "myślę sądzę uważam", expected: "będzie będą dzisiaj jutro wystarczy", addressed: "ty ci cię " +
		"tobie twój twoja",
	moved: "przełożono przełożone przełożony przesunięto przesunięte wzrasta wzrósł rośnie spada " +
		"podniesiono obniżono " +
		"zmieniono przeniesiono", to: "na do",
	days: "poniedziałek wtorek środa środę czwartek piątek sobota sobotę niedziela niedzielę " +
		"poniedziałki wtorki środy czwartki",
	conditional: "łbym łabym libyśmy łby łaby",
	firstPerson: `
		^ ?jutro|?dzisiaj|?pojutrze ?rano ?ci|?wam|?mu -ę|-imy|-emy
		muszę|musimy`,
}

var arabic = table{
	lang: text.Arabic, uncased: true,
	promises: `
		^ سأ-|سن- <thing>
		أعدك|أعدكم <thing>`,
	duties: `
		^ <who> مسؤول|مسؤولة|مسؤولون|المسؤول|المسؤولة عن <thing>
		^ المسؤول|المسؤولة عن <thing> هو|هي <who> $
		^ <who> يتولى|تتولى|يهتم|تهتم ?ب <thing>`,
	likes:    `^ ! أحب|أفضل|أعشق|نحب|نفضل <thing>`,
	dislikes: `^ أكره|نكره <thing>`,
	beliefs: `
		أعتقد|أظن|أرى أن <rest>
		في رأيي ?، <rest>`,
	instead: "بدلا من",
	not:     "لا لم لن ليس ليست ما", hedges: "ربما إذا لو قد لعل يمكن يمكننا يمكنني", reports: "قال قالت " +
		"قالوا زعم وعد",
	asking: "من هل متى أين كيف لماذا ماذا كم أي", pronouns: "أنا أنت هو هي نحن هم هذا هذه ذلك تلك كل شيء",
	selves: "أنا نحن", habits: "دائما عادة كل يوميا أحيانا أبدا", idle: "أنام سأنام تمطر المطر ستمطر شكرا " +
		"أتمنى سأرى سأحاول سأنتظر",
	past: "كنت كان كانت كنا", very: "جدا كثيرا", openers: "ثم إذن", small: "في من عن على إلى مع قبل بعد عند",
	must: "يجب علينا علي عليك آخر موعد ينتهي تنتهي المهلة لازم", done: "تم أرسلت أرسلنا دفعت دفعنا انتهى " +
		"انتهيت اشتريت أصلحت نظفت اتصلت",
	wishes: "أود أريد أقترح", holding: "أعتقد أظن", expected: "سوف غدا اليوم", addressed: "أنت كيف حالك",
	moved: "تأجل تأجلت أجل نقل تغير تغيرت ارتفع ارتفعت انخفض", to: "إلى",
	days:        "الاثنين الثلاثاء الأربعاء الخميس الجمعة السبت الأحد",
	firstPerson: `سأ-|سن-|علينا|علي`,
}

var hindi = table{
	lang: text.Neutral, uncased: true,
	promises: `
		मैं|हम <deed> -ूँगी|-ूँगा|-ूंगी|-ूंगा|-ेंगे|-ऊँगी|-ऊँगा|-ऊंगी|-ऊंगा|दूँगा|दूँगी|लूँगा|लूँगी $
		<thing> मैं|हम ?खुद -ूँगी|-ूँगा|-ूंगी|-ूंगा|-ेंगे|-ऊँगी|-ऊँगा $`,
	duties: `
		^ <thing> की|का ज़िम्मेदारी|जिम्मेदारी ?अब <who> की है $
		^ <thing> के लिए ?अब <who> ज़िम्मेदार|जिम्मेदार हैं|है $
		^ <who> <thing> के लिए ज़िम्मेदार|जिम्मेदार हैं|है $
		^ <thing> ?अब <who> संभालेंगे|संभालेगी|संभालेगा|देखेंगे|देखेगी $`,
	likes: `
		मुझे|हमें <thing> ?बहुत पसंद ! है|हैं $
		मुझे|हमें <thing> ?बहुत अच्छा|अच्छी|अच्छे ! लगता|लगती|लगते है|हैं $
		मुझे|हमें <thing> पसंद ! $`,
	dislikes: `
		मुझे|हमें <thing> से ?बहुत नफ़रत|नफरत|चिढ़ है $
		मुझे|हमें <thing> नापसंद है|हैं $`,
	beliefs: `
		मुझे लगता है कि <rest>
		मेरे विचार में ?, <rest>
		मेरा मानना है कि <rest>`,
	instead: "की बजाय",
	not:     "नहीं मत न", hedges: "शायद अगर यदि सकते सकता सकती काश संभवतः कभी", reports: "कहा बोला बोली कहते बताया",
	asking: "कौन क्या कब कहाँ कहां कैसे क्यों कितना", pronouns: "मैं तुम आप वह वे हम यह ये इसे उसे मुझे " +
		"हमें सब कुछ ऐसा",
	selves: "मैं हम हमें मुझे", habits: "हमेशा अक्सर हर रोज़ रोज आमतौर", idle: "सोने सोऊँगा बारिश धन्यवाद " +
		"उम्मीद कोशिश देखूँगा",
	past: "था थी थे पहले", very: "बहुत", openers: "तो और", small: "का की के को से में पर है हैं तक एक लिए और भी",
	must: "करना देना होगा चाहिए अंतिम आखिरी जमा", done: "दिया दी दिए चुका चुकी गया गई भेजा खरीदा",
	wishes: "चाहता चाहती चाहिए बेहतर", holding: "लगता", expected: "होगा होगी आज कल", addressed: "तुम आप " +
		"तुम्हारा आपका",
	moved: "बदलकर बढ़कर घटकर टलकर बदल", to: "से",
	days:        "सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार",
	hedging:     "दिए|दिया|दी|किया|गया|गई|गए|आए|आया|आई|था|थी|थे|हुआ|हुई ?है|?हैं $",
	firstPerson: "मैं|हम|हमें|मुझे",
}

// expressions are those of a language that parts no words. Groups are named who and thing.
type expressions struct {
	asking, open, idle, binds, self, done, addressed *regexp.Regexp

	patterns []expression
}

type expression struct {
	kind     Kind
	polarity int
	*regexp.Regexp
}

func (j *expressions) read(said string) (out []Act) {
	if j.asking.MatchString(said) {
		return nil
	}
	open := j.open.MatchString(said)
	for _, p := range j.patterns {
		if open || len(out) > 0 && out[len(out)-1].Kind == p.kind {
			continue
		}
		m := p.FindStringSubmatchIndex(said)
		if m == nil {
			continue
		}
		a := Act{Kind: p.kind, Polarity: p.polarity, Thing: text.Span{Start: m[0], End: m[1]}}
		for k, name := range p.SubexpNames() {
			if name == "" || m[2*k] < 0 {
				continue
			}
			if sp := (text.Span{Start: m[2*k], End: m[2*k+1]}); name == "who" {
				a.Who = sp
			} else {
				a.Thing = sp
			}
		}
		out = append(out, a)
	}
	return out
}

// joined are the languages that part no words.
var joined = map[string]*expressions{"zh": chinese, "ja": japanese}

var chinese = &expressions{
	asking:    regexp.MustCompile(`[？?吗呢]\s*$|[？?吗呢][。？?]\s*$|谁|什么时候|怎么`),
	open:      regexp.MustCompile(`可能|也许|如果|要是|或许|说不定|可以|希望|听说|他说|她说|的话|应该`),
	idle:      regexp.MustCompile(`谢谢|辛苦|晚安|睡觉|下雨|下雪|没有|不会|不去|不用|觉得|认为|你好`),
	binds:     regexp.MustCompile(`必须|需要|得在|要在|截止|到期|之前|以前|最晚|为止`),
	self:      regexp.MustCompile(`我|咱`),
	done:      regexp.MustCompile(`完了|好了|已经|付了|寄了|发了|买了|打了|完成`),
	addressed: regexp.MustCompile(`你|您`),
	patterns: []expression{
		{Preference, -1, regexp.MustCompile(`我们?(?:很|最|非常)?(?:不喜欢|不爱|讨厌|恨|受不了)(?P<thing>[^，。！,]{2,})`)},
		{Preference, 1, regexp.MustCompile(`我们?(?:很|最|非常|更|特别)?(?:喜欢|爱吃|爱喝|热爱|偏爱)(?P<thing>[^，。！,]{2,})`)},
		{Belief, 1, regexp.MustCompile(`^(?:我认为|我相信|我觉得|在我看来，?)(?P<thing>[^这那他她它我你，。][^，。]{4,})`)},
		{Duty, 0, regexp.MustCompile(`^(?P<thing>[^，。]{2,12}?)(?:现在)?由(?P<who>\p{Han}{2,4}?)(?:来)?(?:负责|管理|处理)`)},
		{Duty, 0, regexp.MustCompile(`^(?P<who>[^我他她你们咱谁，。]{2,4})(?:现在)?负责(?P<thing>[^，。]{2,12})`)},
		{Promise, 0, regexp.MustCompile(`^(?P<thing>[^，。我们]{2,12})我们?来?(?:负责|处理|安排|解决)`)},
		{Promise, 0, regexp.MustCompile(`^我们?(?:会|来|将|负责|保证|答应)(?P<thing>[^，。]{3,16})`)},
		{Change, 0, regexp.MustCompile(`(?:改到|改为|改成|推迟到|提前到|涨到|升到|降到|增加到|减少到)[^，。]{0,6}[\p{Nd}一二三四五六七八九十]`)},
	},
}

var japanese = &expressions{
	asking:    regexp.MustCompile(`[？?]\s*$|か[。？?]?\s*$`),
	open:      regexp.MustCompile(`かもしれ|たら|もし|[^け]れば|たぶん|多分|おそらく|でしょう|ようだ|そうです|と言|らしい|ほしい|たいです|ましょう`),
	idle:      regexp.MustCompile(`ありがとう|おやすみ|よろしく|雨|雪|お疲れ|[^り]ません。?$|ませんでした|ないです|思います|寝ます`),
	binds:     regexp.MustCompile(`までに|なければ|必要があ|締め切り|期限|ください`),
	self:      regexp.MustCompile(`私|僕|俺|わたし|ます。?$|なければなりません。?$|必要があります。?$`),
	done:      regexp.MustCompile(`ました|済み|完了`),
	addressed: regexp.MustCompile(`あなた|お元気|いかが`),
	patterns: []expression{
		{Preference, -1, regexp.MustCompile(`^(?:私は)?(?P<thing>[^、。]{2,}?)(?:が|は)(?:大嫌い|嫌い|苦手)(?:です|だ)?。?$`)},
		{Preference, 1, regexp.MustCompile(`^(?:私は)?(?P<thing>[^、。]{2,}?)(?:が|は)(?:大好き|好き)(?:です|だ)?。?$`)},
		{Belief, 1, regexp.MustCompile(`^(?:私は)?(?P<thing>[^これそあ、。][^、。]{6,}?)(?:だ)?と(?:思います|考えています|信じています)。?$`)},
		{Duty, 0, regexp.MustCompile(`^(?P<thing>[^、。]{1,12}?)の担当は(?P<who>[^私、。]{1,8}?)(?:さん|様|先生)?です`)},
		{Duty, 0, regexp.MustCompile(`^(?P<thing>[^、。]{1,12}?)は(?P<who>[^私、。]{1,8}?)(?:さん|様|先生)?が担当`)},
		{Promise, 0, regexp.MustCompile(`^(?P<thing>[^、。]{2,16}?)(?:は|を)?(?:私|僕|俺|わたし)(?:たち)?が[^、。]{0,6}?(?:します|やります|行きます)`)},
		{Promise, 0, regexp.MustCompile(`^(?:私|僕|俺|わたし)(?:たち)?(?:が|は)(?P<thing>[^、。]{2,16}?)(?:ておきます|やります|担当します)`)},
		{Change, 0, regexp.MustCompile(`に(?:変更になりました|変わりました|変更しました|変更されました|延期になりました|` +
			`延期されました|上がりました|下がりました|値上げ)`)},
	},
}

// pairs are the characters of words, two and two: what a text without spaces is about.
func pairs(said string) (out []string) {
	var run []rune
	for _, r := range said + " " {
		if unicode.In(r, unicode.Han, unicode.Katakana) || r == 'ー' {
			run = append(run, r)
			continue
		}
		if len(run) == 1 && !strings.ContainsRune("年月日時时分円元点", run[0]) {
			out = append(out, string(run))
		}
		for i := 1; i < len(run); i++ {
			out = append(out, string(run[i-1:i+1]))
		}
		run = run[:0]
	}
	return out
}
