package extract

import (
	"math"

	"orgmem/brain/extract/locale"
)

// abroad are the dates of one sentence, its tokens [from, to), that are written in another language than English.
func (r *reader) abroad(from, to int) []Date {
	start, end := r.tokens[from].Start, r.tokens[to-1].End
	sentence := r.text[start:end]
	found := locale.Of(sentence).And(r.langs).Dates(sentence, int(dayIndex(r.atMs)), r.atMs != 0)
	dates := make([]Date, 0, len(found))
	for _, x := range found {
		d := Date{
			Span: Span{Start: start + x.Start, End: start + x.End}, FromMs: abroadMs(x.From), UntilMs: abroadMs(x.Until),
			Grain: abroadGrains[x.Grain], Relative: x.Relative, Confidence: 0.95,
		}
		switch {
		case x.Guessed:
			d.Confidence = 0.6
		case x.Relative:
			d.Confidence = 0.85
		}
		if x.Minute >= 0 {
			at := int64(x.Minute) * msPerMinute
			d.Grain = Minute
			switch {
			case x.Until == locale.Ever:
				d.FromMs += at
			case x.From == locale.Always:
				d.UntilMs += at - msPerDay
			default:
				d.FromMs += at
				d.UntilMs = d.FromMs + msPerMinute
			}
		}
		dates = append(dates, d)
	}
	return dates
}

var abroadGrains = map[locale.Grain]Grain{locale.Day: Day, locale.Week: Week, locale.Month: Month, locale.Year: Year}

func abroadMs(days int) int64 {
	switch days {
	case locale.Always:
		return math.MinInt64
	case locale.Ever:
		return math.MaxInt64
	}
	return int64(days) * msPerDay
}
