package actors

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"orgmem/actors/connector"
	"orgmem/actors/graph"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// What this package reads of what comes from outside, or of what it once stored
// under a name of its own making, has a fuzz target here or beside what it belongs
// to: cursors in cursor_test.go, parts of an export in brain/document.

// FuzzPositions: what stands in a cursor, once it is open, is a position or none.
func FuzzPositions(f *testing.F) {
	f.Add(graph.Position{Created: 1772366400000, ID: "ingest:x:y"}.Encode())
	f.Add(graph.Position{Created: -1, ID: ""}.Encode())
	f.Add([]byte("1772366400000.00000000-0000-0000-0000-000000000001"))
	f.Add([]byte("-1.x"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if at, err := graph.DecodePosition(raw); (err == nil) != (len(raw) >= 8) || err == nil &&
			string(at.Encode()) != string(raw) {
			t.Fatalf("%x is %v, %v", raw, at, err)
		}
		created, org, err := parsePosition(string(raw))
		if err != nil {
			if !errors.Is(err, tenant.ErrInvalid) {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		again, same, err := parsePosition(formatPosition(created, org))
		if err != nil || again != created || same != org {
			t.Fatalf("%q is %d %v, then %d %v, %v", raw, created, org, again, same, err)
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
		shown, err := connector.ShowConnector(&pb.Connector{Config: raw})
		list, failed := connector.AddressesOf(raw)
		if err != nil {
			if failed == nil {
				t.Fatalf("%s has addresses %v, and cannot be shown: %v", raw, list, err)
			}
			return
		}
		config, err := connector.ReadConfig(shown.GetConfig())
		if err != nil {
			t.Fatalf("%s is shown as %s: %v", raw, shown.GetConfig(), err)
		}
		for name := range config {
			if slices.Contains(connector.ConnectorSecrets, name) {
				t.Fatalf("%s shows %s", raw, shown.GetConfig())
			}
		}
		for _, a := range list {
			if !strings.HasPrefix(a.Field, "config.") {
				t.Fatalf("%s: %v", raw, a)
			}
		}
		if again, err := connector.AddressesOf(shown.GetConfig()); failed == nil &&
			(err != nil || !slices.Equal(again, list)) {
			t.Fatalf("%s: addresses %v, as shown %v, %v", raw, list, again, err)
		}
	})
}
