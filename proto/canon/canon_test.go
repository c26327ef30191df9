package canon

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func nested(levels int) string {
	return strings.Repeat(`{"a":`, levels-1) + "{}" + strings.Repeat("}", levels-1)
}

func TestObject(t *testing.T) {
	for raw, want := range map[string]string{
		` {"b":1.50,"a":[true, null]} `: `{"a":[true,null],"b":1.5}`,
		// 2^53 + 1, which no float64 holds.
		`{"id":9007199254740993}`: `{"id":9007199254740993}`,
		`{"\u0061":"\u003c"}`:     `{"a":"<"}`,
		nested(MaxDepth):          nested(MaxDepth),
	} {
		got, err := Object([]byte(raw))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", raw, got, err)
		}
	}
	for raw, want := range map[string]error{
		``: ErrNoObject, `[]`: ErrNoObject, `null`: ErrNoObject, `{`: ErrNoObject, `{} {}`: ErrNoObject, `{}x`: ErrNoObject,
		`{"a":1,"a":2}`: ErrNoObject, "{\"a\":\"\xff\"}": ErrNoObject,
		`{"a":"\u0000"}`: ErrNUL, `{"\u0000":1}`: ErrNUL, `{"a":[1e999]}`: ErrRange,
		nested(MaxDepth + 1): ErrTooDeep, nested(9_998): ErrTooDeep,
		`{"a":"` + strings.Repeat("x", MaxBytes) + `"}`: ErrOversized, `{` + strings.Repeat(" ", maxRaw) + `}`: ErrOversized,
		`{"a":` + strings.Repeat("[", maxRaw): ErrTooDeep,
	} {
		if got, err := Object([]byte(raw)); !errors.Is(err, want) {
			t.Errorf("%.40q: %s, %v, want %v", raw, got, err, want)
		}
	}
}

// TestCanonicalIsStable: what is kept is read as the same, and has one spelling.
func TestCanonicalIsStable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw, err := json.Marshal(rapid.MapOf(rapid.String(), rapid.Float64()).Draw(t, "object"))
		if err != nil {
			t.Fatal(err)
		}
		once, err := Object(raw)
		if errors.Is(err, ErrNUL) {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := Object(once)
		if err != nil || string(again) != string(once) {
			t.Fatalf("%s became %s, and that %s: %v", raw, once, again, err)
		}
	})
}

func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\u0000"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Object(raw)
		if err != nil {
			return
		}
		var v map[string]any
		if !json.Valid(raw) || json.Unmarshal(got, &v) != nil || len(got) > MaxBytes {
			t.Errorf("%q was kept as %q", raw, got)
		}
	})
}

func TestBlank(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, " \t\n": true, "\u200b\u2060\ufeff": true, "\u00a0\x07": true, "a": false, " . ": false, "\u200bé": false,
		"\ufffd": false,
	} {
		if Blank(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
}
