package format

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"orgmem/proto/canon"
)

// noted is metadata of names and values; what says nothing is left out. Where it
// is more than metadata may hold, nothing is noted.
func noted(pairs ...any) []byte {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		name, _ := pairs[i].(string)
		switch v := pairs[i+1].(type) {
		case string:
			if v = clean(v); v != "" {
				m[name] = clip(v)
			}
		case []string:
			var all []string
			for _, s := range v[:min(len(v), maxNotes)] {
				if s = clean(s); s != "" {
					all = append(all, clip(s))
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

// maxNote bounds one value of what is noted, maxNotes a list of them: names and
// addresses, not texts.
const (
	maxNote  = 1000
	maxNotes = 50
)

// clean makes one line of valid UTF-8 of what a file says of itself.
func clean(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	return flat(s)
}

// clipTitle makes a title that POST /v1/ingest would take.
func clipTitle(s string) string {
	s = clean(s)
	return s[:runeOffset(s, maxTitleRunes)]
}

// externalID makes an external id of the ids that a system gives its records;
// empty where they say none, or one that is too long to be an id.
func externalID(system, id string) string {
	if id = clean(id); id == "" {
		return ""
	}
	if id = system + ":" + id; len(id) > maxExternalID {
		return ""
	}
	return id
}

// baseTitle is a file's name as a title.
func baseTitle(name string) string {
	base := path.Base(name)
	return clipTitle(strings.TrimSuffix(base, path.Ext(base)))
}

var rfc3339 = regexp.MustCompile(`^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?([Zz]|[+-]\d{2}:?\d{2})?)?$`)

// instant makes an RFC 3339 date-time of the ways in which files say one, in UTC
// where they do not say where; empty: it is none.
func instant(s string) string {
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

// clip cuts a value to maxNote characters.
func clip(s string) string { return s[:runeOffset(s, maxNote)] }

// maxUnix is the end of the year 9999, the last that RFC 3339 can say.
const maxUnix = 253402300799

// unixInstant makes an RFC 3339 date-time of seconds since 1970; empty where there
// are none.
func unixInstant(seconds int64) string {
	if seconds <= 0 || seconds > maxUnix {
		return ""
	}
	y, m, d := civil(int(seconds / 86400))
	rest := seconds % 86400
	return fmt.Sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", y, m, d, rest/3600, rest/60%60, rest%60)
}

// civil is the date of a day since 1970.
//
// The algorithm is Howard Hinnant's civil_from_days.
func civil(days int) (year, month, day int) {
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
	maxTitleRunes = 1000
	maxExternalID = 512
)
