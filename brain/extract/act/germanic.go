package act

import "orgmem/brain/text"

var german = table{
	verbs: "danke bitte hallo früher gestern ab bis wegen für um haben bin ist sind kommt geht",
	lang:  text.German,
	promises: `
		ich|wir werde|werden <deed>
		werde|werden ich|wir <deed>
		ich|wir kümmere|kümmern mich|uns ~ um <thing>
		kümmere|kümmern ich|wir mich|uns ~ um <thing>
		um <thing> kümmere|kümmern ich|wir mich|uns
		ich|wir verspreche|versprechen|verspreche ?, <deed>
		ich|wir verspreche|versprechen ~ , <deed>
		ich|wir übernehme|übernehmen|erledige|erledigen|besorge|besorgen|organisiere|organisieren <thing>
		^ ich schicke|bringe|kaufe|bestelle|repariere|buche|schreibe|hole|kläre|überweise|prüfe|putze|\
			streiche <thing>
		^ ich bereite|räume|frage|rufe|melde|backe|koche|suche|frage|leihe|sage|gebe ~ <thing> ab|an|auf|\
			aus|mit|nach|um|vor|zurück|zu|bescheid|durch
		^ wir schicken|bringen|kaufen|bestellen|reparieren|buchen|schreiben|holen|klären|überweisen|\
			prüfen|streichen <thing>`,
	duties: `
		<who> ist|sind ?jetzt|?nun|?künftig ?ab ?sofort für <thing> zuständig|verantwortlich
		für <thing> ist|sind ~ <who> zuständig|verantwortlich
		zuständig|verantwortlich für <thing> ist|sind ~ <who> $
		<who> kümmert|kümmern sich ~ um <thing>
		um <thing> kümmert|kümmern sich ~ <who> $
		<who> übernimmt|übernehmen ~ <thing>
		<thing> übernimmt|übernehmen ~ <who> $
		<who> leitet|betreut|verwaltet <thing>
		ich bin ~ für <thing> zuständig|verantwortlich`,
	likes: `
		ich|wir mag|mögen|liebe|lieben|bevorzuge|bevorzugen ! <thing>
		ich|wir -e|-en lieber <thing>
		ich|wir -e|-en am liebsten <thing>
		ich|wir -e|-en ?sehr ! gern|gerne <thing>
		<thing> mag|liebe ich ! $
		mir|uns gefällt|gefallen|schmeckt|schmecken ! <thing>`,
	dislikes: `
		ich|wir hasse|hassen|verabscheue|verabscheuen <thing>
		ich|wir kann|können <thing> nicht leiden|ausstehen`,
	beliefs: `
		ich bin ~ überzeugt ?, dass <rest>
		ich glaube|finde|denke|meine ?, dass <rest>
		meiner meinung|ansicht nach <rest>
		ich finde <thing> gut|schlecht|wichtig|falsch|richtig|besser|zu`,
	instead: `
		statt|anstatt|anstelle
		nicht mehr`,
	not: "nicht nie niemals kein keine keinen keinem keiner niemand nichts",
	hedges: "vielleicht wenn falls eventuell möglicherweise wahrscheinlich vermutlich könnte könnten würde " +
		"würden wäre wären " +
		"hätte hätten dürfte sollte sollten ob hoffentlich irgendwann sofern wohl müsste müssten möchte möchten",
	reports: "sagte sagten meinte behauptet behauptete gesagt gemeint erzählt",
	asking:  "wer wie was wann wo warum welche welcher welches wieso",
	pronouns: "ich du er sie es wir ihr mich dich sich uns euch ihn ihm ihnen das dies dies dir mir man " +
		"jemand alles so etwas " +
		"was darum daran damit davon dazu",
	selves: "ich wir",
	habits: "immer oft meistens jeden jede jedes täglich normalerweise gewöhnlich nie manchmal gern gerne lieber " +
		"wieder_mal üblicherweise",
	idle:     "schlafen regnen regnet schneien schneit freue freuen hoffe hoffen melde glaube denke fühle müde krank",
	musings:  "sein haben bin sehen fühlen warten versuchen überlegen denken bleiben schauen",
	past:     "mochte mochten liebte hasste war waren früher damals hatte wurde wurden",
	very:     "sehr besonders wirklich total am",
	openers:  "dann also und aber gut ok okay ja heute morgen",
	articles: "der die das unser unsere mein meine euer eure",
	small: "neu alt gut noch schon mal auch nur sehr eine einen einem einer eines dieses diese diesen " +
		"wieder jetzt dann",
	must: "muss müssen fällig spätestens frist abgabetermin deadline endet enden läuft braucht brauchen " +
		"bitte soll sollen " +
		"verfällt kündigen",
	done: "erledigt fertig geschickt verschickt abgeschickt gesendet bezahlt überwiesen abgegeben " +
		"eingereicht gekauft bestellt " +
		"repariert gestrichen gereinigt angerufen gebucht unterschrieben abgesagt geliefert abgeholt " +
		"zurückgebracht " +
		"aufgeräumt geputzt angemeldet beantwortet gebracht gemacht",
	wishes:    "möchte möchten will wollen vorschlag vorschlagen empfehle besser hoffe wünsche bitte sollen soll",
	holding:   "glaube denke meine finde hoffe fürchte",
	expected:  "wird werden heute morgen klappt reicht passt",
	addressed: "du dir dich euch ihr dein deine ihnen",
	moved: "verschoben verlegt vorverlegt verlängert erhöht gesenkt geändert umgestellt umbenannt steigt " +
		"steigen sinkt sinken " +
		"wechselt verschiebt gestiegen gesunken gekürzt angehoben",
	to: "auf nach bis",
	days: "montag dienstag mittwoch donnerstag freitag samstag sonntag montags dienstags mittwochs " +
		"donnerstags freitags " +
		"samstags sonntags",
}

var dutch = table{
	verbs: "bedankt hallo gisteren vanaf tot sinds voor vroeger komt gaat heb hebben graag vandaag",
	lang:  text.Dutch,
	promises: `
		ik|we|wij zal|zullen|ga|gaan <deed>
		zal|ga|zullen|gaan ik|we|wij <deed>
		ik|we|wij beloof|beloven ~ dat|om <deed>
		ik|we|wij zorg|zorgen ~ voor <thing>
		ik|we|wij zorg|zorgen ?ervoor dat <deed>
		^ ik|we|wij regel|regelen|stuur|sturen|koop|kopen|bestel|bestellen|repareer|boek|schrijf|haal|\
			betaal|controleer|neem|verf <thing>
		^ ik breng|bel|ruim|zoek|vraag|geef ~ <thing> mee|terug|op|uit|na|door`,
	duties: `
		<who> is|zijn ?nu|?voortaan verantwoordelijk voor <thing>
		voor <thing> is|zijn ~ <who> verantwoordelijk
		verantwoordelijk voor <thing> is|zijn ~ <who> $
		<who> zorgt|zorgen ~ voor <thing>
		voor <thing> zorgt|zorgen ~ <who> $
		<who> doet|regelt|beheert|leidt|coördineert ?voortaan|?nu|?altijd <thing>
		<who> neemt <thing> op zich|over
		<thing> wordt ~ geregeld|gedaan door <who> $
		ik ben verantwoordelijk voor <thing>`,
	likes: `
		ik|we|wij hou|houd|houden ?heel ?veel ! van <thing>
		ik -t|drink|lees|werk|ga|doe|kook|speel het liefst <thing>
		ik vind <thing> ! lekker|leuk|fijn|mooi|heerlijk
		ik|we|wij heb|hebben|drink|eet|werk|ga|lees|reis|kies|doe|werken|eten|drinken liever <thing>
		ik|we|wij drink|eet|werk|lees|ga|doe|kook|speel ! graag <thing>
		mijn favoriete <thing>`,
	dislikes: `
		ik|we|wij haat|haten <thing>
		ik heb een hekel aan <thing>
		ik vind <thing> vervelend|vies|vreselijk|saai`,
	beliefs: `
		ik ben ~ overtuigd dat <rest>
		ik geloof|denk|vind dat <rest>
		volgens mij <rest>
		naar mijn mening <rest>`,
	instead: `
		in plaats van
		niet meer`,
	not: "niet nooit geen niemand niets",
	hedges: "misschien als indien zou zouden wellicht waarschijnlijk mogelijk hopelijk ooit of kunnen kon " +
		"mocht wou " +
		"willen zodra",
	reports: "zei zeiden beweert beweerde gezegd vertelde",
	asking:  "wie wat waar wanneer waarom hoe welke welk",
	pronouns: "ik jij je u hij zij ze het we wij jullie mij me jou hem haar ons hen dat dit die er iets " +
		"alles zo wat daar " +
		"ervoor eraan",
	selves:   "ik we wij",
	habits:   "altijd vaak meestal elke elk iedere dagelijks normaal nooit soms graag liever telkens",
	idle:     "slapen regenen regent sneeuwen sneeuwt hoop verheug zin laat weten geloof denk moe ziek",
	musings:  "zijn hebben ben zien voelen wachten proberen denken blijven kijken",
	past:     "hield hielden was waren vroeger had werd werden toen",
	very:     "heel erg echt vooral zeer veel",
	openers:  "dan dus en maar goed oké ja vandaag",
	articles: "de het onze ons mijn jullie",
	small:    "een nog al ook maar heel nieuw weer nu dan deze dit die wel nooit opnieuw",
	must: "moet moeten uiterlijk deadline vervalt eindigt sluit sluiten verloopt nodig dienen inleveren " +
		"opzeggen",
	done: "klaar gedaan verstuurd gestuurd verzonden betaald ingeleverd gekocht besteld gerepareerd " +
		"geverfd schoongemaakt " +
		"gebeld geboekt getekend afgezegd geleverd opgehaald teruggebracht opgeruimd geregeld aangemeld beantwoord",
	wishes:    "wil willen zou zouden voorstel graag hoop liever wens",
	holding:   "geloof denk vind hoop vrees",
	expected:  "zal zullen gaat gaan vandaag morgen lukt wordt",
	addressed: "je jij jou jullie u jouw",
	moved: "verplaatst verschoven verzet uitgesteld verlengd verhoogd verlaagd gewijzigd hernoemd stijgt " +
		"stijgen daalt dalen " +
		"gaat gestegen gedaald",
	to: "naar tot op",
	days: "maandag dinsdag woensdag donderdag vrijdag zaterdag zondag maandags dinsdags woensdags " +
		"donderdags vrijdags " +
		"zaterdags zondags",
}
