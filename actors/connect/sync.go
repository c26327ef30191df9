package connect

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"orgmem/actors/egress"
	"orgmem/brain/format"
	"orgmem/brain/format/reading"
	"orgmem/proto/clock"
)

const (
	// maxDocuments and maxText bound what one Sync returns: some minutes of embedding,
	// and half of what one commit takes. What is over comes with the next Sync.
	maxDocuments = 500
	maxText      = 8 << 20
	// maxKnown bounds the documents that a state remembers, at some 50 bytes each.
	maxKnown = 10_000
	// maxFeed bounds a feed, maxPage a page or a sitemap.
	maxFeed = 8 << 20
	maxPage = 4 << 20
	// fetchTimeout bounds one request for a page; a slow site is given longer than a
	// webhook's receiver, since nobody waits.
	fetchTimeout = 20 * time.Second
	// maxRetryAfter bounds the pause that a source may ask for.
	maxRetryAfter = 24 * time.Hour
)

// agent is what we call ourselves, in requests and before robots.txt.
const (
	agent     = "orgmem"
	userAgent = "orgmem-connectors/1"
)

// Fetcher makes one request under the rules for addresses; *egress.Client is one.
type Fetcher interface {
	Do(ctx context.Context, r egress.Request) (egress.Response, error)
}

// ErrSource is wrapped by every failure that is the source's. The text behind it
// completes the sentence "the source …", for the tenant.
var ErrSource = errors.New("source failed")

// sourceError is one of them.
type sourceError struct {
	reason string
	busy   bool          // the source wants to be left alone,
	retry  time.Duration // for so long, where it says how long
}

func (e sourceError) Error() string { return ErrSource.Error() + ": " + e.reason }
func (e sourceError) Unwrap() error { return ErrSource }

func failf(format string, args ...any) error {
	return sourceError{reason: fmt.Sprintf(format, args...)}
}

// Reason is what a tenant may read of an error of Sync.
func Reason(err error) string {
	if e, ok := errors.AsType[sourceError](err); ok {
		return e.reason
	}
	return "could not be read"
}

// RetryAfter is how long the source asks to be left alone; 0 when it does not.
func RetryAfter(err error) time.Duration {
	e, _ := errors.AsType[sourceError](err)
	return e.retry
}

// Document is one entry, page or file. ID tells it from the others of its source, and
// stays the same when its text changes.
type Document struct {
	ID         string
	Title      string
	Content    string
	Link       string
	OccurredMs int64 // 0: the source does not say
}

// Result is what a Sync found.
type Result struct {
	Documents []Document // new or changed
	State     []byte
	Known     int           // documents that the source had so far
	Note      string        // completes "the source …": what could not be fetched; empty: all could
	More      bool          // what is over the bounds waits for the next Sync
	Retry     time.Duration // how long the source asks to be left alone; 0: it does not
}

// Source says what to fetch.
type Source struct {
	Type   string // feed, web, git
	Config []byte // the connector's config, secrets included
	// Reading waits until a text or a repository may be read that may come to hold most
	// bytes, and returns what it may hold. Its errors end the Sync. nil: nothing bounds it
	// but package format and the bounds of this one.
	Reading func(ctx context.Context, most int) (Memory, error)
}

// Memory is what the reading of something may hold, beginning with reading.FirstMemory.
type Memory struct {
	Most int                   // all that it gets
	More func(bytes int) error // waits for more; its errors end the Sync
	GoOn func() error          // asked now and then; its errors end the Sync
	End  func()                // called once, at the end
}

// config is that of all types.
type config struct {
	URL           string   `json:"url"`
	Sitemap       string   `json:"sitemap"`
	Pages         []string `json:"pages"`
	Branch        string   `json:"branch"`
	Path          string   `json:"path"`
	Authorization string   `json:"authorization"`
	Token         string   `json:"token"`
}

// state is what one Sync leaves to the next.
type state struct {
	// Of is the digest of what was fetched: another address begins anew.
	Of string `json:"of"`
	// Pages are the validators of what was fetched, by address.
	Pages map[string]page `json:"pages,omitempty"`
	// Known are the digests of documents, by the digests of their ids.
	Known map[string]string `json:"known,omitempty"`
	// Commit is the head of a repository that was read to its end.
	Commit string `json:"commit,omitempty"`
	Round  round  `json:"round,omitzero"`
}

// page is what a server said of a resource.
type page struct {
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty"`
	Listed   string `json:"listed,omitempty"` // when it changed, as a sitemap says
}

// syncer is one Sync.
type syncer struct {
	fetch   Fetcher
	reading func(context.Context, int) (Memory, error)
	held    *held // while a repository is read
	clock   clock.Clock
	config  config
	state   state
	out     Result
	size    int
	sites   map[string]*manners // by host
	visited int
	until   time.Time // no page is begun behind it
}

// Sync fetches what is new at a source. before is the State of the Sync before, nil at
// first. Its errors wrap ErrSource, or are ctx's. One that wraps ErrSource may come
// with a State, and never with documents: the walk through a list of pages has gone on,
// although nothing came of it.
func Sync(ctx context.Context, fetch Fetcher, c clock.Clock, source Source, before []byte) (Result, error) {
	s := &syncer{fetch: fetch, clock: c, reading: source.Reading, sites: map[string]*manners{}}
	if err := json.Unmarshal(source.Config, &s.config); err != nil {
		return Result{}, failf("has a config that cannot be read")
	}
	of := digest(
		source.Type, s.config.URL, s.config.Sitemap, strings.Join(s.config.Pages, "\n"), s.config.Branch, s.config.Path,
	)
	if json.Unmarshal(before, &s.state) != nil || s.state.Of != of {
		s.state = state{Of: of}
	}
	if s.state.Pages == nil {
		s.state.Pages = map[string]page{}
	}
	if s.state.Known == nil {
		s.state.Known = map[string]string{}
	}
	began := s.state.Round
	var err error
	switch source.Type {
	case "feed":
		err = s.feed(ctx)
	case "web":
		err = s.web(ctx)
	case "git":
		err = s.git(ctx)
	default:
		err = failf("has a type that this version does not know")
	}
	if ctx.Err() != nil {
		return Result{}, ctx.Err()
	}
	// Digests of what nobody gets must not be remembered.
	if err != nil && (s.state.Round == began || len(s.out.Documents) > 0) {
		return Result{}, err
	}
	raw, bad := json.Marshal(s.state)
	if bad != nil {
		return Result{}, bad
	}
	if err != nil {
		return Result{State: raw}, err
	}
	s.out.Known, s.out.State = len(s.state.Known), raw
	return s.out, nil
}

// digest is a short digest of texts: enough to tell ten thousand from each other.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil)[:10])
}

// add takes a document into the result, unless it is known as it is. It reports
// whether it, or what is known, has a place: false means that it is left to the next
// Sync.
func (s *syncer) add(d Document) bool {
	d.Content = strings.TrimSpace(d.Content)
	if d.Content == "" || !utf8.ValidString(d.Content) {
		return true
	}
	id, now := digest(d.ID), digest(d.Title, d.Content)
	before, known := s.state.Known[id]
	if known && before == now {
		return true
	}
	if len(s.out.Documents) >= maxDocuments || s.size+len(d.Content) > maxText && s.size > 0 ||
		!known && len(s.state.Known) >= maxKnown {
		s.out.More = s.out.More || len(s.state.Known) < maxKnown
		return false
	}
	s.state.Known[id] = now
	s.size += len(d.Content)
	s.out.Documents = append(s.out.Documents, d)
	return true
}

// get asks for a resource, on the condition that it has changed: a nil body says that
// it has not.
func (s *syncer) get(
	ctx context.Context, address, accept string, most int64,
) (body []byte, header http.Header, err error) {
	head := http.Header{"User-Agent": {userAgent}, "Accept": {accept}}
	if s.config.Authorization != "" {
		head.Set("Authorization", s.config.Authorization)
	}
	before := s.state.Pages[address]
	if before.ETag != "" {
		head.Set("If-None-Match", before.ETag)
	}
	if before.Modified != "" {
		head.Set("If-Modified-Since", before.Modified)
	}
	r, err := s.do(ctx, egress.Request{
		Method: http.MethodGet, Address: address, Header: head, MaxResponse: most, Timeout: fetchTimeout,
	})
	if err != nil {
		return nil, nil, err
	}
	if r.Status == http.StatusNotModified && (before.ETag != "" || before.Modified != "") {
		return nil, r.Header, nil
	}
	if err := statusError(r, s.clock.Now()); err != nil {
		return nil, nil, err
	}
	if r.Cut {
		return nil, nil, failf("sent more than %d MiB", most>>20)
	}
	if r.Body == nil {
		r.Body = []byte{}
	}
	return r.Body, r.Header, nil
}

// keep remembers what a server said of a resource that was taken in.
func (s *syncer) keep(address string, header http.Header, listed string) {
	if len(s.state.Pages) >= maxKnown {
		return
	}
	s.state.Pages[address] = page{
		ETag: short(header.Get("ETag")), Modified: short(header.Get("Last-Modified")), Listed: listed,
	}
}

// short drops what is too long for a validator: they are some dozen bytes long.
func short(v string) string {
	if len(v) > 256 {
		return ""
	}
	return v
}

// do makes a request, and says for the tenant why there is no answer.
func (s *syncer) do(ctx context.Context, r egress.Request) (egress.Response, error) {
	if s.held != nil {
		r.Grow = s.held.take
	}
	out, err := s.fetch.Do(ctx, r)
	switch {
	case s.held != nil && s.held.refused != nil:
		return out, s.held.refused
	case err != nil:
		return out, failf("%s", egress.Reason(err))
	}
	return out, nil
}

// statusError is what an answer other than 200 means at a time.
func statusError(r egress.Response, now time.Time) error {
	switch {
	case r.Status == http.StatusOK:
		return nil
	case r.Status == http.StatusTooManyRequests, r.Status == http.StatusServiceUnavailable:
		return sourceError{
			fmt.Sprintf("answered %d: it wants to be left alone for a while", r.Status), true, retryAfter(r.Header, now),
		}
	case r.Status/100 == 3:
		return failf("answered %d: it has moved, and redirects are not followed; give its new address", r.Status)
	case r.Status == http.StatusUnauthorized, r.Status == http.StatusForbidden:
		return failf("answered %d: it wants other credentials", r.Status)
	}
	return failf("answered %d", r.Status)
}

// retryAfter reads the header in both of its forms, seconds and a date (RFC 9110,
// 10.2.3), within maxRetryAfter; 0 where it says nothing.
func retryAfter(h http.Header, now time.Time) time.Duration {
	said := strings.TrimSpace(h.Get("Retry-After"))
	if at, err := http.ParseTime(said); err == nil {
		return min(max(at.Sub(now), 0), maxRetryAfter)
	}
	n, err := strconv.ParseUint(said, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range it is the largest
		return 0
	}
	return time.Duration(min(n, uint64(maxRetryAfter/time.Second))) * time.Second
}

// text is the text of HTML, and the title that it says; an error ends the Sync.
func (s *syncer) text(ctx context.Context, name string, body []byte) (title, content string, err error) {
	limits := reading.Limits{Bytes: maxText}
	switch {
	case s.held != nil: // to wait for a second reading while one is held could be for ever
		before := s.held.used
		defer func() { s.held.used = before + len(title) + len(content) }()
		if err := s.held.take(reading.FirstMemory); err != nil {
			return "", "", err
		}
		limits.GoOn, limits.More = s.held.GoOn, s.held.take
	case s.reading != nil:
		m, err := s.reading(ctx, reading.MaxMemory)
		if err != nil {
			return "", "", err
		}
		defer m.End()
		limits.GoOn, limits.More = m.GoOn, m.More
	}
	docs, _, err := format.Documents(name, body, limits)
	if errors.Is(err, reading.ErrFile) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	var parts []string
	for _, d := range docs {
		if d.Refused == "" && strings.TrimSpace(d.Content) != "" {
			parts = append(parts, d.Content)
		}
		if title == "" {
			title = d.Title
		}
	}
	return title, strings.Join(parts, "\n\n"), nil
}

// absolute resolves a reference against an address; empty when it is no https address.
func absolute(base, ref string) string {
	at, err := url.Parse(base)
	if err != nil {
		return ""
	}
	u, err := at.Parse(strings.TrimSpace(ref))
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return ""
	}
	u.Fragment = ""
	return u.String()
}
