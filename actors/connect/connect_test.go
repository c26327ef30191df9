package connect

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"orgmem/actors/egress"
	"orgmem/proto/clock"
)

// site is a Fetcher that answers from a table, by address.
type site struct {
	t       *testing.T
	pages   map[string]func(r egress.Request) egress.Response
	asked   []string
	refused error
	clock   patient
	at      []time.Time // of what was asked
}

// patient is a clock on which nobody waits: it goes on by as much as somebody would.
type patient struct{ *clock.Fake }

func (p patient) NewTimer(d time.Duration) clock.ChanTimer {
	timer := p.Fake.NewTimer(d)
	p.Advance(d)
	return timer
}

func newSite(t *testing.T) *site {
	return &site{
		t: t, pages: map[string]func(egress.Request) egress.Response{},
		clock: patient{clock.NewFake(time.Unix(1_700_000_000, 0))},
	}
}

func (s *site) Do(_ context.Context, r egress.Request) (egress.Response, error) {
	s.asked, s.at = append(s.asked, strings.TrimPrefix(r.Address, "https://x.example")), append(s.at, s.clock.Now())
	if s.refused != nil {
		return egress.Response{}, s.refused
	}
	page, ok := s.pages[r.Address]
	if !ok {
		return egress.Response{Status: 404}, nil
	}
	out := page(r)
	if most := r.MaxResponse; int64(len(out.Body)) > most {
		out.Body, out.Cut = out.Body[:most], true
	}
	return out, nil
}

// put serves a text under a validator of its own.
func (s *site) put(path, kind, text string) {
	tag := `"` + digest(text) + `"`
	s.pages["https://x.example"+path] = func(r egress.Request) egress.Response {
		head := http.Header{"Etag": {tag}, "Content-Type": {kind}}
		if r.Header.Get("If-None-Match") == tag {
			return egress.Response{Status: 304, Header: head}
		}
		return egress.Response{Status: 200, Header: head, Body: []byte(text)}
	}
}

func (s *site) status(path string, status int, header http.Header) {
	s.pages["https://x.example"+path] = func(egress.Request) egress.Response {
		return egress.Response{Status: status, Header: header}
	}
}

// sync syncs, and tells what was asked for.
func (s *site) sync(kind, config string, before []byte) (Result, error) {
	s.asked, s.at = nil, nil
	return Sync(s.t.Context(), s, s.clock, Source{Type: kind, Config: []byte(config)}, before)
}

func (s *site) must(kind, config string, before []byte, want ...string) Result {
	s.t.Helper()
	r, err := s.sync(kind, config, before)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for _, d := range r.Documents {
		got = append(got, d.ID+" | "+d.Title+" | "+d.Content)
	}
	if !slices.Equal(got, want) {
		s.t.Fatalf("got %q\nwant %q", got, want)
	}
	return r
}

const feedConfig = `{"url":"https://x.example/feed"}`

func rss(items ...string) string {
	return `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title>` + strings.Join(items, "") +
		`</channel></rss>`
}

func rssItem(id, title, text string) string {
	return `<item><guid>` + id + `</guid><title>` + title + `</title><link>/` + id +
		`</link><pubDate>Mon, 02 Jan 2026 03:04:05 GMT</pubDate><description><![CDATA[` + text + `]]></description></item>`
}

func TestFeedIsIncremental(t *testing.T) {
	s := newSite(t)
	s.put("/feed", "application/rss+xml", rss(rssItem("a", "First &amp; best",
		"<p>Hello <b>world</b></p><script>x()</script>"), rssItem("b", "Second", "")))
	r := s.must("feed", feedConfig, nil, "a | First & best | Hello world", "b | Second | Second")
	if r.Documents[0].Link != "https://x.example/a" || r.Documents[0].OccurredMs != time.Date(2026, 1, 2, 3, 4, 5, 0,
		time.UTC).UnixMilli() || r.Known != 2 {
		t.Errorf("%+v", r)
	}
	r = s.must("feed", feedConfig, r.State)
	s.put("/feed", "application/rss+xml", rss(rssItem("c", "Third", "new"), rssItem("a", "First", "changed"),
		rssItem("b", "Second", "")))
	r = s.must("feed", feedConfig, r.State, "c | Third | new", "a | First | changed")
	s.put("/other", "application/rss+xml", rss(rssItem("a", "First", "changed")))
	s.must("feed", `{"url":"https://x.example/other"}`, r.State, "a | First | changed")
}

func TestFeedFormats(t *testing.T) {
	s := newSite(t)
	s.put("/feed", "application/atom+xml",
		`<feed xmlns="http://www.w3.org/2005/Atom"><title>T</title><entry><id>u1</id><title>Atom</title><updated>`+
			`2026-01-02T03:04:05Z</updated><content type="html">&lt;p&gt;Text&lt;/p&gt;</content></entry></feed>`)
	s.must("feed", feedConfig, nil, "u1 | Atom | Text")
	s.put("/feed", "application/feed+json",
		`{"version":"https://jsonfeed.org/version/1.1","title":"T","items":[{"id":"1","title":"JSON",`+
			`"content_text":"Plain","url":"https://y.example/1"}]}`)
	s.must("feed", feedConfig, nil, "1 | JSON | Plain")
	for _, bad := range []string{"", "hello", "<html></html>", "{}", "<rss"} {
		s.put("/feed", "text/xml", bad)
		if _, err := s.sync("feed", feedConfig, nil); !errors.Is(err, ErrSource) || !strings.Contains(Reason(err), "feed") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// What has no place comes with the next sync, although the feed has not changed.
func TestFeedBeyondTheBounds(t *testing.T) {
	s := newSite(t)
	var items []string
	for i := range maxDocuments + 20 {
		items = append(items, rssItem(fmt.Sprint("i", i), "T", fmt.Sprint("text ", i)))
	}
	s.put("/feed", "", rss(items...))
	r, err := s.sync("feed", feedConfig, nil)
	if err != nil || len(r.Documents) != maxDocuments || !r.More {
		t.Fatalf("%d documents, more %v: %v", len(r.Documents), r.More, err)
	}
	r, err = s.sync("feed", feedConfig, r.State)
	if err != nil || len(r.Documents) != 20 || r.More || r.Known != maxDocuments+20 {
		t.Fatalf("%d documents, more %v: %v", len(r.Documents), r.More, err)
	}
	if r, err = s.sync("feed", feedConfig, r.State); err != nil || len(r.Documents) != 0 {
		t.Errorf("%d documents: %v", len(r.Documents), err)
	}
}

func TestFailuresAreTold(t *testing.T) {
	s := newSite(t)
	for want, answer := range map[string]func(){
		"answered 404":         func() {},
		"redirects":            func() { s.status("/feed", 302, http.Header{"Location": {"https://elsewhere.example/"}}) },
		"credentials":          func() { s.status("/feed", 401, nil) },
		"left alone":           func() { s.status("/feed", 429, http.Header{"Retry-After": {"120"}}) },
		"more than":            func() { s.put("/feed", "", strings.Repeat("x", maxFeed+1)) },
		"could not be reached": func() { s.refused = errors.New("10.0.0.1: refused") },
	} {
		delete(s.pages, "https://x.example/feed")
		s.refused = nil
		answer()
		_, err := s.sync("feed", feedConfig, nil)
		if !errors.Is(err, ErrSource) || !strings.Contains(Reason(err), want) || strings.Contains(Reason(err), "10.0") {
			t.Errorf("%s: %v", want, err)
		}
		if len(s.asked) != 1 {
			t.Errorf("%s: asked %q", want, s.asked)
		}
		if wait := RetryAfter(err); (want == "left alone") != (wait == 2*time.Minute) {
			t.Errorf("%s: wait %v", want, wait)
		}
	}
}

func TestWebPages(t *testing.T) {
	s := newSite(t)
	const config = `{"pages":["https://x.example/a","https://x.example/secret/b","https://x.example/c"],"authorization":"Bearer t"}`
	s.put("/robots.txt", "text/plain", "User-agent: *\nDisallow: /secret/\n")
	s.put("/a", "text/html; charset=utf-8", "<html><head><title>Page A</title></head><body><p>Alpha</p></body></html>")
	s.put("/secret/b", "text/html", "hidden")
	s.put("/c", "text/plain", "Gamma")
	r := s.must("web", config, nil, "https://x.example/a | Page A | Alpha", "https://x.example/c |  | Gamma")
	if !slices.Equal(s.asked, []string{"/robots.txt", "/a", "/c"}) || !strings.Contains(r.Note, "1 of 3") ||
		!strings.Contains(r.Note, "robots.txt") {
		t.Errorf("asked %q: %q", s.asked, r.Note)
	}
	r = s.must("web", config, r.State)
	s.put("/c", "text/plain", "Delta")
	s.status("/a", 410, nil) // gone, and it stays in the memory
	r = s.must("web", config, r.State, "https://x.example/c |  | Delta")
	if r.Known != 2 || !strings.Contains(r.Note, "2 of 3") {
		t.Errorf("%d known: %q", r.Known, r.Note)
	}
	s.status("/robots.txt", 500, nil)
	if _, err := s.sync("web", config, nil); !errors.Is(err, ErrSource) || slices.Contains(s.asked, "/a") {
		t.Errorf("asked %q where robots.txt cannot be read: %v", s.asked, err)
	}
}

func TestWebSitemap(t *testing.T) {
	s := newSite(t)
	const config = `{"sitemap":"https://x.example/sitemap.xml"}`
	s.put("/sitemap.xml", "",
		`<sitemapindex><sitemap><loc>https://x.example/one.xml</loc></sitemap><sitemap><loc>`+
			`https://x.example/sitemap.xml</loc></sitemap></sitemapindex>`)
	s.put("/one.xml", "",
		`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc> https://x.example/a `+
			`</loc><lastmod>2026-01-02T00:00:00Z</lastmod></url><url><loc>https://other.example/b</loc></url><url><loc>`+
			`http://x.example/c</loc></url></urlset>`)
	s.put("/a", "text/html", "<p>Alpha</p>")
	r := s.must("web", config, nil, "https://x.example/a |  | Alpha")
	r = s.must("web", config, r.State)
	if slices.Contains(s.asked, "/a") {
		t.Errorf("asked %q for a page that its sitemap says has not changed", s.asked)
	}
	for _, bad := range []string{"", "<urlset/>", "<urlset><url></urlset", "hello"} {
		s.put("/sitemap.xml", "", bad)
		if _, err := s.sync("web", config, r.State); !errors.Is(err, ErrSource) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestEveryConfigIsTold(t *testing.T) {
	s := newSite(t)
	for _, source := range []Source{{Type: "feed", Config: []byte("x")}, {Type: "other", Config: []byte("{}")}} {
		if _, err := Sync(t.Context(), s, clock.NewFake(time.Unix(0, 0)), source, nil); !errors.Is(err, ErrSource) {
			t.Errorf("%v: %v", source.Type, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Sync(ctx, s, clock.NewFake(time.Unix(0, 0)), Source{Type: "feed", Config: []byte(feedConfig)},
		nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// FuzzFeed: a feed is documents that can be stored, each once, and none the second
// time; a sitemap is addresses.
func FuzzFeed(f *testing.F) {
	f.Add([]byte(rss(rssItem("a", "T", "x"))))
	f.Add([]byte(`<feed xmlns="http://www.w3.org/2005/Atom"><title>F</title><entry><id>a</id><title>T</title><link ` +
		`href="/a"/><updated>2026-03-01T12:00:00Z</updated><content type="html">&lt;p&gt;x</content></entry></feed>`))
	f.Add([]byte(`<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" ` +
		`xmlns="http://purl.org/rss/1.0/"><channel/><item rdf:about="a"><title>T</title></item></rdf:RDF>`))
	f.Add([]byte(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://x.example/a</loc>` +
		`<lastmod>2026-03-01</lastmod></url></urlset>`))
	f.Add([]byte(`<sitemapindex><sitemap><loc>https://x.example/b.xml</loc></sitemap></sitemapindex>`))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		s := newSite(t)
		s.put("/feed", "", string(raw))
		r, err := s.sync("feed", feedConfig, nil)
		if err != nil && !errors.Is(err, ErrSource) {
			t.Error(err)
		}
		if len(r.Documents) > maxDocuments {
			t.Errorf("%d documents", len(r.Documents))
		}
		for _, d := range r.Documents {
			if strings.TrimSpace(d.Content) == "" || !utf8.ValidString(d.Content) || !utf8.ValidString(d.ID+d.Title+d.Link) {
				t.Errorf("%+v", d)
			}
		}
		if again, also := s.sync("feed", feedConfig, r.State); err == nil && !r.More &&
			(also != nil || len(again.Documents) != 0) {
			t.Errorf("a second time: %+v, %v", again.Documents, also)
		}
		if _, _, err := readSitemap(raw); err != nil && !errors.Is(err, ErrSource) {
			t.Error(err)
		}
	})
}

// FuzzPage syncs a page under a robots.txt, which are read with libraries of their
// own, as is the HTML.
func FuzzPage(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /secret/\nCrawl-delay: 0\nSitemap: https://x.example/map\n"),
		[]byte("<html><title>T</title><article><p>Text</p></article></html>"))
	f.Add([]byte("\xef\xbb\xbfuser-agent: orgmem\nallow: /*$\ndisallow: /a*b*c\n"),
		[]byte("<!DOCTYPE html><table><tr><td>x<script>y</script>"))
	f.Fuzz(func(t *testing.T, robots, page []byte) {
		s := newSite(t)
		s.put("/robots.txt", "text/plain", string(robots))
		s.put("/a", "text/html", string(page))
		r, err := s.sync("web", `{"pages":["https://x.example/a"]}`, nil)
		if err != nil && !errors.Is(err, ErrSource) {
			t.Error(err)
		}
		for _, d := range r.Documents {
			if d.ID != "https://x.example/a" || strings.TrimSpace(d.Content) == "" {
				t.Errorf("%+v", d)
			}
		}
		rules, err := robotsOf(egress.Response{Status: http.StatusOK, Body: robots})
		if err != nil {
			return
		}
		// What it forbids is not asked for.
		if slices.Contains(s.asked, "/a") && !rules.TestAgent("/a", agent) {
			t.Errorf("asked for what is forbidden: %q", s.asked)
		}
	})
}
