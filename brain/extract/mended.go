package extract

import (
	"strings"

	"orgmem/brain/extract/table"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/typo"
	"orgmem/brain/text"
)

// Names of times that are misspelled by a letter are read where nothing else fits: no word that is known is written so,
// and what stands beside it, or the reader, says that it is a time. Of tomorrow and yesterday nothing need say it: no
// other word is near them. March is left out, to which words of other languages are near. Of those the names of months
// often are, and mean the same: octobre, Oktober, aprile.
var (
	monthWords = typo.Of(strings.Fields(`january february april june july august september october november
december`)...)
	dayWords  = typo.Of(strings.Fields(`monday tuesday wednesday thursday friday saturday sunday today`)...)
	nearWords = typo.Of("tomorrow", "yesterday")
)

// beforeDays are words before the name of a day.
var beforeDays = text.Set(`on next last this by until till since from before after`)

// mend corrects misspelled names of times among the words of a block.
func mend(r *reader) {
	for i, w := range r.lows {
		if r.tokens[i].Kind != tagger.Word || months[w] > 0 || weekdays[w] > 0 {
			continue
		}
		meant, ok := nearWords.Meant(w)
		if !ok {
			if meant, ok = dayWords.Meant(w); ok {
				ok = r.surelyTime(i) || r.tagged.Tagged == nil && meant != "today" && i > 0 && beforeDays[r.lows[i-1]]
			}
		}
		if !ok {
			if meant, ok = monthWords.Meant(w); ok {
				ok = dayBeside(r, i) && (r.tagged.Tagged == nil || r.surelyTime(i))
			}
		}
		if ok && unknown(r, i) {
			r.lows[i] = meant
		}
	}
}

// dayBeside tells whether a day or a year stands beside token i, as beside a month.
func dayBeside(r *reader, i int) bool {
	for _, k := range []int{i - 1, i + 1} {
		if k < 0 || k == len(r.lows) {
			continue
		}
		if _, ok := dayNumber(r.lows[k]); ok {
			return true
		}
		if n, ok := number(r.lows[k]); ok && n >= minYear && n <= maxYear {
			return true
		}
	}
	return false
}

// unknown tells whether no word, and no name, is written as token i is.
func unknown(r *reader, i int) bool {
	_, known := r.model.Find(r.word(i))
	return !known
}

// nearDay tells whether the tokens [from, to) are a misspelled "tomorrow" or "yesterday".
func nearDay(r *reader, from, to int) bool {
	for ; from < to; from++ {
		if w := r.lows[from]; (w == "tomorrow" || w == "yesterday") && !strings.EqualFold(w, r.word(from)) {
			return true
		}
	}
	return false
}

// whens stand over a column of days.
var whens = text.Set(`when date dates day due deadline start starts end ends begin begins from until by on since
opening opens launch release released delivery wann datum tag termin frist beginn
ende quand date échéance fecha cuándo plazo`)

// tabled tells whether a date is a cell of a table for itself, in a column of days.
func tabled(r *reader, start, end int) bool {
	head, ok := table.Head(r.text, start, end)
	if !ok {
		return false
	}
	for w := range strings.FieldsSeq(strings.ToLower(head)) {
		if whens[strings.Trim(w, ".:()")] {
			return true
		}
	}
	return false
}
