package locale

// edgeTable are the words of one language for the edges of a time, in lists like those of [table].
type edgeTable struct {
	// past and coming are verbs that say on which side of today something is.
	past, coming string
	// early says that a time of day is before noon, midday is noon itself.
	early, midday string
	// onBehind stands behind a month that is a time, untilBehind behind the last day, inBehind behind how long something
	// is ahead, where a language has such words behind and not before.
	onBehind, untilBehind, inBehind string
	// ends stands before a month of which the last day is meant, begins before one that is meant as a whole, between
	// before two days that and joins, tooLate before a day that is too late.
	ends, begins, between, and, tooLate string
	// duals are two of each unit, in the order of units.
	duals string
}

// edges is what [edgeTable] lists, by the words.
type edges struct {
	past, coming, early, midday, onBehind, untilBehind, inBehind, ends, begins, between, and, tooLate map[string]bool

	duals map[string]int
}

var edgeTables = map[string]edgeTable{
	"de": {
		past: "war waren wurde wurden hatte hatten gab kam kamen ging fand", coming: "wird werden soll sollen kommt",
		early: "morgens vormittags früh am_morgen am_vormittag", midday: "mittags um_zwölf_uhr_mittags", ends: "ende",
		begins: "anfang mitte", between: "zwischen", and: "und", tooLate: "vor",
	},
	"fr": {
		past: "était étaient avait avaient fut", coming: "sera seront va vont aura aurons", early: "du_matin",
		midday: "midi à_midi", ends: "fin la_fin", begins: "début mi la_mi", between: "entre", and: "et",
		tooLate: "avant",
	},
	"es": {
		past:   "fue fueron era eran estaba había hubo trajo dijo hizo vino puso tuvo",
		coming: "será serán va van irá habrá", early: "de_la_mañana",
		midday: "mediodía al_mediodía", ends: "finales final fines fin a_finales",
		begins: "principios mediados comienzos", between: "entre", and: "y", tooLate: "antes_del antes_de",
	},
	"it": {
		past: "era erano è_stato è_stata aveva fu furono", coming: "sarà saranno avrà andrà",
		early: "di_mattina del_mattino", midday: "mezzogiorno a_mezzogiorno", ends: "fine la_fine",
		begins: "inizio metà", between: "tra fra", and: "e", tooLate: "prima_di prima_del prima_dell",
	},
	"pt": {
		past:   "foi foram era eram estava havia houve trouxe disse fez veio teve deu",
		coming: "será serão vai vão haverá", early: "da_manhã",
		midday: "meio_dia ao_meio_dia", ends: "fim final finais o_fim", begins: "início começo meados",
		between: "entre", and: "e", tooLate: "antes_de antes_do antes_da",
	},
	"nl": {
		past: "was waren had hadden werd werden", coming: "zal zullen gaat wordt", early: "s_ochtends s_morgens",
		ends: "eind einde het_einde", begins: "begin half medio", between: "tussen", and: "en", tooLate: "voor vóór",
	},
	"pl": {
		past: "był była było były", coming: "będzie będą", early: "rano", midday: "w_południe",
		ends: "końca koniec końcu", begins: "początku połowie", between: "między", and: "a i", tooLate: "przed",
	},
	"ar": {
		past: "كان كانت كنا كنت وصل وصلت وصلنا ذهب ذهبت ذهبنا اتصل اتصلت دفع دفعت دفعنا وقع وقعت وقعنا اشترى اشترت " +
			"اشتريت اشترينا تحدثت تحدثنا قابلت قابلنا زرنا زرت تم تمت حدث حدثت غيرنا جاء جاءت",
		early: "صباحا صباحًا", ends: "نهاية", tooLate: "قبل", duals: "يومين|أسبوعين|شهرين|سنتين عامين",
	},
	"hi": {
		past: "था थी थे थीं हुआ हुई हुए गया गई गए आया आई आए किया दिया मिला", coming: "होगा होगी होंगे", early: "सुबह",
		onBehind: "में को", untilBehind: "तक", inBehind: "बाद",
	},
}
