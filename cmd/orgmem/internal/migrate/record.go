package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/proto/canon"
)

// Bounds of a note, which are the interface's.
const (
	maxContent   = 5_000_000 // characters
	maxTitle     = 1000      // characters
	maxID        = 512       // characters
	maxGrounds   = 64
	maxUser      = 256     // bytes
	maxItemBytes = 9 << 20 // encoded, so that one fits a request of 10 MiB
)

// Levels: what rests on other notes is sent when they are there.
const (
	levelSource = iota // what somebody wrote
	levelFact          // what was read out of it
	levelSummary
	levels
)

// note is a record that can be sent.
type note struct {
	user  string // "" where the product names none
	item  client.Item
	level int
	where string
}

// fields are those of one record. What is neither read nor dropped becomes metadata, so
// that nothing of a record is lost without being told of.
type fields struct {
	all     map[string]json.RawMessage
	dropped []string // that it has
}

// fieldsOf reads an object.
func fieldsOf(raw []byte) (*fields, bool) {
	f := &fields{}
	if json.Unmarshal(raw, &f.all) != nil || f.all == nil {
		return nil, false
	}
	return f, true
}

// has reports whether the record has all of these fields, whatever is in them.
func (f *fields) has(names ...string) bool {
	for _, n := range names {
		if _, ok := f.all[n]; !ok {
			return false
		}
	}
	return true
}

// raw takes a field as it stands; nil if it is missing or null.
func (f *fields) raw(name string) json.RawMessage {
	raw := f.all[name]
	delete(f.all, name)
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return nil
	}
	return raw
}

// text takes the first of these fields that says something; numbers are texts, too.
func (f *fields) text(names ...string) string {
	said := ""
	for _, n := range names {
		if s := textOf(f.raw(n)); said == "" {
			said = s
		}
	}
	return said
}

// peek is text that stays a field.
func (f *fields) peek(name string) string { return textOf(f.all[name]) }

func textOf(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return clean(s)
		}
	case 't', 'f', '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return string(raw)
	}
	return ""
}

// texts takes a list of texts, or one text.
func (f *fields) texts(name string) []string {
	raw := f.raw(name)
	if s := textOf(raw); s != "" {
		return []string{s}
	}
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return nil
	}
	var said []string
	for _, one := range all {
		if s := textOf(one); s != "" {
			said = append(said, s)
		}
	}
	return said
}

// object takes an object, or nil.
func (f *fields) object(name string) *fields {
	raw := f.raw(name)
	if raw == nil {
		return &fields{all: map[string]json.RawMessage{}}
	}
	inner, ok := fieldsOf(raw)
	if !ok {
		return &fields{all: map[string]json.RawMessage{}}
	}
	return inner
}

// drop takes fields that have no counterpart; those that say something are reported.
func (f *fields) drop(names ...string) {
	for _, n := range names {
		if raw := f.raw(n); raw != nil && string(raw) != `[]` && string(raw) != `{}` && string(raw) != `""` {
			f.dropped = append(f.dropped, n)
		}
	}
}

// when takes a time: the first of these fields that has one. What is no time is in bad.
func (f *fields) when(names ...string) (at time.Time, bad string) {
	for _, n := range names {
		s := f.text(n)
		if s == "" || !at.IsZero() {
			continue
		}
		t, ok := instant(s)
		switch {
		case ok:
			at = t
		case bad == "":
			bad = n + " " + strconv.Quote(clip(s, maxShown))
		}
	}
	if !at.IsZero() {
		bad = ""
	}
	return at, bad
}

// layouts are the ways in which the products write times; without an offset they mean
// UTC (cognee says so in migration/cogx.py, parse_timestamp; the others store UTC).
var layouts = []string{
	time.RFC3339Nano, "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04", time.DateOnly,
}

// instant reads a time: text, or seconds, milli-, micro- or nanoseconds since 1970. The
// zero time of Go and of databases counts as no time.
func instant(s string) (time.Time, bool) {
	s = strings.TrimSpace(s)
	if n, err := strconv.ParseFloat(s, 64); err == nil {
		const largest = 2e10 // seconds, in the year 2603
		for math.Abs(n) > largest && !math.IsInf(n, 0) {
			n /= 1000
		}
		if n <= 0 || math.IsNaN(n) || math.IsInf(n, 0) {
			return time.Time{}, false
		}
		return time.UnixMilli(int64(math.Round(n * 1000))).UTC(), true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, s); err == nil {
			t = t.UTC()
			return t, t.Year() > 1 && t.Year() <= 9999
		}
	}
	return time.Time{}, false
}

// stamp is a time as the interface takes it.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05.000Z07:00")
}

// clean is a text that can be kept.
func clean(s string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\ufffd")
}

func clip(s string, runes int) string {
	if utf8.RuneCountInString(s) <= runes {
		return s
	}
	return string([]rune(s)[:runes])
}

// externalID is the id of a product's record. One that is too long is cut, and marked.
func externalID(system, id string) string {
	if id == "" {
		return ""
	}
	id = system + ":" + id
	if utf8.RuneCountInString(id) <= maxID {
		return id
	}
	tail := "#" + mark(id)
	return clip(id, maxID-len(tail)) + tail
}

// mark tells texts apart.
func mark(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// meta gathers the metadata of a note.
type meta map[string]any

// metaSource is the name under which a note's metadata says what product it is from.
const metaSource = "source"

// maxGone is how many fields are looked for that make metadata too large.
const maxGone = 16

// set keeps a value unless it says nothing.
func (m meta) set(name string, v any) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return
		}
	case []string:
		if len(v) == 0 {
			return
		}
	case time.Time:
		m.set(name, stamp(v))
		return
	}
	m[name] = v
}

// add takes over an object's fields; one whose name is taken goes below the name of the
// object.
func (m meta) add(name string, raw json.RawMessage) {
	inner := valueOf(raw)
	object, ok := inner.(map[string]any)
	if !ok {
		if inner != nil {
			m.set(name, inner)
		}
		return
	}
	under := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(object)) {
		if _, taken := m[k]; taken {
			under[k] = object[k]
		} else if object[k] != nil {
			m[k] = object[k]
		}
	}
	if len(under) > 0 {
		m[name] = under
	}
}

// rest takes over what is left of a record.
func (m meta) rest(f *fields) {
	for _, name := range slices.Sorted(maps.Keys(f.all)) {
		v := valueOf(f.raw(name))
		switch v := v.(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case []any:
			if len(v) == 0 {
				continue
			}
		case map[string]any:
			if len(v) == 0 {
				continue
			}
		}
		if _, taken := m[name]; !taken {
			m[name] = v
		}
	}
}

// valueOf is a value as it can be kept; nil where it cannot.
func valueOf(raw json.RawMessage) any {
	if len(raw) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return nil
	}
	return kept(v)
}

func kept(v any) any {
	switch v := v.(type) {
	case string:
		return clean(v)
	case []any:
		for i := range v {
			v[i] = kept(v[i])
		}
		return v
	case map[string]any:
		cleaned := make(map[string]any, len(v))
		for k, x := range v {
			cleaned[clean(k)] = kept(x)
		}
		return cleaned
	}
	return v
}

// encode is the metadata within the bounds of the interface, and the names of what had
// to go for it: the largest first.
func (m meta) encode() (raw json.RawMessage, gone []string) {
	for len(m) > 0 {
		if len(gone) > maxGone { // of very many fields: what tells where it is from stays
			for k := range m {
				if k != metaSource {
					delete(m, k)
				}
			}
		}
		raw, err := json.Marshal(m)
		if err != nil { // what came from JSON becomes JSON
			return nil, slices.Sorted(maps.Keys(m))
		}
		_, err = canon.Object(raw)
		if err == nil {
			return raw, gone
		}
		worst := m.worst(err)
		delete(m, worst)
		gone = append(gone, worst)
	}
	return nil, gone
}

// worst is the field that is at fault, or the largest.
func (m meta) worst(why error) string {
	name, most := "", -1
	for _, k := range slices.Sorted(maps.Keys(m)) {
		one, err := json.Marshal(map[string]any{k: m[k]})
		if err != nil {
			return k
		}
		if _, err := canon.Object(one); err != nil && !errors.Is(why, canon.ErrOversized) {
			return k
		}
		if len(one) > most {
			name, most = k, len(one)
		}
	}
	return name
}
