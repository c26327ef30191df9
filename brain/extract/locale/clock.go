package locale

const minutesPerHour, noon = 60, 12 * 60

// earliest is a minute of the day. An hour before it, without a word for morning or afternoon, is as likely
// to be one of the afternoon.
const earliest = 7 * minutesPerHour

// clock reads a time of day at token i in minutes, and how many tokens it has: "um 14 Uhr", "à 14 h 30", "a las 3 de la
// tarde", "um halb drei". bare: it may stand without a word before it, behind its date.
func (r *reader) clock(i int, bare bool) (minute, n int) {
	k := i
	at := r.word(r.atWords, k)
	if n := r.word(r.midday, k+at); n > 0 && (at > 0 || bare) {
		return noon, at + n
	}
	if n := r.word(r.midday, k); n > 0 && bare {
		return noon, n
	}
	k += at
	if bare && r.code == "hi" { // को शाम 5 बजे
		k += r.word(r.onBehind, k)
	}
	soon := r.word(r.late, k)
	if r.code != "hi" {
		soon = 0
	}
	morning := 0
	if r.code == "hi" {
		morning = r.word(r.early, k)
	}
	k += soon + morning
	half := r.word(r.halfTo, k)
	k += half
	hour := r.number(k)
	spelled := 1
	if hour < 0 {
		if hour, spelled = r.phrase(r.words.number, k); spelled == 0 {
			return 0, 0
		}
	}
	if hour > 24 || len(r.at(k)) > 2 && r.number(k) >= 0 {
		return 0, 0
	}
	k += spelled
	minute = hour * minutesPerHour
	marked := half > 0
	switch m := r.number(k + 1); {
	case r.at(k) == ":" && m >= 0 && m < minutesPerHour && len(r.at(k+1)) == 2 && r.tight(k-1, k+1),
		r.at(k) == "." && at > 0 && m >= 0 && m < minutesPerHour && len(r.at(k+1)) == 2 && r.tight(k-1, k+1) &&
			r.at(k+2) != ".":
		minute, k, marked = minute+m, k+2, marked || r.at(k) == ":"
		if h := r.word(r.hour, k); h > 0 { // om 8.15 uur
			k, marked = k+h, true
		}
	default:
		if h := r.word(r.hour, k); h > 0 {
			k, marked = k+h, true
			if m := r.number(k); m >= 0 && m < minutesPerHour && len(r.at(k)) == 2 {
				minute, k = minute+m, k+1
			}
		}
	}
	if p := r.word(r.halfPast, k); p > 0 {
		minute, k, marked = minute+minutesPerHour/2, k+p, true
	}
	if half > 0 {
		minute -= minutesPerHour / 2
	}
	told := marked && half == 0 && spelled == 1 && r.number(i+at) >= 0
	if p := r.word(r.late, k); p > 0 || soon > 0 {
		if k, marked, told = k+p, true, true; minute < noon {
			minute += noon
		}
	}
	if p := r.word(r.early, k); p > 0 || morning > 0 {
		k, marked, told = k+p, true, true
	}
	if at == 0 && !(marked && bare) && !(marked && spelled == 1 && r.number(i) >= 0) || minute >= 2*noon {
		return 0, 0
	}
	if at > 0 && !marked && r.needsHour() || !told && minute < earliest {
		return 0, 0 // nobody says whether in the morning or in the afternoon
	}
	return minute, k - i
}

// needsHour tells of a language whose words before a time of day stand before every number: "um 3", "à 5".
func (r *reader) needsHour() bool {
	switch r.code {
	case "es", "it", "pl":
		return false
	}
	return true
}

// surelyClock tells whether a time of day of n tokens at token i is one without its date.
func (r *reader) surelyClock(i, n int) bool {
	return r.word(r.atWords, i) > 0 || n > 1
}
