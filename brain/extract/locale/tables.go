package locale

import (
	"maps"
	"strings"

	"orgmem/brain/text"
)

// table are the words of one language. In lists "|" parts what is counted from one on, and a word with "_" is a phrase.
// Apostrophes and hyphens part words: "aujourd'hui" is "aujourd_hui".
type table struct {
	lang text.Lang
	// code tells languages apart that have no [text.Lang] of their own.
	code string
	// numbers are what is spelled out, from one on.
	numbers string
	// months and days from January and Monday on; short are months that are written with few letters, which are words in
	// other languages, and count where the language is known.
	months, short, days string
	// shifts are days by today: the day before yesterday, yesterday, today, tomorrow, the day after it.
	shifts string
	// units of time: day, week, month, year. lastBefore and the like stand before or behind them: last, this, next.
	units, before, behind string
	// agoBefore stands before how long something is past, agoBehind behind it; in stands before how long it is ahead.
	agoBefore, agoBehind, in string
	// of stands between day, month and year, art before a day, to between the ends of a range, since and until before
	// what has one end.
	of, art, to, since, until string
	// at stands before a time of day, hour behind it, late says that it is after noon. halfTo stands before the hour that
	// is half an hour ahead, halfPast behind the hour that is half an hour past.
	at, hour, late, halfTo, halfPast string
	// on stands before a day of the week or a month that is a time.
	on string
	// own are words by which a language is known beside the function words of its [text.Lang].
	own string
}

var tables = []table{
	{
		lang: text.German, code: "de",
		own:     "kostet dauert beginnt endet gilt liegt beträgt gibt findet bleibt unser unsere ist hat sind",
		numbers: "ein eins eine einem einer einen|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf",
		months: "januar jänner|februar feber|märz maerz|april|mai|juni|juli|august|september|oktober|november|" +
			"dezember",
		short:  "jan|feb|mär|apr||jun|jul|aug|sep sept|okt|nov|dez",
		days:   "montag|dienstag|mittwoch|donnerstag|freitag|samstag sonnabend|sonntag",
		shifts: "vorgestern|gestern|heute heute_morgen heute_abend heute_früh heute_nachmittag|morgen|übermorgen",
		units:  "tag tage tagen|woche wochen|monat monate monaten monats|jahr jahre jahren jahres",
		before: "letzte letzten letztes letzter letztem vergangene vergangenen vergangenes vorige voriger vorigen voriges|" +
			"diese diesen dieses dieser diesem|nächste nächsten nächstes nächster nächstem kommende kommenden kommendes",
		agoBefore: "vor", in: "in", art: "der den dem", to: "bis bis_zum", since: "seit seit_dem ab ab_dem",
		until: "bis bis_zum", at: "um gegen ab bis", hour: "uhr", late: "nachmittags abends am_nachmittag am_abend",
		halfTo: "halb", on: "am im an jeden ab seit bis vom zum für anfang mitte ende",
	},
	{
		lang: text.French, code: "fr", own: "coûte dure commence finit reste gère notre nos a est sont lieu",
		numbers: "un une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze|seize",
		months: "janvier|février fevrier|mars|avril|mai|juin|juillet|août aout|septembre|octobre|novembre|" +
			"décembre december",
		short: "janv|févr||avr||||||oct|nov|déc", days: "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
		shifts: "avant_hier|hier hier_soir|aujourd_hui ce_soir ce_matin cet_après_midi|demain demain_matin demain_soir|" +
			"après_demain",
		units: "jour jours|semaine semaines|mois|an ans année années", before: "|ce cet cette|",
		behind: "dernier dernière passé passée||prochain prochaine qui_vient", agoBefore: "il_y_a", in: "dans",
		art: "le l", to: "au à", since: "depuis depuis_le à_partir_du à_partir_de dès_le",
		until: "jusqu_au jusqu_à jusqu_en d_ici d_ici_le d_ici_au d_ici_à",
		at:    "à vers dès à_partir_de", hour: "h heures heure",
		late:     "du_soir de_l_après_midi",
		halfPast: "et_demie", on: "le en ce de du d au dès début fin mi",
	},
	{
		lang: text.Spanish, code: "es", own: "cuesta dura empieza termina tiene queda nuestro nuestra está es son",
		numbers: "un uno una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince|dieciséis|" +
			"diecisiete|dieciocho|diecinueve|veinte",
		months: "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre setiembre|octubre|noviembre|diciembre",
		short:  "ene|feb|mar|abr||jun|jul|ago|sep sept|oct|nov|dic",
		days:   "lunes|martes|miércoles miercoles|jueves|viernes|sábado sabado|domingo",
		shifts: "anteayer antes_de_ayer|ayer anoche|hoy esta_tarde esta_noche esta_mañana|mañana|pasado_mañana",
		units:  "día días|semana semanas|mes meses|año años",
		before: "pasado pasada último última|este esta|próximo próxima", behind: "pasado pasada||próximo próxima que_viene",
		agoBefore: "hace", in: "dentro_de en", of: "de del", art: "el día", to: "al a hasta_el",
		since: "desde desde_el a_partir_del a_partir_de", until: "hasta hasta_el",
		at:   "a_las a_la sobre_las desde_las a_partir_de_las",
		hour: "h horas", late: "de_la_tarde de_la_noche", halfPast: "y_media", on: "el en de este para del a",
	},
	{
		lang: text.Italian, code: "it", own: "costa dura inizia finisce resta nostro nostra ha è sono",
		numbers: "un uno una|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|tredici|quattordici|quindici|" +
			"sedici|diciassette|diciotto|diciannove|venti",
		months: "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|dicembre",
		short:  "gen|feb|mar|apr|mag|giu|lug|ago|set|ott|nov|dic",
		days:   "lunedì lunedi|martedì martedi|mercoledì mercoledi|giovedì giovedi|venerdì venerdi|sabato|domenica",
		shifts: "altro_ieri|ieri ieri_sera|oggi stasera stamattina stanotte|domani domani_mattina domattina domani_sera|" +
			"dopodomani",
		units:  "giorno giorni|settimana settimane|mese mesi|anno anni",
		before: "scorso scorsa|questo questa|prossimo prossima", behind: "scorso scorsa passato passata||prossimo prossima",
		agoBehind: "fa", in: "fra tra", of: "del", art: "il l", to: "al a", since: "da dal dall a_partire_dal",
		until: "fino_al fino_a fino_all entro entro_il entro_l",
		at:    "alle all alle_ore ore dalle a_partire_dalle", hour: "h", late: "del_pomeriggio di_sera",
		halfPast: "e_mezza", on: "il l in di questo a ad entro dal nel per",
	},
	{
		lang: text.Portuguese, code: "pt", own: "custa dura começa termina tem fica nosso nossa está é são",
		numbers: "um uma|dois duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|treze|catorze quatorze|quinze|" +
			"dezesseis dezasseis|dezessete dezassete|dezoito|dezenove dezanove|vinte",
		months: "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|dezembro",
		short:  "jan|fev|mar|abr|mai|jun|jul|ago|set|out|nov|dez",
		days: "segunda_feira na_segunda na_segunda_feira|" +
			"terça_feira na_terça na_terça_feira|" +
			"quarta_feira na_quarta na_quarta_feira|quinta_feira na_quinta na_quinta_feira|" +
			"sexta_feira na_sexta na_sexta_feira|sábado|domingo",
		shifts: "anteontem|ontem|hoje esta_noite|amanhã|depois_de_amanhã",
		units:  "dia dias|semana semanas|mês meses|ano anos", before: "passado passada último última|este esta neste nesta|" +
			"próximo próxima",
		behind: "passado passada||próximo próxima que_vem", agoBefore: "há", in: "daqui_a dentro_de em", of: "de do",
		art: "o dia", to: "a ao até até_o", since: "desde desde_o a_partir_de", until: "até até_o até_ao até_a",
		at: "às as à ao pelas a_partir_das", hour: "h horas hora", late: "da_tarde da_noite", halfPast: "e_meia",
		on: "em na no de nesta este esta a o para do desde até",
	},
	{
		lang: text.Dutch, code: "nl", own: "is kost duurt begint eindigt heeft blijft onze vindt plaats uur we over",
		numbers: "een één|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf",
		months:  "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december",
		short:   "jan|feb|mrt|apr||jun|jul|aug|sep sept|okt|nov|dec",
		days:    "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
		shifts: "eergisteren|gisteren gisteravond|vandaag vanavond vanmiddag vanochtend vanmorgen|" +
			"morgen morgenavond morgenochtend " +
			"morgenmiddag|" +
			"overmorgen",
		units:  "dag dagen|week weken|maand maanden|jaar jaren",
		before: "vorige afgelopen|deze dit|volgende aankomende komende", agoBehind: "geleden", in: "over binnen", art: "de",
		to: "tot tot_en_met t_m", since: "sinds vanaf", until: "tot tot_en_met", at: "om rond vanaf", hour: "uur u",
		late: "s_middags s_avonds", halfTo: "half", on: "op in van tot sinds vanaf begin eind voor",
	},
	{
		code: "pl", numbers: "jeden jedną|dwa dwie|trzy|cztery|pięć|sześć|siedem|osiem|dziewięć|dziesięć|jedenaście|" +
			"dwanaście",
		months: "stycznia styczniu styczeń|lutego lutym luty|marca marcu marzec|kwietnia kwietniu kwiecień|maja maju maj|" +
			"czerwca czerwcu czerwiec|lipca lipcu lipiec|sierpnia sierpniu sierpień|września wrześniu wrzesień|" +
			"października październiku październik|listopada listopadzie listopad|grudnia grudniu grudzień",
		days: "poniedziałek poniedziałku|wtorek wtorku|środę środa środy|czwartek czwartku|piątek piątku|" +
			"sobotę sobota soboty|niedzielę niedziela niedzieli",
		shifts: "przedwczoraj|wczoraj|dziś dzisiaj|jutro|pojutrze",
		units:  "dzień dni|tydzień tygodni tygodnie tygodniu|miesiąc miesiące miesięcy miesiącu miesiąca|rok lata lat roku",
		before: "zeszły zeszłym zeszłego zeszłej zeszłą ostatni ostatnim ubiegły ubiegłym|ten tym tego tej tę|" +
			"przyszły przyszłym przyszłej przyszłą następny następnym następną najbliższy",
		agoBehind: "temu", in: "za", art: "dnia", to: "do", since: "od", until: "do", at: "o o_godz o_godzinie godz",
		on: "w we na do od przed",

		own: "się jest nie dnia w we na do że są jutro wczoraj dziś oraz od po za przez i z został",
	},
	{
		lang: text.Arabic, code: "ar",
		numbers: "واحد|اثنين|ثلاثة ثلاث|أربعة أربع|خمسة خمس|ستة ست|سبعة سبع|ثمانية ثماني|تسعة تسع|عشرة عشر",
		months: "يناير كانون_الثاني|فبراير شباط|مارس آذار|أبريل ابريل نيسان|مايو أيار|يونيو حزيران|يوليو تموز|أغسطس آب|" +
			"سبتمبر أيلول|أكتوبر تشرين_الأول|نوفمبر تشرين_الثاني|ديسمبر كانون_الأول",
		days:   "الاثنين الإثنين|الثلاثاء|الأربعاء|الخميس|الجمعة|السبت|الأحد",
		shifts: "أول_أمس|أمس امس|اليوم|غدا غدًا غداً|بعد_غد", units: "يوم أيام يوما|أسبوع أسابيع الأسبوع|" +
			"شهر أشهر الشهر|سنة سنوات السنة عام العام",
		behind: "الماضي الماضية||القادم القادمة المقبل المقبلة", agoBefore: "قبل", in: "بعد", to: "إلى حتى", since: "منذ",
		until: "حتى", at: "الساعة في_الساعة", on: "يوم في", late: "مساء مساءً",
	},
	{
		code: "hi", numbers: "एक|दो|तीन|चार|पाँच पांच|छह|सात|आठ|नौ|दस|ग्यारह|बारह",
		months: "जनवरी|फरवरी फ़रवरी|मार्च|अप्रैल|मई|जून|जुलाई|अगस्त|सितंबर सितम्बर|अक्टूबर अक्तूबर|नवंबर नवम्बर|" +
			"दिसंबर दिसम्बर",
		days:   "सोमवार|मंगलवार|बुधवार|गुरुवार|शुक्रवार|शनिवार|रविवार",
		shifts: "||आज|कल|परसों", units: "दिन|सप्ताह हफ्ते हफ़्ते हफ्ता|महीने महीना|साल वर्ष",
		before: "पिछले पिछली|इस|अगले अगली", agoBehind: "पहले", hour: "बजे",
		to: "से", late: "शाम दोपहर रात",
	},
}

// build is what [table] lists, by the words.
type words struct {
	*table
	edges

	long                                                                                           map[string]int
	number, month, short, day, shift, unit, before, behind                                         map[string]int
	agoBefore, agoBehind, in, of, art, to, since, until, atWords, hour, late, halfTo, halfPast, on map[string]bool
	own                                                                                            map[string]bool
}

// partsOfDay are those that join the name of a day in one word.
var partsOfDay = map[string][]string{
	"de": {"morgen", "früh", "vormittag", "mittag", "nachmittag", "abend", "nacht"},
	"nl": {"morgen", "ochtend", "middag", "namiddag", "avond", "nacht"},
}

// maxPhrase is how many words a phrase has at most.
const maxPhrase = 4

func build(t *table) *words {
	w := &words{table: t, long: map[string]int{}}
	phrase := func(p string) string {
		p = strings.ReplaceAll(p, "_", " ")
		first, _, _ := strings.Cut(p, " ")
		w.long[first] = max(w.long[first], 1+strings.Count(p, " "))
		return p
	}
	counted := func(lists string) map[string]int {
		m := map[string]int{}
		for i, list := range strings.Split(lists, "|") {
			for p := range strings.FieldsSeq(list) {
				m[phrase(p)] = i + 1
			}
		}
		return m
	}
	set := func(list string) map[string]bool {
		m := map[string]bool{}
		for p := range strings.FieldsSeq(list) {
			m[phrase(p)] = true
		}
		return m
	}
	w.number = counted(t.numbers)
	spell(t.code, func(p string, n int) { w.number[phrase(p)] = n })
	w.month, w.short, w.day, w.shift = counted(t.months), counted(t.short), counted(t.days), counted(t.shifts)
	w.unit, w.before, w.behind = counted(t.units), counted(t.before), counted(t.behind)
	w.agoBefore, w.agoBehind, w.in, w.of, w.art = set(t.agoBefore), set(t.agoBehind), set(t.in), set(t.of), set(t.art)
	w.to, w.since, w.until = set(t.to), set(t.since), set(t.until)
	w.atWords, w.hour, w.late = set(t.at), set(t.hour), set(t.late)
	w.halfTo, w.halfPast, w.on = set(t.halfTo), set(t.halfPast), set(t.on)
	w.own = set(t.own)
	e := edgeTables[t.code]
	w.edges = edges{
		past: set(e.past), coming: set(e.coming), early: set(e.early), midday: set(e.midday), onBehind: set(e.onBehind),
		ends: set(e.ends), begins: set(e.begins), between: set(e.between), and: set(e.and), tooLate: set(e.tooLate),
		untilBehind: set(e.untilBehind), inBehind: set(e.inBehind), duals: counted(e.duals),
	}
	for day, n := range maps.Clone(w.day) {
		for _, part := range partsOfDay[t.code] { // Samstagabend, zaterdagavond
			w.day[day+part] = n
		}
	}
	return w
}

// languages are the words of each table.
var languages = func() (all []*words) {
	for i := range tables {
		all = append(all, build(&tables[i]))
	}
	return all
}()
