package operator

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	pb "orgmem/proto"
)

// FuzzHost: a Host header that passes names an address, or localhost, and nothing
// that a name service could answer.
func FuzzHost(f *testing.F) {
	for _, s := range []string{
		"localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]:8080", "::1", "evil.example", "127.0.0.1.evil.example",
		"[localhost]", "", "localhost.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, host string) {
		name := host
		if h, _, err := net.SplitHostPort(host); err == nil {
			name = h
		}
		name = strings.Trim(name, "[]")
		_, err := netip.ParseAddr(name)
		if ownHost(host) != (err == nil || strings.EqualFold(name, "localhost")) {
			t.Fatalf("%q is %v", host, ownHost(host))
		}
	})
}

// FuzzOperatorQuery: what is taken is what net/url reads, once each, of the
// parameters that the row has, and nothing else.
func FuzzOperatorQuery(f *testing.F) {
	for _, q := range []string{
		"", "limit=5&cursor=17.x", "limit=5&limit=6", "Limit=5", "offset=0", "cursor=%zz", "cursor=%ff", "a;b", "limit",
	} {
		f.Add(q)
	}
	f.Fuzz(func(t *testing.T, query string) {
		values, err := url.ParseQuery(query)
		for name, list := range values {
			if !utf8.ValidString(name) || slices.ContainsFunc(list, func(v string) bool { return !utf8.ValidString(v) }) {
				err = errors.New("not UTF-8")
			}
		}
		for _, r := range Routes {
			params, problem := readQuery(query, r.query)
			alien, twice := false, false
			for name, list := range values {
				alien, twice = alien || !slices.Contains(r.query, name), twice || len(list) > 1
			}
			switch want := ""; {
			case err != nil:
				want = pb.CodeMalformed
				fallthrough
			case alien || twice:
				if want == "" {
					want = pb.CodeValidation
				}
				if problem.GetCode() != want {
					t.Fatalf("%s: %q: %v, want %s", r.Path, query, problem, want)
				}
			case problem != nil || len(params) != len(r.query):
				t.Fatalf("%s: %q: %v %v", r.Path, query, params, problem)
			}
			for _, p := range params {
				if problem == nil && p.Value != values.Get(p.Key) {
					t.Fatalf("%s: %q: %s is %q", r.Path, query, p.Key, p.Value)
				}
			}
		}
	})
}

func TestOperatorHosts(t *testing.T) {
	for host, ok := range map[string]bool{
		"localhost": true, "LOCALHOST:8081": true, "127.0.0.1:8081": true, "[::1]:8081": true, "[::1]": true,
		"10.0.0.3": true,
		"":         false, "example.com": false, "127.0.0.1.example.com": false, "localhost.example.com:80": false,
		"localhost.": false, "0x7f.1": false,
	} {
		if ownHost(host) != ok {
			t.Errorf("%q: %v", host, !ok)
		}
	}
}
