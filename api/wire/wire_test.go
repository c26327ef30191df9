package wire

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"orgmem/api/problems"
)

// instantForm is the grammar of RFC 3339, section 5.6, with capital letters, but for
// which days a month has.
var instantForm = regexp.MustCompile(`^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])` +
	`T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$`)

// FuzzInstant: what is taken is RFC 3339, and what is answered of it is too, and is
// the same moment.
func FuzzInstant(f *testing.F) {
	for _, s := range []string{
		"2026-03-04T05:06:07Z", "2026-03-04T05:06:07.089+02:00", "1970-01-01T00:00:00Z", "0000-01-01T00:00:00+23:59",
		"9999-12-31T23:59:59.999-23:59",
		"2026-03-04T5:06:07Z", "2026-03-04T05:06:07,5Z", "2026-03-04T05:06:07+24:00", "2026-02-30T05:06:07Z",
		"2026-03-04 05:06:07Z", "today", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var at Instant
		if message := at.Parse(text); message != "" {
			if reference, err := time.Parse(time.RFC3339, text); err == nil && instantForm.MatchString(text) &&
				reference.UTC().Year() >= 0 && reference.UTC().Year() <= 9999 {
				t.Fatalf("%q is refused: %s", text, message)
			}
			if at.Ms != 0 {
				t.Fatalf("%q is refused and gives %d", text, at.Ms)
			}
			return
		}
		if !instantForm.MatchString(text) {
			t.Fatalf("%q passes", text)
		}
		said := strings.Trim(string(Timestamp(at.Ms).Append(nil)), `"`)
		var again Instant
		if message := again.Parse(said); message != "" || again != at {
			t.Fatalf("%q is said as %s: %s, %v and %v", text, said, message, again, at)
		}
	})
}

// TestPlansRefuseUnboundedLists holds the rule that every list has a bound.
func TestPlansRefuseUnboundedLists(t *testing.T) {
	type unbounded struct {
		List []string `json:"list"`
	}
	type unnamed struct{ Name string }
	type channel struct {
		C chan int `json:"c"`
	}
	for _, bad := range []reflect.Type{
		reflect.TypeFor[unbounded](), reflect.TypeFor[unnamed](), reflect.TypeFor[channel](),
	} {
		if _, err := PlanOf(bad); err == nil {
			t.Errorf("%s has a plan", bad)
		}
	}
}

// TestNumbersAndNulls covers what no route uses yet.
func TestNumbersAndNulls(t *testing.T) {
	type patch struct {
		Weight *float64 `json:"weight,omitempty" minimum:"0" maximum:"1"`
		Count  int64    `json:"count,omitempty"`
		Domain *string  `json:"domain,omitempty" nullable:"true"`
		Flag   *bool    `json:"flag,omitempty"`
	}
	registry := huma.NewMapRegistry("#/", huma.DefaultSchemaNamer)
	schema := registry.Schema(reflect.TypeFor[patch](), true, "")
	p, err := PlanOf(reflect.TypeFor[patch]())
	if err != nil {
		t.Fatal(err)
	}
	decode := func(body string) (patch, *problems.Violations) {
		var out patch
		var errs problems.Violations
		if problem := Decode([]byte(body), p, schema, registry, reflect.ValueOf(&out).Elem(), &errs); problem != nil {
			t.Fatalf("%s: %v", body, problem)
		}
		return out, &errs
	}
	out, errs := decode(`{"weight":0.25,"count":-7,"domain":"d","flag":false}`)
	want := patch{Weight: new(0.25), Count: -7, Domain: new("d"), Flag: new(false)}
	if diff := cmp.Diff(want, out); diff != "" || errs.Any() {
		t.Errorf("%v (-want +got):\n%s", errs.List, diff)
	}
	if out, errs = decode(`{"domain":null}`); errs.Any() || out.Domain != nil {
		t.Errorf("%+v %v", out, errs.List)
	}
	for _, bad := range []string{`{"weight":1.01}`, `{"weight":null}`, `{"count":0.5}`, `{"domain":5}`, `{"flag":null}`} {
		if _, errs := decode(bad); !errs.Any() {
			t.Errorf("%s was accepted", bad)
		}
	}
}
