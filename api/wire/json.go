package wire

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/proto/canon"
)

// Options are those of every answer. Stored text that is not UTF-8 (there
// should be none) is shown with replacement characters: failing would hide the
// whole record.
var Options = json.JoinOptions(
	jsontext.AllowInvalidUTF8(true),
	json.FormatNilSliceAsNull(false),
	json.Deterministic(true), // of maps: equal calls have equal answers
)

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Timestamp is a time in Unix milliseconds that is written as RFC 3339; 0 is
// null. Fields that may be null carry the tag `nullable:"true"`.
type Timestamp int64

// MarshalJSONTo implements json.MarshalerTo.
func (t Timestamp) MarshalJSONTo(e *jsontext.Encoder) error {
	if t == 0 {
		return e.WriteToken(jsontext.Null)
	}
	var buf [len(timeLayout) + 16]byte
	return e.WriteValue(t.Append(buf[:0]))
}

// Schema implements huma.SchemaProvider.
func (Timestamp) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// NotBefore is the time of what comes after others in a record's life. The clock that
// stamped it may be another node's, or was put back meanwhile, and an answer never
// shows an end before its beginning. 0 stays null.
func NotBefore(ms int64, earlier ...int64) Timestamp {
	if ms == 0 {
		return 0
	}
	return Timestamp(max(ms, slices.Max(earlier)))
}

// Instant is a time in a request: any RFC 3339 form. 0 says that none was given, in
// messages and records alike; the moment that 1970 began is read as the millisecond
// after it, so that it can be given. A year that would need a fifth digit or a sign in
// UTC is refused, since it could not be answered.
type Instant struct{ Ms int64 }

const expectedInstant = "expected RFC 3339 date-time"

// FromJSON implements FromJSON.
func (t *Instant) FromJSON(raw jsontext.Value) string {
	if raw.Kind() != '"' {
		return expectedInstant
	}
	text, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return expectedInstant
	}
	return t.Parse(string(text))
}

// Parse reads a time; the message says what was expected, and is empty for success.
func (t *Instant) Parse(text string) (message string) {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return expectedInstant
	}
	// time.Parse takes an hour of one digit, a comma, and zones up to 24:60 as well.
	zone := text[len(text)-len("07:00"):]
	if text[len("2006-01-02T15")] != ':' || strings.Contains(text, ",") ||
		!strings.HasSuffix(text, "Z") && (zone[:2] > "23" || zone[3:] > "59") {
		return expectedInstant
	}
	if year := at.UTC().Year(); year < 0 || year > 9999 {
		return expectedInstant
	}
	t.Ms = cmp.Or(at.UnixMilli(), 1)
	return ""
}

// Schema implements huma.SchemaProvider.
func (Instant) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}

// OrNull is text that is written as null when it is empty.
type OrNull string

// MarshalJSONTo implements json.MarshalerTo.
func (s OrNull) MarshalJSONTo(e *jsontext.Encoder) error {
	if s == "" {
		return e.WriteToken(jsontext.Null)
	}
	return e.WriteToken(jsontext.String(string(s)))
}

// Schema implements huma.SchemaProvider.
func (OrNull) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
}

// Object is a JSON object that is kept and answered as canonical bytes; empty
// stands for {}.
type Object []byte

// NotCanonical tells a client why an object cannot be kept.
func NotCanonical(err error) string {
	switch {
	case errors.Is(err, canon.ErrOversized):
		return "expected at most " + strconv.Itoa(canon.MaxBytes) + " bytes of JSON"
	case errors.Is(err, canon.ErrTooDeep), errors.Is(err, canon.ErrNUL), errors.Is(err, canon.ErrRange):
		return err.Error()
	}
	return "expected object"
}

// FromJSON implements FromJSON.
func (o *Object) FromJSON(raw jsontext.Value) string {
	if raw.Kind() != '{' {
		return "expected object"
	}
	v, err := canon.Value(raw)
	if err != nil {
		return NotCanonical(err)
	}
	*o = Object(v)
	return ""
}

// MarshalJSONTo implements json.MarshalerTo.
func (o Object) MarshalJSONTo(e *jsontext.Encoder) error {
	if len(o) == 0 {
		return e.WriteValue(jsontext.Value("{}"))
	}
	return e.WriteValue(jsontext.Value(o))
}

// Schema implements huma.SchemaProvider.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// Appender is an output that writes itself. False stands for one that JSON cannot
// express; the library is left to say why.
type Appender interface {
	AppendJSON(b []byte) ([]byte, bool)
}

// Append writes the score as MarshalJSONTo does.
func (s Score) Append(b []byte) []byte {
	return jsontext.AppendFloat(b, canon.Score(float64(s)), 64)
}

// AppendText quotes text. What is not UTF-8 in it (there should be nothing) becomes
// replacement characters, as everywhere (Options): that is all that the error
// tells.
func AppendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text)
	return b
}

// Append writes the text as MarshalJSONTo does.
func (s OrNull) Append(b []byte) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return AppendText(b, string(s))
}

// Append writes the time as MarshalJSONTo does.
func (t Timestamp) Append(b []byte) []byte {
	if t == 0 {
		return append(b, "null"...)
	}
	// Seconds have a short way through package time; timeLayout, which says the same
	// with the milliseconds, costs three times that.
	at := time.UnixMilli(int64(t)).UTC()
	b = append(b, '"')
	b = at.AppendFormat(b, time.RFC3339)
	b = b[:len(b)-len("Z")]
	ms := at.Nanosecond() / int(time.Millisecond)
	return append(b, '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z', '"')
}

// Encode writes a value as JSON.
func Encode(out *bytes.Buffer, value any) error {
	if a, ok := value.(Appender); ok {
		if b, ok := a.AppendJSON(out.AvailableBuffer()); ok {
			out.Write(b)
			return nil
		}
	}
	return json.MarshalWrite(out, value, Options)
}
