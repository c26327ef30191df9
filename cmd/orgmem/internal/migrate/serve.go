package migrate

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"orgmem/proto/clock"
)

// Bounds of paging through a product's server.
const (
	pageItems = 100
	// mem0Items is the most that mem0's server lists, which knows no second page.
	mem0Items = 1000
	// maxEpisodes is how many of a group Graphiti's server is asked for, which knows no second page.
	maxEpisodes = 1_000_000
	// maxPages bounds one list, in case a server answers the same page for ever.
	maxPages = 100_000
	// maxPage bounds one answer. It goes to a file, and is read in pieces.
	maxPage = 256 << 20
	// maxHead bounds an answer that is held in memory: of lists of agents or banks.
	maxHead = 32 << 20
	// maxPatience is how often a server that is busy is asked again, and longestPause how long
	// it is waited for each time.
	maxPatience  = 6
	longestPause = time.Minute
	// answerTime bounds one answer.
	answerTime = 2 * time.Minute
)

// errPages means that a list does not end.
var errPages = errors.New("the server has more pages than are read")

// errMissing means that a server has no such route.
var errMissing = errors.New("is not there (404)")

// ServedBy are the products whose server can be paged through: all but our own.
func ServedBy() []string {
	return slices.DeleteFunc(Names(), func(name string) bool { return name == Own })
}

// Server is a product's own.
type Server struct {
	Base  string
	Key   string
	Users []string // whose memories are asked for, where the product lists only one user's
	Clock clock.Clock
	HTTP  *http.Client // nil: a plain one
}

// Fetch writes what a product's server lists into files below dir, as it answers it.
func Fetch(ctx context.Context, product, dir string, s Server) (*Found, error) {
	base, err := url.Parse(s.Base)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, fmt.Errorf("%q is not an address such as http://127.0.0.1:8888", s.Base)
	}
	if s.HTTP == nil {
		s.HTTP = &http.Client{
			Timeout: answerTime,
			// A redirect would carry the key to another address.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}
	}
	f := &fetcher{Server: s, dir: dir, found: &Found{}}
	f.Base = strings.TrimRight(s.Base, "/")
	ask := map[string]func(context.Context) error{
		"mem0": f.mem0, "zep": f.zep, "graphiti": f.graphiti, "supermemory": f.supermemory, "hindsight": f.hindsight,
		"letta": f.letta, "cognee": f.cognee,
	}[product]
	if ask == nil {
		return f.found, fmt.Errorf("--url can page through the servers of %s; of %s export to a file",
			strings.Join(ServedBy(), ", "), product)
	}
	return f.found, ask(ctx)
}

type fetcher struct {
	Server
	dir   string
	found *Found
	n     int
	// scheme is what stands before the key; empty: Bearer.
	scheme string
}

// ask is one request: a POST where it has a body.
type ask struct {
	path string
	q    url.Values
	body any // becomes JSON
}

// numbers asks for pages by their number, from 1 on, until there is no more.
func numbers(get func(page int) (more bool, err error)) error {
	for page := range maxPages {
		if more, err := get(page + 1); err != nil || !more {
			return err
		}
	}
	return errPages
}

// cursors asks for pages, each by what the one before says, until one says nothing.
func cursors(get func(q url.Values) (next string, err error)) error {
	q := url.Values{"page_size": {strconv.Itoa(pageItems)}}
	for range maxPages {
		next, err := get(q)
		if err != nil || next == "" || next == q.Get("cursor") {
			return err
		}
		q.Set("cursor", next)
	}
	return errPages
}

// offsets asks for pages until one is not full.
func offsets(get func(url.Values) (int, error)) error {
	for page := range maxPages {
		n, err := get(url.Values{"limit": {strconv.Itoa(pageItems)}, "offset": {strconv.Itoa(page * pageItems)}})
		if err != nil || n < pageItems {
			return err
		}
	}
	return errPages
}

// after asks for what comes behind the last of a page, until one is not full.
func after(get func(url.Values) (n int, last string, err error)) error {
	q := url.Values{"limit": {strconv.Itoa(pageItems)}, "order": {"asc"}}
	for range maxPages {
		n, last, err := get(q)
		if err != nil || n < pageItems || last == "" || last == q.Get("after") {
			return err
		}
		q.Set("after", last)
	}
	return errPages
}

// beside counts the records of a page, and returns what stands beside them.
func beside(in Input, l layout) (*fields, int, error) {
	n, said := 0, &fields{}
	err := readRecords(in, l, func(section string, raw []byte) {
		if section != whole {
			n++
		} else if all, ok := fieldsOf(raw); ok {
			said = all
		}
	})
	return said, n, err
}

// count counts the records of a page.
func count(in Input, l layout) (int, error) {
	n := 0
	err := readRecords(in, l, func(section string, _ []byte) {
		if section != whole {
			n++
		}
	})
	return n, err
}

// lastOf counts the records of a page, and returns the id of the last.
func lastOf(in Input) (n int, last string, err error) {
	err = readRecords(in, layout{}, func(_ string, raw []byte) {
		n++
		if f, ok := fieldsOf(raw); ok {
			last = f.text("id")
		}
	})
	return n, last, err
}

func readRecords(in Input, l layout, visit func(section string, raw []byte)) error {
	file, err := in.open()
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	err = stream(file, l, func(section string, _ map[string]json.RawMessage, raw []byte) error {
		visit(section, raw)
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: %w", in.Name, err)
	}
	return nil
}

// page writes an answer to a file.
func (f *fetcher) page(ctx context.Context, a ask, user string) (Input, error) {
	body, err := f.get(ctx, a)
	if err != nil {
		return Input{}, err
	}
	defer body.Close() //nolint:errcheck // nothing was written
	f.n++
	at := filepath.Join(f.dir, fmt.Sprintf("page-%06d.json", f.n))
	file, err := os.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Input{}, err
	}
	n, err := io.Copy(file, io.LimitReader(body, maxPage+1))
	if err = errors.Join(err, file.Close()); err != nil {
		return Input{}, fmt.Errorf("%s%s: %w", f.Base, a.path, err)
	}
	if n > maxPage {
		return Input{}, fmt.Errorf("%s%s answers more than %d MiB", f.Base, a.path, maxPage>>20)
	}
	in := Input{Name: f.Base + a.path, user: user, base: filepath.Base(at), open: opener(at)}
	f.found.Inputs = append(f.found.Inputs, in)
	return in, nil
}

// head reads an answer that says what else there is.
func (f *fetcher) head(ctx context.Context, a ask, to any) error {
	body, err := f.get(ctx, a)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // nothing was written
	if err := json.NewDecoder(io.LimitReader(body, maxHead)).Decode(to); err != nil {
		return fmt.Errorf("%s%s answers what cannot be read: %w", f.Base, a.path, err)
	}
	return nil
}

// get asks until the server is not busy.
func (f *fetcher) get(ctx context.Context, a ask) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		request, err := f.request(ctx, a)
		if err != nil {
			return nil, err
		}
		response, err := f.HTTP.Do(request)
		if err != nil {
			return nil, fmt.Errorf("no answer from %s: %w", f.Base, err)
		}
		kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
		if response.StatusCode == http.StatusOK && err == nil && kind == "application/json" {
			return response.Body, nil
		}
		response.Body.Close() //nolint:errcheck // nothing was written
		busy := response.StatusCode == http.StatusTooManyRequests || response.StatusCode == http.StatusServiceUnavailable
		if !busy || try == maxPatience {
			return nil, refused(f.Base+a.path, response.StatusCode, kind)
		}
		pause := time.Second << try
		if n, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && n > 0 {
			pause = time.Duration(min(n, int(longestPause/time.Second))) * time.Second
		}
		if err := clock.Wait(ctx, f.Clock, min(pause, longestPause)); err != nil {
			return nil, err
		}
	}
}

// request is one try.
func (f *fetcher) request(ctx context.Context, a ask) (*http.Request, error) {
	at, method, body := f.Base+a.path, http.MethodGet, io.Reader(http.NoBody)
	if len(a.q) > 0 {
		at += "?" + a.q.Encode()
	}
	if a.body != nil {
		raw, err := json.Marshal(a.body)
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(raw)
	}
	request, err := http.NewRequestWithContext(ctx, method, at, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	if a.body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if f.Key != "" {
		request.Header.Set("Authorization", cmp.Or(f.scheme, "Bearer")+" "+f.Key)
		request.Header.Set("X-Api-Key", f.Key) // of mem0's own server, and of cognee
	}
	return request, nil
}

// refused says what to do about an answer.
func refused(at string, status int, kind string) error {
	switch status {
	case http.StatusOK:
		return fmt.Errorf("%s answers %s and no JSON; is --url the address of the product's interface?", at, kind)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s refuses the key (%d); set ORGMEM_FROM_KEY to one that may read", at, status)
	case http.StatusNotFound:
		return fmt.Errorf("%s %w; is --url right, and the product that of --from?", at, errMissing)
	}
	return fmt.Errorf("%s answers %d", at, status)
}
