package answer

import (
	"regexp"
	"strings"

	"orgmem/brain/text"
)

// A number with a full stop before the name of a month is the day of a date in German, Danish, Norwegian, Czech, Slovak
// and Finnish, and neither the number of a list nor the end of a sentence: "24. Dezember".

const (
	day    = `(?:0?[1-9]|[12]\d|3[01])\.`
	months = `(?:januar|jänner|februar|feber|märz|marts|april|mai|maj|juni|juli|august|september|oktober|november|` +
		`dezember|december|desember|ledna|února|března|dubna|května|června|července|srpna|září|října|listopadu|prosince|` +
		`januára|februára|marca|apríla|mája|júna|júla|augusta|septembra|októbra|novembra|decembra|` +
		`(?:tammi|helmi|maalis|huhti|touko|kesä|heinä|elo|syys|loka|marras|joulu)kuuta|` +
		`(?:jan|jän|feb|mär|apr|jun|jul|aug|sept?|okt|nov|dez|dec|des)\.)`
	month = `(?i:` + months + `)(?:$|[^\pL\pN])`
)

var (
	// startsWithDay matches a line that begins with a day: "24. Dezember", "24. und 25. Dezember", "24. 12. 2025".
	startsWithDay = regexp.MustCompile(`^\s*` + day + `\s*(?:` + month + `|(?:und|bis|oder|og|till?|a|až|–|-|/)\s*` + day +
		`|(?:0?[1-9]|1[0-2])\.(?:\s|$))`)
	// inDate matches a border of sentences, a line feed, that stands within a date.
	inDate = regexp.MustCompile(`(?:^|[\s(])` + day + `\n(?:` + month + `|(?:0?[1-9]|1[0-2])\.(?:\s|$))|` +
		`(?:^|[\s(])` + day + `\s*(?:0?[1-9]|1[0-2])\.\n\d{4}(?:$|[^\pL\pN])`)
)

// aroundBorder is how much of two sentences is looked at to see whether they are one.
const aroundBorder = 24

// sentences are those of a passage, none of which ends within a date.
func sentences(passage string) (all []text.Span) {
	for s := range text.Sentences(passage) {
		if n := len(all) - 1; n >= 0 && passage[all[n].End-1] == '.' && !strings.Contains(passage[all[n].End:s.Start], "\n") {
			before := passage[max(all[n].Start, all[n].End-aroundBorder):all[n].End]
			if inDate.MatchString(before + "\n" + passage[s.Start:min(s.End, s.Start+aroundBorder)]) {
				all[n].End = s.End
				continue
			}
		}
		all = append(all, s)
	}
	return all
}
