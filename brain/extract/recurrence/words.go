package recurrence

var englishWords = tables{
	english: true,
	every:   "every each every_single", skipping: "alternate", other: "other",
	numbers:  "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve",
	ordinals: "first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth", last: "last",
	days:        "monday|tuesday|wednesday|thursday|friday|saturday|sunday",
	abbreviated: "mon|tue tues|wed|thu thur thurs|fri|sat|sun",
	plurals:     "mondays|tuesdays|wednesdays|thursdays|fridays|saturdays|sundays",
	months: "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|" +
		"october oct|november nov|december dec",
	units: "hour hours|day days|week weeks|fortnight fortnights|month months|quarter quarters|" +
		"half-year half-years half_year|year years|",
	adverbs: "hourly|daily nightly|weekly|fortnightly biweekly bi-weekly|monthly|quarterly three-monthly|" +
		"half-yearly semi-annually semiannually six-monthly|yearly annually annual|biennially biennial",
	working:  "weekday workday working_day business_day weeknight school_day school_night",
	workings: "weekdays workdays working_days business_days weeknights school_days school_nights",
	weekend:  "weekend", weekends: "weekends",
	yearly: "spring summer autumn winter christmas easter ramadan halloween thanksgiving",
	counts: "once|twice|thrice", times: "times time x", per: "a an per every each", of: "of in",
	on: "on the in of at during", at: "at around about from", beside: "by before after until till", from: "from between",
	to: "to until till through", and: "and or", except: "except excluding but_not apart_from other_than",
	parts: "morning lunchtime", afternoons: "afternoon evening night",
	partsPlural: "mornings afternoons evenings nights lunchtimes", hours: "o'clock o’clock", noon: "noon midday",
	midnight: "midnight", edges: "start beginning middle", ends: "end",
	negations: "not never n't n’t nor cannot no_longer used_to instead rather_than",
	bindings:  "since until till before after next last this by both these those past following previous coming",
	dayWords:  "day days",
}

var germanWords = tables{
	every: "jeden jede jedes jeder jedem", counted: "alle aller", other: "anderen",
	compounds: true,
	numbers: "ein eine einen eins einer|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|dreizehn|" +
		"vierzehn",
	ordinals: "ersten erste erster erstes|zweiten zweite zweiter zweites|dritten dritte dritter drittes|" +
		"vierten vierte vierter viertes|fünften fünfte fünfter fünftes", last: "letzten letzte letzter letztes",
	days:    "montag|dienstag|mittwoch|donnerstag|freitag|samstag sonnabend|sonntag",
	plurals: "montags|dienstags|mittwochs|donnerstags|freitags|samstags sonnabends|sonntags",
	months: "januar jänner|februar|märz|april|mai|juni|juli|august|september|oktober|november|" +
		"dezember",
	units: "stunde stunden|tag tage tagen|woche wochen||monat monats monate monaten|quartal quartals quartale|" +
		"halbjahr|jahr jahres jahre jahren|",
	adverbs: "stündlich|täglich nächtlich|wöchentlich|zweiwöchentlich vierzehntägig 14-tägig|monatlich|" +
		"vierteljährlich quartalsweise|halbjährlich|jährlich alljährlich|",
	working: "werktag arbeitstag wochentag", workings: "werktags werktagen werktage wochentags",
	weekend: "wochenende", weekends: "wochenenden",
	yearly: "frühling frühjahr sommer herbst winter ostern weihnachten",
	counts: "einmal|zweimal|dreimal|viermal|fünfmal|sechsmal", times: "mal x", per: "pro im die am je in_der jede jeden",
	of: "im des in der", on: "am an um im in den der das zum", at: "um ab gegen", from: "von zwischen", to: "bis",
	and: "und oder sowie", except: "außer ausser", parts: "morgen früh vormittag mittag",
	afternoons: "nachmittag abend nacht", partsPlural: "morgens vormittags mittags nachmittags abends nachts",
	hours: "uhr", midnight: "mitternacht", edges: "anfang beginn mitte", ends: "ende",
	negations: "nicht nie kein keine keinen statt", bindings: "seit bis vor nach nächsten letzten diesen kommenden ab",
}

var frenchWords = tables{
	romance: true,
	every:   "chaque tous_les toutes_les", other: "autre",
	numbers:  "un une|deux|trois|quatre|cinq|six|sept|huit|neuf|dix|onze|douze|treize|quatorze|quinze",
	ordinals: "premier première premiers premières|deuxième second seconde|troisième|quatrième|cinquième",
	last:     "dernier dernière derniers", days: "lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche",
	plurals: "lundis|mardis|mercredis|jeudis|vendredis|samedis|dimanches",
	months: "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|" +
		"décembre",
	units: "heure heures|jour jours|semaine semaines|quinzaine|mois|trimestre trimestres|semestre semestres|" +
		"an ans année années|",
	adverbs: "|quotidiennement|hebdomadairement hebdomadaire|bimensuel|mensuellement mensuel mensuelle|" +
		"trimestriellement trimestriel|semestriellement semestriel|annuellement annuel annuelle|biennal",
	working: "jour_ouvrable jour_ouvré", workings: "jours_ouvrables jours_ouvrés", weekend: "week-end weekend",
	weekends: "week-ends weekends", yearly: "printemps été automne hiver noël pâques", times: "fois", per: "par",
	of: "du de des d", on: "le la les au aux à en l", at: "à vers dès", from: "de du entre", to: "à au jusqu'à",
	and: "et ou", except: "sauf excepté hormis", parts: "matin midi", afternoons: "après-midi soir nuit",
	partsPlural: "matins soirs nuits", hours: "heures heure h", noon: "midi", midnight: "minuit",
	edges: "début milieu", ends: "fin", negations: "pas jamais ni", dayWords: "jour",
	bindings: "depuis avant après prochain ce",
}

var spanishWords = tables{
	romance: true,
	every:   "cada todos_los todas_las",
	numbers: "un una uno|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce|trece|catorce|quince",
	ordinals: "primer primero primera|segundo segunda|tercer tercero tercera|cuarto cuarta|" +
		"quinto quinta", last: "último última últimos",
	days:    "lunes|martes|miércoles|jueves|viernes|sábado|domingo",
	plurals: "los_lunes|los_martes|los_miércoles|los_jueves|los_viernes|sábados los_sábados|domingos los_domingos",
	months: "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre setiembre|octubre|" +
		"noviembre|diciembre",
	units: "hora horas|día días|semana semanas|quincena|mes meses|trimestre trimestres|semestre semestres|año años|",
	adverbs: "|diariamente|semanalmente semanal|quincenalmente quincenal|mensualmente mensual|" +
		"trimestralmente trimestral|semestralmente semestral|anualmente anual|bienal",
	working: "día_laborable día_hábil", workings: "días_laborables días_hábiles", weekend: "fin_de_semana",
	weekends: "fines_de_semana", yearly: "primavera verano otoño invierno navidad",
	times: "veces vez", per: "al a_la por", of: "de del", on: "el la los las en a por",
	at: "a_las a_la sobre_las desde_las", from: "de de_las desde_las entre_las del", to: "a al a_las hasta_las",
	and: "y e o", except: "excepto salvo menos", parts: "mañana mediodía", afternoons: "tarde noche",
	partsPlural: "mañanas tardes noches", hours: "horas h", noon: "mediodía", midnight: "medianoche",
	edges: "principio comienzo mediados", ends: "final finales fin", negations: "no nunca ni",
	bindings: "desde hasta antes próximo este pasado", dayWords: "día",
}

var italianWords = tables{
	romance: true,
	every:   "ogni tutti_i tutte_le tutti_gli ciascun",
	numbers: "un uno una|due|tre|quattro|cinque|sei|sette|otto|nove|dieci|undici|dodici|tredici|quattordici|" +
		"quindici",
	ordinals: "primo prima|secondo seconda|terzo terza|quarto quarta|quinto quinta", last: "ultimo ultima",
	days:    "lunedì lunedi|martedì martedi|mercoledì mercoledi|giovedì giovedi|venerdì venerdi|sabato|domenica",
	plurals: "|||||sabati|domeniche",
	months: "gennaio|febbraio|marzo|aprile|maggio|giugno|luglio|agosto|settembre|ottobre|novembre|" +
		"dicembre",
	units: "ora ore|giorno giorni|settimana settimane|quindicina|mese mesi|trimestre trimestri|semestre semestri|" +
		"anno anni|",
	adverbs: "|quotidianamente giornalmente|settimanalmente settimanale|quindicinale|mensilmente mensile|" +
		"trimestralmente trimestrale|semestralmente semestrale|annualmente annuale|biennale",
	working: "giorno_feriale giorno_lavorativo", workings: "giorni_feriali giorni_lavorativi",
	weekend: "fine_settimana weekend", weekends: "",
	yearly: "primavera estate autunno inverno natale", times: "volte volta", per: "a al alla all per",
	of: "del di della", on: "il la lo i le l in al alla del di a nel nella", at: "alle all verso_le",
	from: "dalle dal dall fra",
	to:   "alle al all", and: "e ed o", except: "tranne eccetto salvo", parts: "mattina mattino",
	afternoons: "pomeriggio sera notte", partsPlural: "mattine sere", hours: "ore", noon: "mezzogiorno",
	midnight: "mezzanotte", edges: "inizio metà", ends: "fine", negations: "non mai né",
	bindings: "da fino prossimo scorso questo", dayWords: "giorno",
}

var portugueseWords = tables{
	romance:  true,
	skipping: "de_duas_em_duas de_dois_em_dois", every: "cada todo toda todos_os todas_as todo_o toda_a",
	numbers:  "um uma|dois duas|três|quatro|cinco|seis|sete|oito|nove|dez|onze|doze|treze|quatorze catorze|quinze",
	ordinals: "primeiro primeira|segundo segunda|terceiro terceira|quarto quarta|quinto quinta",
	last:     "último última",
	days: "segunda segunda-feira|terça terça-feira|quarta quarta-feira|quinta quinta-feira|sexta sexta-feira|" +
		"sábado|domingo",
	plurals: "segundas segundas-feiras|terças terças-feiras|quartas quartas-feiras|quintas quintas-feiras|" +
		"sextas sextas-feiras|sábados|domingos",
	months: "janeiro|fevereiro|março|abril|maio|junho|julho|agosto|setembro|outubro|novembro|" +
		"dezembro",
	units: "hora horas|dia dias|semana semanas|quinzena|mês meses|trimestre trimestres|semestre semestres|ano anos|",
	adverbs: "|diariamente|semanalmente semanal|quinzenalmente quinzenal|mensalmente mensal|" +
		"trimestralmente trimestral|semestralmente semestral|anualmente anual|bienal",
	working: "dia_útil", workings: "dias_úteis", weekend: "fim_de_semana fim-de-semana",
	weekends: "fins_de_semana fins-de-semana", yearly: "primavera verão outono inverno natal", times: "vezes vez",
	per: "por ao à a", of: "do de da", on: "o a os as no na nos nas em ao aos à às de", at: "às à pelas",
	from: "das de entre_as da",
	to:   "às a até_às", and: "e ou", except: "exceto salvo menos", parts: "manhã", afternoons: "tarde noite",
	partsPlural: "manhãs tardes noites", hours: "horas h", noon: "meio-dia", midnight: "meia-noite",
	edges: "início começo meados", ends: "fim final", negations: "não nunca nem",
	bindings: "desde até antes próxima próximo",
	dayWords: "dia",
}

var dutchWords = tables{
	every: "elke elk iedere ieder", skipping: "om_de", other: "andere",
	compounds: true, numbers: "één een|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf|dertien|veertien",
	ordinals: "eerste|tweede|derde|vierde|vijfde", last: "laatste",
	days: "maandag|dinsdag|woensdag|donderdag|vrijdag|zaterdag|zondag",
	plurals: "maandags maandagen|dinsdags dinsdagen|woensdags woensdagen|donderdags donderdagen|" +
		"vrijdags vrijdagen|zaterdags zaterdagen|zondags zondagen",
	months: "januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|" +
		"december",
	units: "uur uren|dag dagen|week weken||maand maanden|kwartaal kwartalen|halfjaar|jaar jaren|",
	adverbs: "|dagelijks|wekelijks wekelijkse|tweewekelijks veertiendaags|maandelijks maandelijkse|driemaandelijks|" +
		"halfjaarlijks|jaarlijks jaarlijkse|tweejaarlijks",
	working: "werkdag doordeweekse_dag", workings: "werkdagen doordeweeks", weekend: "weekend",
	weekends: "weekenden weekends", yearly: "lente zomer herfst winter kerst pasen",
	counts: "eenmaal|tweemaal|driemaal|viermaal", times: "keer maal x",
	per: "per", of: "van in", on: "op de het in van", at: "om rond vanaf", from: "van tussen", to: "tot tot_en_met t_/_m",
	and: "en of", except: "behalve uitgezonderd", parts: "ochtend middag", afternoons: "namiddag avond nacht",
	partsPlural: "ochtends middags avonds nachts ochtenden middagen avonden", hours: "uur",
	midnight: "middernacht",
	edges:    "begin", ends: "einde eind", negations: "niet nooit geen", bindings: "sinds vóór na volgende vorige deze",
}
