package actors

import (
	"slices"
	"strings"
	"testing"

	"orgmem/actors/connector"
	"orgmem/actors/listing"
	pb "orgmem/proto"
)

// What this package reads of what comes from outside, or of what it once stored
// under a name of its own making, has a fuzz target here or beside what it belongs
// to: cursors in cursor_test.go, the list of organizations in account, parts of an export in brain/document.

// FuzzPositions: what stands in a cursor, once it is open, is a position or none.
func FuzzPositions(f *testing.F) {
	f.Add(listing.Position{Created: 1772366400000, ID: "ingest:x:y"}.Encode())
	f.Add(listing.Position{Created: -1, ID: ""}.Encode())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if at, err := listing.DecodePosition(raw); (err == nil) != (len(raw) >= 8) || err == nil &&
			string(at.Encode()) != string(raw) {
			t.Fatalf("%x is %v, %v", raw, at, err)
		}
	})
}

// FuzzConnectorConfig: a config that is shown holds everything but its secrets, and
// each address that it names is one that is checked.
func FuzzConnectorConfig(f *testing.F) {
	for _, config := range []string{
		`{"url":"https://example.com/feed.xml","authorization":"Bearer x"}`,
		`{"pages":["https://a.example/","https://b.example/"]}`, `{"sitemap":"https://a.example/s.xml"}`,
		`{"url":"https://a.example/r.git","token":"t","branch":"main"}`, `{"url":1}`, `null`, `{"Token":"x"}`,
		`{"token":"a","token":"b"}`,
	} {
		f.Add([]byte(config))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		shown, err := connector.WithoutSecrets(&pb.Connector{Config: raw})
		list, failed := connector.Addresses(raw)
		if err != nil {
			if failed == nil {
				t.Fatalf("%s has addresses %v, and cannot be shown: %v", raw, list, err)
			}
			return
		}
		config, err := connector.ParseConfig(shown.GetConfig())
		if err != nil {
			t.Fatalf("%s is shown as %s: %v", raw, shown.GetConfig(), err)
		}
		for name := range config {
			if slices.Contains(connector.SecretFields, name) {
				t.Fatalf("%s shows %s", raw, shown.GetConfig())
			}
		}
		for _, a := range list {
			if !strings.HasPrefix(a.Field, "config.") {
				t.Fatalf("%s: %v", raw, a)
			}
		}
		if again, err := connector.Addresses(shown.GetConfig()); failed == nil &&
			(err != nil || !slices.Equal(again, list)) {
			t.Fatalf("%s: addresses %v, as shown %v, %v", raw, list, again, err)
		}
	})
}
