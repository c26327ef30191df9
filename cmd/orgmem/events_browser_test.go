package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
)

// eventsClient is the client that pages use.
const eventsClient = "../../docs/events/client.js"

// TestStreamInABrowserSurvivesADrain: a page in headless Chromium watches through
// the documented client; the node that serves its stream is drained and stopped as an
// operator does it; and the page sees what happens afterwards, by itself.
func TestStreamInABrowserSurvivesADrain(t *testing.T) {
	if testing.Short() {
		t.Skip("starts three processes and a browser")
	}
	b := startBrowser(t) // first: it may skip
	c := startTrio(t)
	owner := c.owner()
	balancer := startBalancer(t, c, owner)
	b.open(balancer.url + "/")
	b.run(nil, `
		const [key] = arguments;
		window.states = [];
		window.jobs = [];
		return import("/client.js").then(({ watchEvents }) => {
			window.watching = watchEvents({
				key,
				onEvent: (event) => event.type === "job.completed" && jobs.push(event.data.jobId),
				onState: (state, why) => states.push([state, why]),
			});
		});`, c.key)
	c.arrives(b, owner)

	serving := int(balancer.serves.Load()) // the owner, unless that was not ready for a moment
	c.run(slices.Concat([]string{"cluster", "drain", fmt.Sprintf("n%d", serving), "--wait", "2m"}, c.operator(serving))...)
	if err := c.nodes[serving].Stop(); err != nil {
		t.Error(err)
	}
	c.arrives(b, (serving+1)%len(c.nodes))
	if int(balancer.serves.Load()) == serving {
		t.Error("the stream is served by a node that has ended")
	}

	var states [][2]string
	b.run(&states, `
		watching.close();
		return new Promise((done) => {
			const look = () => states.at(-1)[0] === "closed" ? done(states) : setTimeout(look);
			look();
		});`)
	var names []string
	for _, s := range states {
		names = append(names, s[0])
	}
	lost := slices.Index(names, "waiting")
	if lost < 0 || !slices.Contains(names[:lost], "open") || !slices.Contains(names[lost:], "open") {
		t.Errorf("it did not come again: %v", states)
	}
	if names[len(names)-1] != "closed" || slices.Contains(names, "refused") {
		t.Errorf("it ended with %v", states)
	}
}

// arrives makes something happen through node i until the page has seen it: once for
// each stream that the page opens, since what happens between two of them is missed.
func (c *trio) arrives(b *browser, i int) {
	c.t.Helper()
	caused, job := 0, ""
	eventually(c.t, "an event in the page", func() bool {
		var seen struct {
			Opened int
			Open   bool
			Jobs   []string
		}
		b.run(&seen, `return {
			opened: states.filter(([state]) => state === "open").length,
			open: states.at(-1)?.[0] === "open",
			jobs,
		}`)
		if job != "" && slices.Contains(seen.Jobs, job) {
			return true
		}
		if seen.Open && seen.Opened > caused {
			a := c.client(i).send(c.t.Context(), http.MethodPost, "/v1/ingest", "",
				map[string]any{"content": "The boiler was serviced in May."})
			var accepted struct{ JobID string }
			if a.Status == http.StatusAccepted && json.Unmarshal(a.Body, &accepted) == nil {
				caused, job = seen.Opened, accepted.JobID
			}
		}
		return false
	})
}

// balancer is what stands before a cluster: one origin for the page and the
// interface, which sends a request to a node that is ready.
type balancer struct {
	url    string
	serves atomic.Int32 // the node that has had the last stream
}

// startBalancer prefers a node, as long as it is ready.
func startBalancer(t *testing.T, c *trio, preferred int) *balancer {
	t.Helper()
	b := &balancer{}
	// The addresses of now: a node that ends answers no more.
	var nodes []*httputil.ReverseProxy
	var ready []string
	for _, n := range c.nodes {
		target, err := url.Parse(n.BaseURL)
		if err != nil {
			t.Fatal(err)
		}
		nodes = append(nodes, &httputil.ReverseProxy{
			Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
			FlushInterval: -1, // events go on as they come
			ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) {
				w.WriteHeader(http.StatusBadGateway)
			},
		})
		ready = append(ready, n.OperatorURL+"/readyz")
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", servePage)
	mux.HandleFunc("GET /client.js", serveClient)
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		for k := range nodes {
			i := (preferred + k) % len(nodes)
			if a := (caller{base: ready[i]}).send(r.Context(), http.MethodGet, "", "", nil); a.Status == http.StatusOK {
				b.serves.Store(int32(i))
				nodes[i].ServeHTTP(w, r)
				return
			}
		}
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() { server.CloseClientConnections(); server.Close() })
	b.url = server.URL
	return b
}

func servePage(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<!doctype html><title>events</title>")
}

func serveClient(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/javascript") // whatever the machine says of .js
	http.ServeFile(w, r, eventsClient)
}

// TestEventsClientInABrowser gives the client what the service rarely does: text cut
// anywhere, and refusals.
func TestEventsClientInABrowser(t *testing.T) {
	b := startBrowser(t)
	var asked atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", servePage)
	mux.HandleFunc("GET /client.js", serveClient)
	mux.HandleFunc("GET /v1/events", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Svc-API-Key") != "svc_prod_x" {
			t.Errorf("asked with the key %q", r.Header.Get("X-Svc-API-Key"))
		}
		switch asked.Add(1) {
		case 1:
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		case 3: // what a proxy shows while there is nothing behind it
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>Back soon</title>: the page's own words\n\n")
		case 4: // an event, one that is none, one that a handler fails on, and the end
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, ": ping\n\nevent: a\nid: 1\ndata: {\"type\":\"a\",\"data\":{\"n\":1},\"timestamp\":\"now\"}\n\n"+
				"event: b\ndata: {\n\nevent: c\ndata: {\"type\":\"c\"}\n\n: the stream ends here\n\n")
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	b.open(server.URL + "/")

	var got []string
	b.run(&got, `
		const said = [];
		return import("/client.js").then(({ watchEvents }) => new Promise((done) => {
			watchEvents({
				key: "svc_prod_x",
				onEvent: (event) => {
					said.push(JSON.stringify(event));
					if (event.type === "c") throw new Error("the page's affair");
				},
				onState: (state, why) => { said.push((state + " " + why).trim()); if (state === "refused") done(said); },
			});
		}));`)
	want := []string{
		"connecting", "waiting the service answered 429",
		"connecting", "waiting the service answered 503",
		"connecting", "waiting what answered is no event stream",
		"connecting", "open", `{"id":"1","type":"a","data":{"n":1},"timestamp":"now"}`, `{"id":"","type":"c"}`,
		"waiting the stream ends here",
		"connecting", "refused the service answered 401",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it said\n%q, want\n%q", got, want)
	}

	// The same frames, however the text is cut and lines end.
	var frames []string
	b.run(&frames, `
		return import("/client.js").then(({ Frames }) => {
			const text = ": hello\n\nevent:a\nid: 7\ndata: 1\ndata\ndata:  2\nretry: 5\n\n\ndata: ü\n\nevent: none\n\ndata: cut";
			const differ = [];
			const all = (parts) => {
				const f = new Frames();
				return JSON.stringify(parts.flatMap((part) => [...f.feed(part)]));
			};
			const want = all([text]);
			for (const end of ["\n", "\r\n", "\r"]) {
				const spelled = text.replaceAll("\n", end);
				for (let cut = 0; cut <= spelled.length; cut++) {
					const got = all([spelled.slice(0, cut), spelled.slice(cut)]);
					if (got !== want) differ.push(JSON.stringify(end) + " cut at " + cut + ": " + got);
				}
				if (all([...spelled]) !== want) differ.push(JSON.stringify(end) + " by characters");
			}
			let refused = false;
			try { [...new Frames().feed("x".repeat((1 << 20) + 1))]; } catch { refused = true; }
			return [want, String(refused), ...differ];
		});`)
	if want := []string{`[{"comment":"hello"},{"event":"a","id":"7","data":"1\n\n 2"},{"event":"message","id":"",` +
		`"data":"ü"}]`, "true"}; !reflect.DeepEqual(frames, want) {
		t.Errorf("frames %q", frames)
	}
}

// The console is to be written in TypeScript, and takes the client's types from its
// comments.
func TestEventsClientHasTypes(t *testing.T) {
	compiler, err := filepath.Abs("../../docs/node_modules/.bin/tsc")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(compiler); err != nil {
		t.Skipf("no TypeScript compiler (make typescript installs it): %v", err)
	}
	if _, err := os.Stat(eventsClient); err != nil { // go test then knows what its cached result depends on
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), compiler, "--noEmit", "--allowJs", "--checkJs", "--strict",
		"--noUncheckedIndexedAccess",
		"--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler", "--lib",
		"es2023,dom,dom.iterable,dom.asynciterable", eventsClient).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
