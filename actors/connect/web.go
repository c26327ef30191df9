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
)

const (
	// maxVisits bounds the requests for pages of one Sync, and maxVisiting their time,
	// with all the pauses that a site may ask for between them.
	maxVisits   = 500
	maxVisiting = 20 * time.Minute
	// maxListed bounds the addresses of all sitemaps together, and maxSitemaps those.
	maxListed   = maxKnown
	maxSitemaps = 20
)

// listed is an address that a sitemap names.
type listed struct{ address, changed string }

// round is how far the walk through a list of pages has come, when it takes more than
// one Sync. Its zero value begins one. A place in the list, and no address, ends it
// after so many pages whatever a site's next list says; what moves over the place
// meanwhile is met in the next round.
type round struct {
	Next   int    `json:"next"`   // the place to go on at
	Came   int    `json:"came"`   // pages that came, or had not changed
	Failed int    `json:"failed"` // those that did not
	Why    string `json:"why"`    // the reason of the last of them
}

// web takes in pages: those that are listed, or those of a sitemap. A page that is
// gone stays in the memory: a sync removes nothing.
func (s *syncer) web(ctx context.Context) error {
	s.until = s.clock.Now().Add(maxVisiting)
	var pages []listed
	for _, p := range s.config.Pages {
		pages = append(pages, listed{address: p})
	}
	if s.config.Sitemap != "" {
		var err error
		if pages, err = s.sitemap(ctx); err != nil {
			return err
		}
	}
	if len(pages) == 0 {
		return failf("lists no page")
	}
	r := &s.state.Round
	if r.Next >= len(pages) {
		*r = round{}
	}
	came := r.Came
	busy, err := s.walk(ctx, pages, r)
	if err != nil {
		return err
	}
	sum := *r
	if r.Next == len(pages) {
		*r = round{}
	}
	switch {
	case busy != "" && sum.Came == came:
		return sourceError{busy, true, s.out.Retry}
	case sum.Came == 0 && sum.Failed > 0:
		return sourceError{sum.Why, false, s.out.Retry}
	}
	var notes []string
	if sum.Failed > 0 {
		notes = append(notes, fmt.Sprintf("withheld %d of %d pages; the last %s", sum.Failed, len(pages), sum.Why))
	}
	if busy != "" {
		notes = append(notes, busy+", and the rest of its pages follows then")
	}
	s.out.Note = strings.Join(notes, "; it ")
	return nil
}

// walk asks for pages, from the round's place on. busy says that the only site of the
// list wants to be left alone, and why: the walk ends there, and goes on there. Where a
// list names several sites, the pages of a busy one have failed, and the others' come.
func (s *syncer) walk(ctx context.Context, pages []listed, r *round) (busy string, err error) {
	alone := s.config.Sitemap != "" || oneHost(pages)
	for ; r.Next < len(pages); r.Next++ {
		p := pages[r.Next]
		before, seen := s.state.Pages[p.address]
		if seen && p.changed != "" && before.Listed == p.changed {
			r.Came++
			continue
		}
		if s.visited == maxVisits || !s.clock.Now().Before(s.until) {
			s.out.More = true
			return "", nil
		}
		if err := ctx.Err(); err != nil {
			return "", err
		}
		all, err := s.page(ctx, p)
		source, _ := errors.AsType[sourceError](err)
		s.out.Retry = max(s.out.Retry, source.retry)
		switch {
		case source.busy && alone:
			s.out.More = source.retry > 0
			return source.reason, nil
		case err != nil:
			r.Failed++
			r.Why = Reason(err)
		case !all:
			if !s.out.More { // nor will there be: as much is remembered as may be
				r.Next = len(pages)
			}
			return "", nil
		default:
			r.Came++
		}
	}
	return "", nil
}

// oneHost reports whether pages are all of one site.
func oneHost(pages []listed) bool {
	hosts := map[string]bool{}
	for _, p := range pages {
		if u, err := url.Parse(p.address); err == nil {
			hosts[u.Host] = true
		}
	}
	return len(hosts) == 1
}

// page takes in one page. It reports whether there was place for it.
func (s *syncer) page(ctx context.Context, p listed) (bool, error) {
	site, err := s.allowed(ctx, p.address)
	if err != nil {
		return true, err
	}
	s.visited++
	body, header, err := s.get(ctx, p.address, "text/html, text/markdown;q=0.9, text/plain;q=0.8", maxPage)
	if source, _ := errors.AsType[sourceError](err); source.busy {
		site.why = err
	}
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
	title, content, err := s.text(ctx, name, body)
	if err != nil {
		return true, err
	}
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

// sitemap reads a sitemap and those that it names. Only pages of its own host are
// taken: who may speak for one site may not for another.
func (s *syncer) sitemap(ctx context.Context) ([]listed, error) {
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
		if _, err := s.allowed(ctx, address); err != nil {
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
