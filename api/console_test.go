package api

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"

	"orgmem/api/console"
)

// testConsole is a console of three files, whose code is "open".
func testConsole(c *Config) {
	c.Console = console.Config{
		Files: fstest.MapFS{
			"index.html":        {Data: []byte("<p>public</p>")},
			"operator.html":     {Data: []byte("<p>operator</p>")},
			"icon.svg":          {Data: []byte("<svg/>")},
			"assets/app-1a2.js": {Data: bytes.Repeat([]byte("let a;"), 500)},
		},
		Page: "index.html", OperatorPage: "operator.html", SignIn: &console.SignIn{},
	}
	c.Console.SignIn.Offer("open", goodKey)
}

// send asks the handler of one interface, from the address.
func send(t *testing.T, h http.Handler, method, path, from, body string, headers ...string) *http.Response {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:8080"+path, strings.NewReader(body))
	r.RemoteAddr = from
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
			continue
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, res *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

const thisMachine = "127.0.0.1:50000"

func TestConsoleServesEveryAddressOfItsViews(t *testing.T) {
	t.Parallel()
	s := newHarness(t, testConsole).s
	for _, path := range []string{
		"/console", "/console/", "/console/memory/nodes/a%2Fb", "/console/index.html",
		"/console/operator.html", "/console/no.such.file", "/console/..%2f..%2fetc",
	} {
		res := send(t, s.public.Handler, http.MethodGet, path, thisMachine, "")
		if got := bodyOf(t, res); res.StatusCode != http.StatusOK || got != "<p>public</p>" {
			t.Errorf("%s: %d %q, not the page", path, res.StatusCode, got)
		}
		if got := res.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s: the page may be kept: %q", path, got)
		}
		policy := res.Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") ||
			strings.Contains(policy, "http") {
			t.Errorf("%s: policy %q lets more in than the page needs", path, policy)
		}
	}
	res := send(t, s.operator.Handler, http.MethodGet, "/console/", thisMachine, "")
	if got := bodyOf(t, res); got != "<p>operator</p>" {
		t.Errorf("the operator interface serves %q", got)
	}
	res = send(t, s.public.Handler, http.MethodGet, "/console/assets/app-old.js", thisMachine, "")
	if res.StatusCode != http.StatusNotFound {
		t.Errorf("a script that is gone: %d; a page would be taken for it", res.StatusCode)
	}
	without := newHarness(t).s.public.Handler
	if res := send(t, without, http.MethodGet, "/console", thisMachine, ""); res.StatusCode != http.StatusNotFound {
		t.Errorf("without files: %d", res.StatusCode)
	}
}

func TestConsoleFilesAreKeptAndCompressed(t *testing.T) {
	t.Parallel()
	public := newHarness(t, testConsole).s.public.Handler
	const script = "/console/assets/app-1a2.js"
	plain := send(t, public, http.MethodGet, script, thisMachine, "")
	whole := bodyOf(t, plain)
	if len(whole) != 3000 || !strings.Contains(plain.Header.Get("Cache-Control"), "immutable") ||
		!strings.HasPrefix(plain.Header.Get("Content-Type"), "text/javascript") {
		t.Errorf("%d bytes, %v", len(whole), plain.Header)
	}
	packed := send(t, public, http.MethodGet, script, thisMachine, "", "Accept-Encoding", "br, gzip")
	if packed.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("not compressed: %v", packed.Header)
	}
	r, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || string(got) != whole {
		t.Errorf("unpacked: %d bytes, %v", len(got), err)
	}
	unwanted := send(t, public, http.MethodGet, script, thisMachine, "", "Accept-Encoding", "gzip;q=0")
	if unwanted.Header.Get("Content-Encoding") != "" {
		t.Error("compressed for one who does not want it")
	}
	tag := plain.Header.Get("Etag")
	res := send(t, public, http.MethodGet, script, thisMachine, "", "If-None-Match", `"other", `+tag)
	if res.StatusCode != http.StatusNotModified || bodyOf(t, res) != "" {
		t.Errorf("asked again with its tag: %d", res.StatusCode)
	}
}

func TestCodeSignsInOnceAndFromThisMachine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a", 2<<10)
	for _, c := range []struct {
		name, from, body string
		headers          []string
		want             int
	}{
		{"another machine", "192.0.2.7:50000", `{"code":"open"}`, nil, http.StatusForbidden},
		{
			"a page of another origin", thisMachine, `{"code":"open"}`,
			[]string{"Origin", "http://evil.example"},
			http.StatusForbidden,
		},
		{
			"a name that points here (DNS rebinding)", thisMachine, `{"code":"open"}`,
			[]string{"Origin", "http://evil.example:8080", "Host", "evil.example:8080"},
			http.StatusForbidden,
		},
		{"another code", thisMachine, `{"code":"0pen"}`, nil, http.StatusUnauthorized},
		{"no code", thisMachine, `{}`, nil, http.StatusUnauthorized},
		{"no JSON", thisMachine, `code=open`, nil, http.StatusBadRequest},
		{"a form", thisMachine, `{"code":"open"}`, []string{"Content-Type", "text/plain"}, http.StatusUnsupportedMediaType},
		{"a long body", thisMachine, `{"code":"` + long + `"}`, nil, http.StatusRequestEntityTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			public := newHarness(t, testConsole).s.public.Handler
			res := send(t, public, http.MethodPost, "/console/session", c.from, c.body, c.headers...)
			if got := bodyOf(t, res); res.StatusCode != c.want || strings.Contains(got, goodKey) {
				t.Errorf("%d %s, want %d", res.StatusCode, got, c.want)
			}
			// And it has not spent the code.
			res = send(t, public, http.MethodPost, "/console/session", thisMachine, `{"code":"open"}`)
			var got struct{ Key string }
			if err := json.NewDecoder(res.Body).Decode(&got); err != nil || got.Key != goodKey {
				t.Errorf("the right code: %d %v, %v", res.StatusCode, got, err)
			}
			if got := res.Header.Get("Cache-Control"); got != "no-store" {
				t.Errorf("the answer with the key may be kept: %q", got)
			}
			res = send(t, public, http.MethodPost, "/console/session", thisMachine, `{"code":"open"}`)
			if res.StatusCode != http.StatusUnauthorized {
				t.Errorf("the same code again: %d", res.StatusCode)
			}
		})
	}
}

func TestGuessingWithdrawsTheCode(t *testing.T) {
	t.Parallel()
	public := newHarness(t, testConsole).s.public.Handler
	for range 10 { // console.maxGuesses
		send(t, public, http.MethodPost, "/console/session", thisMachine, `{"code":"guess"}`)
	}
	res := send(t, public, http.MethodPost, "/console/session", thisMachine, `{"code":"open"}`)
	if res.StatusCode != http.StatusUnauthorized {
		t.Errorf("after guesses the code is still good: %d", res.StatusCode)
	}
}
