package connect

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orgmem/actors/egress"
)

const mapConfig = `{"sitemap":"https://x.example/map"}`

// mapped serves a sitemap of n pages that says of none when it changed, and the pages.
func (s *site) mapped(n int) {
	var urls strings.Builder
	for i := range n {
		fmt.Fprintf(&urls, "<url><loc>https://x.example/%d</loc></url>", i)
		s.put(fmt.Sprint("/", i), "text/html", fmt.Sprintf("<p>Page %d</p>", i))
	}
	s.put("/map", "", "<urlset>"+urls.String()+"</urlset>")
}

// pagesAsked are those that were asked for, without what stands around them.
func (s *site) pagesAsked() []string {
	return slices.DeleteFunc(slices.Clone(s.asked), func(p string) bool { return p == "/map" || p == "/robots.txt" })
}

// A site of more pages than one sync asks for, whose sitemap tells no times, comes in
// to its end, round for round.
func TestWebWalksThroughALargeSite(t *testing.T) {
	s := newSite(t)
	s.mapped(maxVisits + 1)
	var state []byte
	type round struct {
		Asked     int
		First     string
		Documents int
		More      bool
	}
	for sync, want := range []round{
		{maxVisits, "/0", maxVisits, true}, {1, "/500", 1, false}, {maxVisits, "/0", 0, true}, {1, "/500", 0, false},
	} {
		r, err := s.sync("web", mapConfig, state)
		asked := s.pagesAsked()
		if err != nil || len(asked) == 0 {
			t.Fatalf("sync %d asked for %d pages: %v", sync, len(asked), err)
		}
		got := round{len(asked), asked[0], len(r.Documents), r.More}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("sync %d (-want +got):\n%s", sync, diff)
		}
		state = r.State
	}
	// A list that has grown shorter than the place is begun anew.
	r, err := s.sync("web", mapConfig, state)
	if err != nil {
		t.Fatal(err)
	}
	s.mapped(2)
	if r, err = s.sync("web", mapConfig, r.State); err != nil || r.More || !slices.Equal(s.pagesAsked(),
		[]string{"/0", "/1"}) {
		t.Errorf("of a shorter list %q, more %v: %v", s.pagesAsked(), r.More, err)
	}
}

// The first five hundred pages are gone: the sync says so, and the next one goes on
// behind them. What it says of a round is of all its syncs.
func TestWebGoesOnBehindPagesThatAreGone(t *testing.T) {
	s := newSite(t)
	s.mapped(maxVisits + 1)
	for i := range maxVisits {
		s.status(fmt.Sprint("/", i), http.StatusNotFound, nil)
	}
	first, err := s.sync("web", mapConfig, nil)
	if Reason(err) != "answered 404" || len(first.State) == 0 || len(first.Documents) != 0 {
		t.Fatalf("%+v: %v", first, err)
	}
	r := s.must("web", mapConfig, first.State, "https://x.example/500 |  | Page 500")
	if len(s.pagesAsked()) != 1 || r.More || r.Note != "withheld 500 of 501 pages; the last answered 404" {
		t.Errorf("asked %d, %+v", len(s.pagesAsked()), r)
	}
	// The other way around a round whose end is gone has not failed.
	s.mapped(maxVisits + 1)
	s.status("/500", http.StatusNotFound, nil)
	r, err = s.sync("web", mapConfig, r.State)
	if err != nil || len(r.Documents) != maxVisits || r.Note != "" {
		t.Fatalf("%d documents, %q: %v", len(r.Documents), r.Note, err)
	}
	if r = s.must("web", mapConfig, r.State); r.Note != "withheld 1 of 501 pages; the last answered 404" {
		t.Errorf("%q", r.Note)
	}
}

// A slow site that asks for the longest pauses comes in by parts, each well within the
// time of a sync, and the pauses are kept.
func TestWebKeepsPausesAndItsTime(t *testing.T) {
	s := newSite(t)
	const pages = 300
	s.mapped(pages)
	s.put("/robots.txt", "text/plain", "User-agent: *\nCrawl-delay: 10\n")
	var state []byte
	for got, syncs := 0, 0; got < pages; syncs++ {
		began := s.clock.Now()
		r, err := s.sync("web", mapConfig, state)
		if err != nil || len(r.Documents) == 0 || syncs > 3 {
			t.Fatalf("sync %d: %d documents behind %d: %v", syncs, len(r.Documents), got, err)
		}
		if took := s.clock.Now().Sub(began); took > maxVisiting+fetchTimeout+maxCrawlDelay {
			t.Errorf("it took %v", took)
		}
		for i := 2; i < len(s.at); i++ { // behind robots.txt and the sitemap
			if pause := s.at[i].Sub(s.at[i-1]); pause != 10*time.Second {
				t.Fatalf("a pause of %v", pause)
			}
		}
		got += len(r.Documents)
		if r.More != (got < pages) {
			t.Errorf("more %v behind %d pages", r.More, got)
		}
		state = r.State
	}
}

// A site that wants to be left alone is, with what it asks for; what came before is
// kept, and the walk goes on where it ended.
func TestWebLeavesABusySiteAlone(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		header http.Header
		pause  time.Duration
	}{
		"seconds":  {429, http.Header{"Retry-After": {"120"}}, 2 * time.Minute},
		"a date":   {503, http.Header{"Retry-After": {"Wed, 15 Nov 2023 00:13:20 GMT"}}, 2 * time.Hour},
		"no time":  {429, nil, 0},
		"ages":     {503, http.Header{"Retry-After": {"99999999999999999999999"}}, maxRetryAfter},
		"the past": {429, http.Header{"Retry-After": {"Wed, 15 Nov 2006 00:13:20 GMT"}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.mapped(5)
			s.status("/2", test.status, test.header)
			r := s.must("web", mapConfig, nil, "https://x.example/0 |  | Page 0", "https://x.example/1 |  | Page 1")
			if asked := s.pagesAsked(); len(asked) != 3 {
				t.Errorf("asked for %q", asked)
			}
			if r.Retry != test.pause || r.More != (test.pause > 0) || !strings.Contains(r.Note, "left alone") {
				t.Errorf("%+v", r)
			}
			// Still: nothing came, and the sync has failed.
			_, err := s.sync("web", mapConfig, r.State)
			if !errors.Is(err, ErrSource) || RetryAfter(err) != test.pause || !slices.Equal(s.pagesAsked(), []string{"/2"}) {
				t.Errorf("asked %q: %v", s.pagesAsked(), err)
			}
			s.put("/2", "text/html", "Page 2")
			r = s.must("web", mapConfig, r.State, "https://x.example/2 |  | Page 2", "https://x.example/3 |  | Page 3",
				"https://x.example/4 |  | Page 4")
			if r.Note != "" || r.More || r.Retry != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
	// Pages of other sites come all the same, and no page of the busy one is asked for.
	s := newSite(t)
	s.mapped(3)
	s.status("/0", 429, http.Header{"Retry-After": {"120"}})
	s.pages["https://y.example/"] = func(egress.Request) egress.Response {
		return egress.Response{Status: 200, Body: []byte("Elsewhere")}
	}
	r := s.must("web", `{"pages":["https://x.example/0","https://x.example/1","https://y.example/"]}`, nil,
		"https://y.example/ |  | Elsewhere")
	if slices.Contains(s.asked, "/1") || r.Retry != 2*time.Minute || !strings.HasPrefix(r.Note,
		"withheld 2 of 3 pages; the last answered 429") {
		t.Errorf("asked %q, %+v", s.asked, r)
	}
}

// What robots.txt says is kept: of queries, for us by name, and where it has moved.
func TestRobots(t *testing.T) {
	const config = `{"pages":["https://x.example/a","https://x.example/a?print=1","https://x.example/search?q=x"]}`
	for name, test := range map[string]struct {
		robots string
		status int
		asked  []string
		reason string
	}{
		"none": {status: 404, asked: []string{"/a", "/a?print=1", "/search?q=x"}},
		"a query": {
			robots: "User-agent: *\nDisallow: /*?print=\nDisallow: /search?q=\n", asked: []string{"/a"},
			reason: "forbids it",
		},
		"all but a query": {
			robots: "User-agent: *\nDisallow: /\nAllow: /a?\n", asked: []string{"/a?print=1"},
			reason: "forbids it",
		},
		"our group forbids": {
			robots: "User-agent: *\nAllow: /\n\nUser-agent: orgmem\nDisallow: /a\n",
			asked:  []string{"/search?q=x"}, reason: "forbids it",
		},
		"our group allows": {
			robots: "User-agent: *\nDisallow: /\n\nUser-agent: OrgMem\nDisallow: /search\n",
			asked:  []string{"/a", "/a?print=1"}, reason: "forbids it",
		},
		"moved":  {status: 301, reason: "answered 301 for its robots.txt"},
		"broken": {status: 500, reason: "answered 500 for its robots.txt"},
		"busy":   {status: 429, reason: "left alone"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			for _, page := range []string{"/a", "/a?print=1", "/search?q=x"} {
				s.put(page, "text/plain", "Text of "+page)
			}
			if s.put("/robots.txt", "text/plain", test.robots); test.status != 0 {
				s.status("/robots.txt", test.status, http.Header{"Location": {"/elsewhere"}})
			}
			r, err := s.sync("web", config, nil)
			if asked := s.pagesAsked(); !slices.Equal(asked, test.asked) {
				t.Errorf("asked %q", asked)
			}
			if len(s.asked)-len(s.pagesAsked()) != 1 {
				t.Errorf("robots.txt was asked for more than once: %q", s.asked)
			}
			if why := r.Note; err != nil {
				if why = Reason(err); len(test.asked) > 0 || !strings.Contains(why, test.reason) {
					t.Errorf("failed: %v", err)
				}
			} else if (why == "") != (test.reason == "") || !strings.Contains(why, test.reason) {
				t.Errorf("it says %q", why)
			}
		})
	}
}

// A server without tags is asked by the time that it gave, in its own words.
func TestWebAsksByTheTimeOfAPage(t *testing.T) {
	const config, changed = `{"pages":["https://x.example/a"]}`, "Wed, 15 Nov 2023 00:13:20 GMT"
	s := newSite(t)
	var conditions []string
	s.pages["https://x.example/a"] = func(r egress.Request) egress.Response {
		conditions = append(conditions, r.Header.Get("If-Modified-Since"))
		head := http.Header{"Last-Modified": {changed}, "Content-Type": {"text/plain"}}
		if r.Header.Get("If-Modified-Since") == changed {
			return egress.Response{Status: http.StatusNotModified} // which need not repeat it
		}
		return egress.Response{Status: http.StatusOK, Header: head, Body: []byte("Alpha")}
	}
	r := s.must("web", config, nil, "https://x.example/a |  | Alpha")
	if want := time.Date(2023, 11, 15, 0, 13, 20, 0, time.UTC).UnixMilli(); r.Documents[0].OccurredMs != want {
		t.Errorf("it is of %d", r.Documents[0].OccurredMs)
	}
	r = s.must("web", config, r.State)
	s.must("web", config, r.State)
	if !slices.Equal(conditions, []string{"", changed, changed}) {
		t.Errorf("asked by %q", conditions)
	}
}
