package egress

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// TestABodyIsAskedForBeforeItIsHeld: in steps that together are about twice the body at
// most, and a refusal ends the attempt as it is.
func TestABodyIsAskedForBeforeItIsHeld(t *testing.T) {
	no := errors.New("no")
	for _, n := range []int{0, 1, 511, 512, 513, 4096, 99_999, 100_000, 100_001, 200_000} {
		const limit = 100_001
		asked, held := 0, 0
		sent := io.LimitReader(iotest.HalfReader(strings.NewReader(strings.Repeat("x", n))), limit)
		body, refused, err := readBody(sent, limit, func(n int) error { asked += n; held = n; return nil })
		if err != nil || refused != nil || len(body) != min(n, limit) || cap(body) > held || asked > max(2048, 4*len(body)) ||
			asked > 2*limit {
			t.Errorf("%d bytes: %d bytes, asked for %d, the last for %d: %v, %v", n, len(body), asked, held, refused, err)
		}
		body, refused, err = readBody(strings.NewReader("xxx"), limit, func(int) error { return no })
		if body != nil || !errors.Is(refused, no) || err != nil {
			t.Errorf("refused: %q, %v, %v", body, refused, err)
		}
	}
	broken := iotest.ErrReader(no)
	if _, refused, err := readBody(broken, 10, func(int) error { return nil }); refused != nil || !errors.Is(err, no) {
		t.Errorf("broken: %v, %v", refused, err)
	}
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestPublic lists addresses of each range that the interface names, and their
// neighbours.
//
// interface: Limits/Webhook URL
func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"93.184.216.34": true, "1.1.1.1": true, "8.8.8.8": true, "2606:2800:220:1::1": true, "2a00::1": true,
		"2001:4860::8888": true,
		"9.255.255.255":   true, "11.0.0.0": true, "100.63.255.255": true, "100.128.0.0": true, "172.15.255.255": true,
		"172.32.0.0":      true,
		"192.167.255.255": true, "192.169.0.0": true, "198.17.255.255": true, "198.20.0.0": true, "223.255.255.255": true,

		"0.0.0.0": false, "0.1.2.3": false, "10.1.2.3": false, "100.64.0.1": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.0.1": false,
		"169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false, "192.168.0.1": false, "192.0.0.8": false,
		"192.0.2.1":   false,
		"192.88.99.1": false, "198.18.0.1": false, "198.51.100.7": false, "203.0.113.9": false, "224.0.0.1": false,
		"239.1.1.1": false,
		"240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "::ffff:10.0.0.1": false, "::ffff:127.0.0.1": false, "::ffff:93.184.216.34": true,
		"::7f00:1":        false,
		"64:ff9b::7f00:1": false, "64:ff9b:1::1": false, "100::1": false, "fc00::1": false, "fd12::1": false,
		"fe80::1": false, "fec0::1": false,
		"ff02::1": false, "2001::1": false, "2001:0:4136:e378:8000:63bf:3fff:fdd2": false, "2001:10::1": false,
		"2001:db8::1":   false,
		"2002:7f00:1::": false, "2002:5db8:d822::1": false, "3fff::1": false, "5f00::1": false, "4000::1": false,
	} {
		if got := Public(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
	if Public(netip.Addr{}) || Public(netip.MustParseAddr("2606:2800:220:1::1%eth0")) {
		t.Error("an address that is none, or of a zone, is public")
	}
}

// TestPublicMapped: whatever IPv4 address it is, its form changes nothing, and
// no tunnel makes it public.
func TestPublicMapped(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := [4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address"))
		a := netip.AddrFrom4(raw)
		if Public(a) != Public(netip.AddrFrom16(a.As16())) {
			t.Errorf("%s differs from its mapped form", a)
		}
		var sixToFour, teredo [16]byte
		copy(sixToFour[:], []byte{0x20, 0x02, raw[0], raw[1], raw[2], raw[3]})
		copy(teredo[:], []byte{0x20, 0x01, 0, 0})
		for i, b := range raw {
			teredo[12+i] = ^b
		}
		if Public(netip.AddrFrom16(sixToFour)) || Public(netip.AddrFrom16(teredo)) {
			t.Errorf("a tunnel to %s is public", a)
		}
		if (a.IsPrivate() || a.IsLoopback() || a.IsMulticast() || a.IsLinkLocalUnicast() || a.IsUnspecified()) && Public(a) {
			t.Errorf("%s is public", a)
		}
	})
}

// names is a name service of one test.
type names map[string][]string

func (n names) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	list, ok := n[host]
	if !ok || network != "ip" {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for _, text := range list {
		out = append(out, netip.MustParseAddr(text))
	}
	return out, nil
}

// noDial fails a test that connects.
type noDial struct{ t *testing.T }

func (d noDial) DialContext(_ context.Context, _, address string) (net.Conn, error) {
	d.t.Errorf("dialled %s", address)
	return nil, errors.New("must not be dialled")
}

func newClient(t *testing.T, c Config) *Client {
	t.Helper()
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestCheck(t *testing.T) {
	resolver := names{
		"good.example": {"93.184.216.34", "2606:2800:220:1::1"}, "inside.example": {"10.0.0.8"},
		"mixed.example":  {"93.184.216.34", "127.0.0.1"},
		"tunnel.example": {"2002:7f00:1::"}, "exempt.example": {"10.7.0.1"}, "none.example": {}, "localhost": {
			"127.0.0.1",
			"::1",
		},
		"many.example": strings.Fields(strings.Repeat("93.184.216.34 ", maxAddresses+1)),
	}
	rules := Rules{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("10.7.0.0/16")}, AllowPorts: []uint16{8443}}
	client := newClient(t, Config{Rules: rules, Resolver: resolver, Dialer: noDial{t}})
	for address, want := range map[string]string{
		"https://good.example":                 "",
		"https://good.example/in?x=1#frag":     "",
		"HTTPS://good.example:443/":            "",
		"https://good.example:8443/":           "",
		"https://93.184.216.34/":               "",
		"https://[2606:2800:220:1::1]/":        "",
		"https://exempt.example/":              "",
		"http://good.example/":                 "https",
		"ftp://good.example/":                  "https",
		"good.example":                         "https",
		"//good.example/":                      "https",
		"":                                     "https",
		"https://":                             "no host",
		"https:///path":                        "no host",
		"https:good.example":                   "no host",
		"https://:443/":                        "no host",
		"https://user@good.example/":           "user name",
		"https://user:pw@good.example/":        "user name",
		"https://@good.example/":               "user name",
		"https://good.example:80/":             "default port",
		"https://good.example:/":               "default port",
		"https://good.example:0/":              "default port",
		"https://good.example:99999/":          "default port",
		"https://good.example/ /":              "ASCII",
		"https://g\u00f6\u00f6d.example/":      "ASCII",
		"https://good.example\\@evil.example/": "well-formed",
		"https://inside.example/":              "public",
		"https://mixed.example/":               "public",
		"https://tunnel.example/":              "public",
		"https://localhost/":                   "public",
		"https://127.0.0.1/":                   "public",
		"https://[::1]/":                       "public",
		"https://[::ffff:10.0.0.1]/":           "public",
		"https://[fe80::1%25eth0]/":            "public",
		"https://10.8.0.1/":                    "public",
		"https://169.254.169.254/latest":       "public",
		// a spelling of 127.0.0.1 that some resolvers know
		"https://2130706433/":                                 "more than one way",
		"https://0x7f.1/":                                     "more than one way",
		"https://none.example/":                               "does not resolve",
		"https://nowhere.example/":                            "does not resolve",
		"https://many.example/":                               "addresses",
		"https://good.example/" + strings.Repeat("x", MaxURL): "longer",
	} {
		err := client.Check(t.Context(), address)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", address, err)
		case want != "" && (!errors.Is(err, ErrAddress) || !strings.Contains(Reason(err), want)):
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

// receiver is an HTTPS server on loopback that the returned client may reach
// under the name hooks.example.com.
func receiver(t *testing.T, h http.HandlerFunc) (*Client, names, string) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = nil
	server.StartTLS()
	t.Cleanup(server.Close)
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	resolver := names{"example.com": {"127.0.0.1"}, "other.example": {"127.0.0.1"}}
	client := newClient(t, Config{
		Rules:    Rules{AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, AllowPorts: []uint16{at.Port()}},
		Resolver: resolver, Dialer: &net.Dialer{}, Roots: roots,
	})
	return client, resolver, "https://example.com:" + strconv.Itoa(int(at.Port())) + "/in"
}

func TestDo(t *testing.T) {
	var got *http.Request
	client, _, address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write([]byte(strings.Repeat("x", MaxResponse+1)))
	})
	r, err := client.Do(t.Context(), Request{
		Method: "POST", Address: address, Header: http.Header{"X-One": {"1"}},
		Body: []byte("body"),
	})
	if err != nil || r.Status != http.StatusTeapot || len(r.Body) != MaxResponse || !r.Cut {
		t.Fatalf("%v: %d, %d bytes, cut %v", err, r.Status, len(r.Body), r.Cut)
	}
	if got.Header.Get("X-One") != "1" || got.ContentLength != 4 || got.URL.Path != "/in" {
		t.Errorf("%v", got)
	}
}

// interface: Limits/Webhook URL
func TestDoFollowsNoRedirect(t *testing.T) {
	asked := 0
	client, _, address := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "https://example.com/elsewhere", http.StatusFound)
	})
	r, err := client.Do(t.Context(), Request{Method: "POST", Address: address})
	if err != nil || r.Status != http.StatusFound || asked != 1 {
		t.Errorf("%v: %d after %d requests", err, r.Status, asked)
	}
}

// TestDoChecksWhatItDials: a name that was public when it was registered is
// refused once it means another address.
func TestDoChecksWhatItDials(t *testing.T) {
	client, resolver, address := receiver(t, func(http.ResponseWriter, *http.Request) { t.Error("was reached") })
	resolver["example.com"] = []string{"10.0.0.1"}
	if _, err := client.Do(t.Context(), Request{Method: "POST", Address: address}); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
}

func TestDoFailures(t *testing.T) {
	client, _, address := receiver(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 2*maxResponseHeader))
	})
	if _, err := client.Do(t.Context(), Request{Method: "POST", Address: address}); err == nil {
		t.Error("an endless header was taken")
	}
	if _, err := client.Do(t.Context(), Request{Method: "POST", Address: strings.Replace(address, "example.com",
		"other.example", 1)}); err == nil || !strings.Contains(Reason(err), "certificate") {
		t.Errorf("a certificate of another name: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	if _, err := client.Do(ctx, Request{Method: "POST", Address: address}); err == nil {
		t.Error("an attempt without time succeeded")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := netip.MustParseAddrPort(listener.Addr().String()).Port()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	client.cfg.Rules.AllowPorts = []uint16{port}
	_, err = client.Do(t.Context(), Request{Method: "POST", Address: "https://example.com:" + strconv.Itoa(int(port))})
	if err == nil || strings.Contains(Reason(err), "127.0.0.1") || !strings.Contains(Reason(err), "refused") {
		t.Errorf("nobody listens: %q", Reason(err))
	}
}

// rebinding is a name service that says something public first, and something else
// from then on.
type rebinding struct {
	public, then string
	asked        int
}

func (r *rebinding) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	r.asked++
	if r.asked == 1 {
		return []netip.Addr{netip.MustParseAddr(r.public)}, nil
	}
	return []netip.Addr{netip.MustParseAddr(r.then)}, nil
}

// TestRebinding: a name that means a public address when it is checked and an
// inner one a moment later is never followed there. What is dialled is what that
// attempt resolved.
func TestRebinding(t *testing.T) {
	for _, inner := range []string{
		"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::a00:1",
		"2002:7f00:1::",
	} {
		dialled := &noted{}
		client := newClient(t, Config{Resolver: &rebinding{public: "93.184.216.34", then: inner}, Dialer: dialled})
		if err := client.Check(t.Context(), "https://evil.example/"); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Do(t.Context(), Request{Method: "POST", Address: "https://evil.example/"}); !errors.Is(err,
			ErrAddress) {
			t.Errorf("%s: %v", inner, err)
		}
		if len(dialled.all) > 0 {
			t.Errorf("%s: dialled %v", inner, dialled.all)
		}
		// Between the look-up of an attempt and its connection there is no second one.
		service := &rebinding{public: "93.184.216.34", then: inner}
		client = newClient(t, Config{Resolver: service, Dialer: dialled})
		if _, err := client.Do(t.Context(), Request{Method: "POST", Address: "https://evil.example/"}); err == nil {
			t.Error("nobody listens")
		}
		if service.asked != 1 || len(dialled.all) != 1 || dialled.all[0] != "93.184.216.34:443" {
			t.Errorf("%s: asked %d times, dialled %v", inner, service.asked, dialled.all)
		}
	}
}

// noted refuses to dial and remembers what.
type noted struct{ all []string }

func (d *noted) DialContext(_ context.Context, network, address string) (net.Conn, error) {
	d.all = append(d.all, address)
	return nil, &net.OpError{Op: "dial", Net: network, Err: errors.New("no network in tests")}
}

// TestSession: attempts in a row share a connection, until the name means another
// address; and it serves no other host.
func TestSession(t *testing.T) {
	var mu sync.Mutex
	from := map[string]int{}
	client, resolver, address := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		from[r.RemoteAddr+" "+r.Host]++
	})
	s, err := client.Session(address)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 5 {
		if r, err := s.Do(t.Context(), Request{Method: "POST", Address: address, Body: []byte("x")}); err != nil ||
			r.Status != http.StatusOK {
			t.Fatalf("%v: %d", err, r.Status)
		}
	}
	mu.Lock()
	if len(from) != 1 {
		t.Errorf("%v", from)
	}
	for who := range from {
		if !strings.Contains(who, " example.com:") {
			t.Errorf("asked as %s", who)
		}
	}
	mu.Unlock()
	if _, err := s.Do(t.Context(), Request{Method: "POST", Address: strings.Replace(address, "example.com",
		"other.example", 1)}); !errors.Is(err, ErrAddress) {
		t.Errorf("another host: %v", err)
	}
	resolver["example.com"] = []string{"10.0.0.1"}
	if _, err := s.Do(t.Context(), Request{Method: "POST", Address: address}); !errors.Is(err, ErrAddress) {
		t.Errorf("the name means something else, and a connection stands: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if total := slices.Collect(maps.Values(from)); len(total) != 1 || total[0] != 5 {
		t.Errorf("%v", from)
	}
}

// TestBusy: an attempt that finds no place is none, and neither those who are slow
// nor those who are not take the places of the others.
func TestBusy(t *testing.T) {
	client := newClient(t, Config{Resolver: names{}, Dialer: noDial{t}})
	over, cancel := context.WithCancel(t.Context())
	cancel() // so that nobody waits
	for slow, places := range map[bool]int{true: maxSlow, false: maxQuick} {
		var leaves []func()
		for range places {
			leave, err := client.Enter(over, slow)
			if err != nil {
				t.Fatal(err)
			}
			leaves = append(leaves, leave)
		}
		if _, err := client.Enter(over, slow); !errors.Is(err, ErrBusy) {
			t.Errorf("beyond the places (slow %v): %v", slow, err)
		}
		_, err := client.Do(over, Request{Method: "POST", Address: "https://nowhere.example/"})
		if want := map[bool]error{true: ErrAddress, false: ErrBusy}[slow]; !errors.Is(err, want) {
			t.Errorf("with the places taken (slow %v): %v", slow, err)
		}
		other, err := client.Enter(over, !slow)
		if err != nil {
			t.Errorf("the others find no place (slow %v): %v", slow, err)
			continue
		}
		other()
		for _, leave := range leaves {
			leave()
		}
	}
}
