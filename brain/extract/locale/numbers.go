package locale

import "strings"

// spell gives the numbers from 13 to 100 that a language forms of smaller ones, and those that it has words for.
func spell(code string, add func(phrase string, n int)) {
	tens := func(list string) []string { return strings.Fields(list) }
	from := func(first int, list string) {
		for i, w := range strings.Fields(list) {
			add(w, first+i)
		}
	}
	switch code {
	case "de":
		from(13, "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn")
		units := tens("ein zwei drei vier fünf sechs sieben acht neun")
		for i, t := range tens("zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig") {
			add(t, 20+10*i)
			for k, u := range units {
				add(u+"und"+t, 21+10*i+k)
			}
		}
		add("hundert", 100)
	case "nl":
		from(13, "dertien veertien vijftien zestien zeventien achttien negentien")
		units := tens("een twee drie vier vijf zes zeven acht negen")
		for i, t := range tens("twintig dertig veertig vijftig zestig zeventig tachtig negentig") {
			add(t, 20+10*i)
			for k, u := range units {
				and := "en"
				if strings.HasSuffix(u, "e") {
					and = "ën" // tweeëntwintig
				}
				add(u+and+t, 21+10*i+k)
			}
		}
		add("honderd", 100)
	case "fr":
		spellFrench(add)
	case "es":
		for i, u := range tens("uno dós trés cuatro cinco séis siete ocho nueve") {
			add("veinti"+u, 21+i)
		}
		for i, t := range tens("treinta cuarenta cincuenta sesenta setenta ochenta noventa") {
			add(t, 30+10*i)
			for k, u := range tens("uno dos tres cuatro cinco seis siete ocho nueve") {
				add(t+"_y_"+u, 31+10*i+k)
			}
		}
		add("cien", 100)
	case "it":
		units := tens("uno due tre quattro cinque sei sette otto nove")
		for i, t := range tens("venti trenta quaranta cinquanta sessanta settanta ottanta novanta") {
			add(t, 20+10*i)
			for k, u := range units {
				stem := t
				if u == "uno" || u == "otto" {
					stem = t[:len(t)-1] // ventuno, ventotto
				}
				add(stem+u, 21+10*i+k)
			}
			add(t+"tré", 23+10*i)
		}
		add("cento", 100)
	case "pt":
		for i, t := range tens("vinte trinta quarenta cinquenta sessenta setenta oitenta noventa") {
			add(t, 20+10*i)
			for k, u := range tens("um dois três quatro cinco seis sete oito nove") {
				add(t+"_e_"+u, 21+10*i+k)
			}
		}
		add("cem", 100)
	}
}

// spellFrench counts by scores from sixty on: soixante-dix, quatre-vingt-dix.
func spellFrench(add func(phrase string, n int)) {
	small := strings.Fields(`un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
		dix_sept dix_huit dix_neuf`)
	for i, u := range small[16:] {
		add(u, 17+i)
	}
	for i, t := range strings.Fields("vingt trente quarantine cinquante soixante") {
		n, most := 20+10*i, 9
		if n == 60 {
			most = 19
		}
		add(t, n)
		for k, u := range small[:most] {
			if k == 0 || k == 10 {
				u = "et_" + u
			}
			add(t+"_"+u, n+1+k)
		}
	}
	add("quatre_vingts", 80)
	add("quatre_vingt", 80)
	for k, u := range small {
		add("quatre_vingt_"+u, 81+k)
	}
	add("cent", 100)
}
