package migrate

import (
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

// ServedBy are the products whose server can be paged through.
func ServedBy() []string { return []string{"mem0", "hindsight", "letta"} }

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
	switch product {
	case "mem0":
		err = f.mem0(ctx)
	case "hindsight":
		err = f.hindsight(ctx)
	case "letta":
		err = f.letta(ctx)
	default:
		err = fmt.Errorf("--url can page through the servers of %s; of %s export to a file",
			strings.Join(ServedBy(), ", "), product)
	}
	return f.found, err
}

type fetcher struct {
	Server
	dir   string
	found *Found
	n     int
}

// mem0 is the REST server of mem0 (server/main.py): GET /memories lists one user's, and
// for an administrator's key of a newer one everybody's.
func (f *fetcher) mem0(ctx context.Context) error {
	users := f.Users
	if len(users) == 0 {
		users = []string{""}
	}
	for _, user := range users {
		q := url.Values{"top_k": {strconv.Itoa(mem0Items)}}
		if user != "" {
			q.Set("user_id", user)
		}
		in, err := f.page(ctx, "/memories", q, user)
		if err != nil {
			if user == "" {
				err = fmt.Errorf("%w; name the users with --user, where this key may not list everybody's", err)
			}
			return err
		}
		n, err := count(in, mem0().layout)
		if err != nil {
			return err
		}
		if n >= mem0Items {
			f.found.Faults = append(f.found.Faults, Fault{
				Path: f.Base + "/memories", Part: user,
				Reason: fmt.Sprintf("lists no more than %d memories, and may have more: export them to a file", mem0Items),
			})
		}
	}
	return nil
}

// hindsight lists banks, and of each its memories and its documents (hindsight_client_api,
// banks_api.py, memory_api.py, documents_api.py).
func (f *fetcher) hindsight(ctx context.Context) error {
	const root = "/v1/default/banks"
	banks := f.Users
	if len(banks) == 0 {
		var all struct {
			Banks []struct {
				ID string `json:"bank_id"`
			} `json:"banks"`
		}
		if err := f.head(ctx, root, nil, &all); err != nil {
			return err
		}
		for _, b := range all.Banks {
			banks = append(banks, b.ID)
		}
	}
	for _, bank := range banks {
		if err := f.bank(ctx, root+"/"+url.PathEscape(bank), bank); err != nil {
			return err
		}
	}
	return nil
}

// bank asks for all of one bank of Hindsight.
func (f *fetcher) bank(ctx context.Context, at, bank string) error {
	err := f.offsets(func(q url.Values) (int, error) {
		in, err := f.page(ctx, at+"/memories/list", q, bank)
		if err != nil {
			return 0, err
		}
		return count(in, hindsight().layout)
	})
	if err != nil {
		return err
	}
	return f.offsets(func(q url.Values) (int, error) {
		var page struct {
			Items []struct {
				ID string `json:"id"`
			} `json:"items"`
		}
		if err := f.head(ctx, at+"/documents", q, &page); err != nil {
			return 0, err
		}
		for _, d := range page.Items {
			if _, err := f.page(ctx, at+"/documents/"+url.PathEscape(d.ID), nil, bank); err != nil {
				return 0, err
			}
		}
		return len(page.Items), nil
	})
}

// offsets asks for pages until one is not full.
func (f *fetcher) offsets(get func(url.Values) (int, error)) error {
	for page := range maxPages {
		n, err := get(url.Values{"limit": {strconv.Itoa(pageItems)}, "offset": {strconv.Itoa(page * pageItems)}})
		if err != nil || n < pageItems {
			return err
		}
	}
	return errors.New("the server has more pages than are read")
}

// letta lists agents, and of each its blocks, passages and messages (letta_client, resources/agents).
func (f *fetcher) letta(ctx context.Context) error {
	type agent struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	var all []agent
	named := map[string]int{}
	err := f.after(func(q url.Values) (int, string, error) {
		var agents []agent
		if err := f.head(ctx, "/v1/agents/", q, &agents); err != nil || len(agents) == 0 {
			return 0, "", err
		}
		for _, a := range agents {
			named[a.Name]++
		}
		all = append(all, agents...)
		return len(agents), agents[len(agents)-1].ID, nil
	})
	if err != nil {
		return err
	}
	for _, a := range all {
		at, user := "/v1/agents/"+url.PathEscape(a.ID), a.Name
		if named[a.Name] > 1 {
			user = nameAndID(a.Name, a.ID)
			f.found.Faults = append(f.found.Faults, Fault{Path: f.Base + at, Reason: shared(a.Name, user)})
		}
		if err := f.agent(ctx, at, user); err != nil {
			return err
		}
	}
	return nil
}

// agent asks for all of one agent of Letta.
func (f *fetcher) agent(ctx context.Context, at, user string) error {
	if _, err := f.page(ctx, at+"/core-memory/blocks", nil, user); err != nil {
		return err
	}
	for _, what := range []string{"/archival-memory", "/messages"} {
		err := f.after(func(q url.Values) (int, string, error) {
			in, err := f.page(ctx, at+what, q, user)
			if err != nil {
				return 0, "", err
			}
			return lastOf(in)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// after asks for what comes behind the last of a page, until one is not full.
func (f *fetcher) after(get func(url.Values) (n int, last string, err error)) error {
	q := url.Values{"limit": {strconv.Itoa(pageItems)}, "order": {"asc"}}
	for range maxPages {
		n, last, err := get(q)
		if err != nil || n < pageItems || last == "" || last == q.Get("after") {
			return err
		}
		q.Set("after", last)
	}
	return errors.New("the server has more pages than are read")
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
func (f *fetcher) page(ctx context.Context, path string, q url.Values, user string) (Input, error) {
	body, err := f.get(ctx, path, q)
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
		return Input{}, fmt.Errorf("%s%s: %w", f.Base, path, err)
	}
	if n > maxPage {
		return Input{}, fmt.Errorf("%s%s answers more than %d MiB", f.Base, path, maxPage>>20)
	}
	in := Input{Name: f.Base + path, user: user, base: filepath.Base(at), open: opener(at)}
	f.found.Inputs = append(f.found.Inputs, in)
	return in, nil
}

// head reads an answer that says what else there is.
func (f *fetcher) head(ctx context.Context, path string, q url.Values, to any) error {
	body, err := f.get(ctx, path, q)
	if err != nil {
		return err
	}
	defer body.Close() //nolint:errcheck // nothing was written
	if err := json.NewDecoder(io.LimitReader(body, maxHead)).Decode(to); err != nil {
		return fmt.Errorf("%s%s answers what cannot be read: %w", f.Base, path, err)
	}
	return nil
}

// get asks until the server is not busy.
func (f *fetcher) get(ctx context.Context, path string, q url.Values) (io.ReadCloser, error) {
	at := f.Base + path
	if len(q) > 0 {
		at += "?" + q.Encode()
	}
	for try := 1; ; try++ {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, http.NoBody)
		if err != nil {
			return nil, err
		}
		request.Header.Set("Accept", "application/json")
		if f.Key != "" {
			request.Header.Set("Authorization", "Bearer "+f.Key)
			request.Header.Set("X-Api-Key", f.Key) // of mem0's server
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
			return nil, refused(f.Base+path, response.StatusCode, kind)
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

// refused says what to do about an answer.
func refused(at string, status int, kind string) error {
	switch status {
	case http.StatusOK:
		return fmt.Errorf("%s answers %s and no JSON; is --url the address of the product's interface?", at, kind)
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s refuses the key (%d); set ORGMEM_FROM_KEY to one that may read", at, status)
	case http.StatusNotFound:
		return fmt.Errorf("%s is not there (404); is --url right, and the product that of --from?", at)
	}
	return fmt.Errorf("%s answers %d", at, status)
}
