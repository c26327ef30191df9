package connect

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/temoto/robotstxt"

	"orgmem/actors/egress"
	"orgmem/proto/clock"
)

const (
	// maxVisits bounds the requests for pages of one Sync.
	maxVisits = 500
	// maxListed bounds the addresses of all sitemaps together, and maxSitemaps those.
	maxListed   = maxKnown
	maxSitemaps = 20
	// maxRobots bounds robots.txt, as RFC 9309 asks at least.
	maxRobots = 512 << 10
	// maxCrawlDelay bounds the pause between two pages that a site may ask for.
	maxCrawlDelay = 10 * time.Second
)

// listed is an address that a sitemap names.
type listed struct{ address, changed string }

// web takes in pages: those that are listed, or those of a sitemap. A page that is
// gone stays in the memory: a sync removes nothing.
func (s *syncer) web(ctx context.Context) error {
	var pages []listed
	for _, p := range s.config.Pages {
		pages = append(pages, listed{address: p})
	}
	robots := map[string]*robotstxt.RobotsData{}
	if s.config.Sitemap != "" {
		var err error
		if pages, err = s.sitemap(ctx, robots); err != nil {
			return err
		}
	}
	done := 0
	for _, p := range pages {
		before, seen := s.state.Pages[p.address]
		if seen && p.changed != "" && before.Listed == p.changed {
			done++
			continue
		}
		if s.visited == maxVisits {
			s.out.More = true
			break
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		all, err := s.page(ctx, robots, p)
		var source sourceError
		switch {
		case errors.As(err, &source) && source.retry > 0:
			return err // the whole site wants to be left alone
		case err != nil:
			s.failed++
			s.whyNot = err
		case !all:
			return nil // there is no place for more
		default:
			done++
		}
	}
	switch {
	case len(pages) == 0:
		return failf("lists no page")
	case done == 0 && s.failed > 0:
		return s.whyNot
	case s.failed > 0:
		s.out.Note = fmt.Sprintf("withheld %d of %d pages; the last %s", s.failed, len(pages), Reason(s.whyNot))
	}
	return nil
}

// page takes in one page. It reports whether there was place for it.
func (s *syncer) page(ctx context.Context, robots map[string]*robotstxt.RobotsData, p listed) (bool, error) {
	if err := s.allowed(ctx, robots, p.address); err != nil {
		return true, err
	}
	s.visited++
	body, header, err := s.get(ctx, p.address, "text/html, text/markdown;q=0.9, text/plain;q=0.8", maxPage)
	if err != nil {
		return true, err
	}
	if body == nil {
		s.keep(p.address, s.validators(p.address, header), p.changed)
		return true, nil
	}
	kind, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	name := ".html" // a page without a title is not called after a file
	switch strings.TrimSpace(strings.ToLower(kind)) {
	case "text/html", "application/xhtml+xml", "":
	case "text/plain":
		name = ".txt"
	case "text/markdown":
		name = ".md"
	default:
		return true, failf("is of type %q, which is no page", kind)
	}
	title, content := text(name, body)
	if strings.TrimSpace(content) == "" {
		return true, failf("holds no text")
	}
	d := Document{ID: p.address, Title: title, Content: content, Link: p.address}
	if at, err := time.Parse(time.RFC3339, p.changed); err == nil {
		d.OccurredMs = at.UnixMilli()
	} else if at, err := http.ParseTime(header.Get("Last-Modified")); err == nil {
		d.OccurredMs = at.UnixMilli()
	}
	if !s.add(d) {
		return false, nil
	}
	s.keep(p.address, header, p.changed)
	return true, nil
}

// validators are those of a page that has not changed: what its server repeats, else
// what it said before.
func (s *syncer) validators(address string, now http.Header) http.Header {
	before := s.state.Pages[address]
	out := http.Header{}
	for name, old := range map[string]string{"ETag": before.ETag, "Last-Modified": before.Modified} {
		if v := now.Get(name); v != "" {
			old = v
		}
		out.Set(name, old)
	}
	return out
}

// allowed asks a site's robots.txt, once per Sync, and waits as long as it asks for.
// As RFC 9309 says, a site without one allows all, and one that does not answer
// nothing.
func (s *syncer) allowed(ctx context.Context, robots map[string]*robotstxt.RobotsData, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return failf("has an address that is not well-formed")
	}
	rules, known := robots[u.Host]
	if !known {
		r, err := s.do(ctx, egress.Request{
			Method: http.MethodGet, Address: "https://" + u.Host + "/robots.txt", Header: http.Header{"User-Agent": {userAgent}},
			MaxResponse: maxRobots, Timeout: fetchTimeout,
		})
		if err != nil {
			return err
		}
		if rules, err = robotsOf(r); err != nil {
			return err
		}
		robots[u.Host] = rules
	} else if wait := min(rules.FindGroup(agent).CrawlDelay, maxCrawlDelay); wait > 0 {
		if err := clock.Wait(ctx, s.clock, wait); err != nil {
			return err
		}
	}
	if !rules.TestAgent(u.EscapedPath(), agent) { // not the group, which knows nothing of a site that does not answer
		return failf("forbids it in its robots.txt")
	}
	return nil
}

func robotsOf(r egress.Response) (*robotstxt.RobotsData, error) {
	if r.Status/100 == 3 { // a redirect is not followed: as if there were none
		r.Status = http.StatusNotFound
	}
	rules, err := robotstxt.FromStatusAndBytes(r.Status, r.Body)
	if err != nil {
		return nil, failf("has a robots.txt that cannot be read")
	}
	return rules, nil
}

// sitemap reads a sitemap and those that it names. Only pages of its own host are
// taken: who may speak for one site may not for another.
func (s *syncer) sitemap(ctx context.Context, robots map[string]*robotstxt.RobotsData) ([]listed, error) {
	at, err := url.Parse(s.config.Sitemap)
	if err != nil {
		return nil, failf("has an address that is not well-formed")
	}
	var pages []listed
	queue, seen := []string{s.config.Sitemap}, map[string]bool{}
	for len(queue) > 0 && len(seen) < maxSitemaps {
		address := queue[0]
		queue = queue[1:]
		if seen[address] {
			continue
		}
		seen[address] = true
		if err := s.allowed(ctx, robots, address); err != nil {
			return nil, err
		}
		// Without conditions: what it lists is needed each time.
		delete(s.state.Pages, address)
		body, _, err := s.get(ctx, address, "application/xml, text/xml, text/plain;q=0.5", maxPage)
		if err != nil {
			return nil, err
		}
		found, maps, err := readSitemap(body)
		if err != nil {
			return nil, err
		}
		ours := func(ref string) string {
			to := absolute(address, ref)
			if u, err := url.Parse(to); err != nil || u.Host != at.Host {
				return ""
			}
			return to
		}
		for _, m := range maps {
			if to := ours(m); to != "" {
				queue = append(queue, to)
			}
		}
		for _, f := range found {
			if to := ours(f.address); to != "" && len(pages) < maxListed {
				pages = append(pages, listed{to, short(f.changed)})
			}
		}
	}
	return pages, nil
}

// readSitemap reads a sitemap, or an index of sitemaps (sitemaps.org, protocol 0.9).
func readSitemap(body []byte) (pages []listed, maps []string, err error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Strict = false
	var within, field string
	var one listed
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return pages, maps, nil
		}
		if err != nil {
			return nil, nil, failf("sent a sitemap that is no XML")
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "url", "sitemap":
				within, one = t.Name.Local, listed{}
			case "loc", "lastmod":
				field = t.Name.Local
			default:
				field = ""
			}
		case xml.CharData:
			switch field {
			case "loc":
				one.address += strings.TrimSpace(string(t))
			case "lastmod":
				one.changed += strings.TrimSpace(string(t))
			}
		case xml.EndElement:
			field = ""
			if t.Name.Local != within {
				continue
			}
			switch {
			case one.address == "" || len(pages)+len(maps) >= maxListed:
			case within == "url":
				pages = append(pages, one)
			default:
				maps = append(maps, one.address)
			}
			within = ""
		}
	}
}
