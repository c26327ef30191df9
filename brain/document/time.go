package document

import (
	"encoding/json"
	"errors"
	"time"
)

// Time is Unix milliseconds, written as RFC 3339.
type Time int64

// timeLayout is RFC 3339 in UTC with milliseconds, as everywhere.
const timeLayout = "2006-01-02T15:04:05.000Z"

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return []byte(time.UnixMilli(int64(t)).UTC().Format(`"` + timeLayout + `"`)), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(raw []byte) error {
	if string(raw) == "null" {
		*t = 0
		return nil
	}
	var at time.Time
	if err := json.Unmarshal(raw, &at); err != nil {
		return err
	}
	if at = at.UTC(); at.Year() < 0 || at.Year() > 9999 { // its offset takes it out of what can be written
		return errors.New("a time before the year 0 or after 9999")
	}
	*t = Time(at.UnixMilli())
	return nil
}
