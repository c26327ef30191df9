package connect

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/temoto/robotstxt"

	"orgmem/actors/egress"
	"orgmem/proto/clock"
)

const (
	// maxRobots bounds robots.txt, as RFC 9309 asks at least.
	maxRobots = 512 << 10
	// maxCrawlDelay bounds the pause between two pages that a site may ask for.
	maxCrawlDelay = 10 * time.Second
)

// manners are those that a site asks for, in one Sync.
type manners struct {
	rules *robotstxt.RobotsData
	why   error // why nothing more of it is asked for
}

// allowed asks a site's robots.txt, once per Sync, and waits as long as it asks for. Its
// error says why the address is not to be asked for.
func (s *syncer) allowed(ctx context.Context, address string) (*manners, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, failf("has an address that is not well-formed")
	}
	site := s.sites[u.Host]
	switch {
	case site == nil:
		site = &manners{}
		site.rules, site.why = s.robots(ctx, u.Host)
		s.sites[u.Host] = site
	case site.why == nil:
		if wait := min(site.rules.FindGroup(agent).CrawlDelay, maxCrawlDelay); wait > 0 {
			if err := clock.Wait(ctx, s.clock, wait); err != nil {
				return nil, err
			}
		}
	}
	if site.why != nil {
		return nil, site.why
	}
	if !site.rules.TestAgent(u.RequestURI(), agent) { // with the query, which rules may name (RFC 9309, 2.2.2)
		return nil, failf("forbids it in its robots.txt")
	}
	return site, nil
}

// robots fetches the robots.txt of a host.
func (s *syncer) robots(ctx context.Context, host string) (*robotstxt.RobotsData, error) {
	r, err := s.do(ctx, egress.Request{
		Method: http.MethodGet, Address: "https://" + host + "/robots.txt", Header: http.Header{"User-Agent": {userAgent}},
		MaxResponse: maxRobots, Timeout: fetchTimeout,
	})
	if err != nil {
		return nil, err
	}
	if r.Status == http.StatusTooManyRequests || r.Status == http.StatusServiceUnavailable {
		return nil, statusError(r, s.clock.Now())
	}
	return robotsOf(r)
}

// robotsOf reads an answer for robots.txt. As RFC 9309 says, a site without one (4xx)
// allows all, and one that does not answer (5xx) nothing. The same goes for one that
// answers with a redirect, since none is followed: behind it may stand what forbids us.
func robotsOf(r egress.Response) (*robotstxt.RobotsData, error) {
	if class := r.Status / 100; class != 2 && class != 4 {
		return nil, failf("answered %d for its robots.txt, so that nothing of it may be asked for", r.Status)
	}
	rules, err := robotstxt.FromStatusAndBytes(r.Status, r.Body)
	if err != nil {
		return nil, failf("has a robots.txt that cannot be read")
	}
	return rules, nil
}
