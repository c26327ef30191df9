package reading

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"orgmem/proto/canon"
)

// Noted is metadata of names and values; what says nothing is left out. Where it
// is more than metadata may hold, nothing is noted.
func Noted(pairs ...any) []byte {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case string:
			if v = Clean(v); v != "" {
				m[name] = Clip(v)
			}
		case []string:
			var all []string
			for _, s := range v[:min(len(v), MaxNotes)] {
				if s = Clean(s); s != "" {
					all = append(all, Clip(s))
				}
			}
			if len(all) > 0 {
				m[name] = all
			}
		case int:
			if v != 0 {
				m[name] = v
			}
		}
	}
	if len(m) == 0 {
		return nil
	}
	raw, err := json.Marshal(m, json.Deterministic(true))
	if err != nil || len(raw) > canon.MaxBytes {
		return nil
	}
	return raw
}

// MaxNote bounds one value of what is noted, MaxNotes a list of them: names and
// addresses, not texts.
const (
	MaxNote  = 1000
	MaxNotes = 50
)

// Clean makes one line of valid UTF-8 of what a file says of itself.
func Clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return Flat(s)
}

// ClipTitle makes a title that POST /v1/ingest would take.
func ClipTitle(s string) string {
	s = Clean(s)
	return s[:RuneOffset(s, MaxTitleRunes)]
}

// ExternalID makes an external id of the ids that a system gives its records;
// empty where they say none, or one that is too long to be an id.
func ExternalID(system, id string) string {
	if id = Clean(id); id == "" {
		return ""
	}
	if id = system + ":" + id; len(id) > MaxExternalID {
		return ""
	}
	return id
}

// BaseTitle is a file's name as a title.
func BaseTitle(name string) string {
	base := path.Base(name)
	return ClipTitle(strings.TrimSuffix(base, path.Ext(base)))
}

var rfc3339 = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})` +
	`(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$`)

// Instant makes an RFC 3339 date-time of the ways in which files say one, in UTC
// where they do not say where; empty: s is no date-time.
func Instant(s string) string {
	m := rfc3339.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return ""
	}
	clock, seconds, zone := m[2], m[3], strings.ToUpper(m[4])
	if clock == "" {
		clock = "00:00"
	}
	if seconds == "" {
		seconds = ":00"
	}
	switch {
	case zone == "":
		zone = "Z"
	case len(zone) == len("+0000"):
		zone = zone[:3] + ":" + zone[3:]
	}
	return m[1] + "T" + clock + seconds + zone
}

// Clip cuts a value to MaxNote characters.
func Clip(s string) string { return s[:RuneOffset(s, MaxNote)] }

// MaxUnix is the end of the year 9999, the last that RFC 3339 can say.
const MaxUnix = 253402300799

// UnixInstant makes an RFC 3339 date-time of seconds since 1970; empty where there
// are none.
func UnixInstant(seconds int64) string {
	if seconds <= 0 || seconds > MaxUnix {
		return ""
	}
	y, m, d := CivilDate(int(seconds / 86400))
	rest := seconds % 86400
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, rest/3600, rest/60%60, rest%60)
}

// CivilDate is the date of a day since 1970.
//
// The algorithm is Howard Hinnant's civil_from_days.
func CivilDate(days int) (year, month, day int) {
	z := days + 719468
	era := z / 146097
	if z < 0 {
		era = (z - 146096) / 146097
	}
	doe := z - era*146097
	yoe := (doe - doe/1460 + doe/36524 - doe/146096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	day, month, year = doy-(153*mp+2)/5+1, mp+3, yoe+era*400
	if month > 12 {
		month, year = month-12, year+1
	}
	return year, month, day
}

// The bounds of POST /v1/ingest.
const (
	MaxTitleRunes = 1000
	MaxExternalID = 512
)
