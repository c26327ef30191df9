package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

const (
	eventDrains  = 20 // by command and by SIGTERM in turn
	eventsEach   = 500
	eventWriters = 4
	eventPace    = 8 * time.Millisecond // of one writer
	// eventsAround are written on either side of the drain.
	eventsAround = 150
	// gapSlack is how far an event's own time may be from that at which a stream has it:
	// it is made before its commit, which a drain delays. A client begins its gap so much
	// before the last that it had.
	gapSlack    = 2 * time.Second
	recordMost  = 5 * time.Minute // until the last delivery
	recordQuiet = 3 * time.Second // for what is on its way through a stream
)

// clientEvents drains the node of an organization again and again while things happen
// there and every client watches through a load balancer. A webhook gets every event, and
// so is the record: an event that a stream lacks must lie in a gap that the client told.
func (b *bench) clientEvents(ctx context.Context, drivers []driver) error {
	record, err := newRecord(b.dir)
	if err != nil {
		return err
	}
	defer record.server.Close()
	c, err := b.cluster(ctx, record.args...)
	if err != nil {
		return errors.Join(err, c.end())
	}
	return errors.Join(b.watchDrains(ctx, c, drivers, record), c.end())
}

type watching struct {
	driver
	*driven
	file string
}

func (b *bench) watchDrains(ctx context.Context, c trio, drivers []driver, record *record) error {
	nodes, err := c.nodes(ctx)
	if err != nil {
		return err
	}
	hook := map[string]any{"url": record.server.URL + "/", "eventTypes": []string{"graph.updated"}}
	if err := c[0].call(ctx, http.MethodPost, "/v1/webhooks", hook, nil); err != nil {
		return err
	}
	front, err := newBalancer(ctx, c)
	if err != nil {
		return err
	}
	defer front.close()
	var all []watching
	defer func() {
		for _, w := range all {
			w.kill()
		}
	}()
	for _, d := range drivers {
		w := watching{driver: d, file: filepath.Join(b.dir, "events-"+d.language)}
		var ready struct{ Ready bool }
		if w.driven, err = d.start(ctx, front.url(), c[0].key, "events", w.file); err != nil {
			return err
		}
		all = append(all, w)
		if err := w.line(&ready); err != nil {
			return err
		}
	}
	began := time.Now()
	var made happened
	for i := range eventDrains {
		if err := b.drainOnce(ctx, c, front, nodes, &made, i%2 == 0); err != nil {
			return fmt.Errorf("drain %d: %w", i+1, err)
		}
	}
	if err := record.complete(ctx, int(made.acked.Load())); err != nil {
		return err
	}
	if err := pause(ctx, recordQuiet); err != nil {
		return err
	}
	took := time.Since(began)
	for _, w := range all {
		if err := b.compare(w, record, took); err != nil {
			return err
		}
	}
	return nil
}

// happened counts what was acknowledged: each is an event.
type happened struct{ acked, tries atomic.Int64 }

// drainOnce drains the organization's node while events are made, and brings it back.
func (b *bench) drainOnce(ctx context.Context, c trio, front *balancer, nodes []string, made *happened, byCommand bool) error {
	owner, err := c.owner(ctx)
	if err != nil {
		return err
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	for k := range eventWriters {
		group.Go(func() {
			for pause(writing, eventPace) == nil {
				// Not ended with the others: each is waited for. One that is refused may have
				// happened all the same, which the record knows.
				body := map[string]any{"metadata": map[string]any{"n": made.tries.Add(1)}}
				if call(context.WithoutCancel(writing), http.MethodPatch, front.url()+"/v1/graph/nodes/"+nodes[k],
					http.Header{"X-Svc-Api-Key": {c[0].key}}, body, nil) == nil {
					made.acked.Add(1)
				}
			}
		})
	}
	defer group.Wait()
	defer stop()
	first := made.acked.Load()
	until := func(n int64) error {
		for made.acked.Load() < n {
			if err := pause(ctx, clientPause); err != nil {
				return err
			}
		}
		return nil
	}
	if err := until(first + eventsAround); err != nil {
		return err
	}
	if byCommand {
		err = b.order(ctx, c, owner)
	} else {
		front.nodes[owner].Store(nil)
		err = c[owner].Stop()
	}
	if err == nil {
		err = until(max(first+eventsEach, made.acked.Load()+eventsAround))
	}
	stop()
	group.Wait()
	if err != nil {
		return err
	}
	if byCommand {
		if err := b.order(ctx, c, owner, "--undo"); err != nil {
			return err
		}
		return c.wait(ctx, b)
	}
	if err := c.again(ctx, b, owner); err != nil {
		return err
	}
	front.back(c, owner)
	return nil
}

// compare ends a client, and looks where each event is that really happened.
func (b *bench) compare(w watching, record *record, took time.Duration) error {
	if err := w.ask(); err != nil {
		return err
	}
	var told struct {
		Gaps []struct {
			Since moment
			Why   string
		}
	}
	if err := w.line(&told); err != nil {
		return err
	}
	if err := w.wait(); err != nil {
		return err
	}
	raw, err := os.ReadFile(w.file)
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for id := range strings.FieldsSeq(string(raw)) {
		has[id] = true
	}
	var gaps []time.Time
	for _, gap := range told.Gaps {
		gaps = append(gaps, gap.Since.Time)
	}
	slices.SortFunc(gaps, time.Time.Compare)
	missed, untold, late := missing(record.all(), has, gaps)
	total := len(record.all())
	b.report.add(fmt.Sprintf("%s client, %d events while nodes are drained %d times, missed and not told", w.language, total, eventDrains),
		"0", untold == 0 && total >= eventDrains*eventsEach,
		"%d untold (%d missed in %d gaps, %d of them up to %v behind the gap's end, %d came) in %.0f s",
		untold, missed, len(gaps), late, gapSlack, total-missed, took.Seconds())
	return nil
}

// missing counts the events that did not come, those of them that are in no gap, and
// those that are in one by the slack at its end alone. A gap lasts from the time it
// tells, which is a promise to the caller and has no slack, to the first event that came
// behind it. What came within the slack behind that time came before the break: the
// client tells of an earlier moment.
func missing(all []occurrence, has map[string]bool, gaps []time.Time) (missed, untold, late int) {
	for _, one := range all {
		if has[one.id] {
			continue
		}
		missed++
		told, slack := false, false
		for _, since := range gaps {
			if since.After(one.at) {
				break
			}
			end := one.at // no event has come behind it: it lasts
			for _, other := range all {
				if has[other.id] && other.at.After(since.Add(gapSlack)) {
					end = other.at
					break
				}
			}
			told = told || !one.at.After(end)
			slack = slack || !one.at.After(end.Add(gapSlack))
		}
		switch {
		case told:
		case slack:
			late++
		default:
			untold++
		}
	}
	return missed, untold, late
}

// moment is a time as one of the languages writes it: text, or milliseconds.
type moment struct{ time.Time }

func (m *moment) UnmarshalJSON(raw []byte) error {
	if ms, err := strconv.ParseFloat(string(raw), 64); err == nil {
		m.Time = time.UnixMilli(int64(ms))
		return nil
	}
	return json.Unmarshal(raw, &m.Time)
}

// occurrence is an event that really happened.
type occurrence struct {
	id string
	at time.Time
}

// record is a webhook's receiver: every event reaches it, some twice.
type record struct {
	server *httptest.Server
	args   []string // for the nodes, so that they may reach it
	mu     sync.Mutex
	events map[string]time.Time
}

func newRecord(dir string) (*record, error) {
	r := &record{events: map[string]time.Time{}}
	r.server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var event struct {
			ID        string
			CreatedAt time.Time
		}
		if err := json.NewDecoder(q.Body).Decode(&event); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events[event.ID] = event.CreatedAt
		w.WriteHeader(http.StatusNoContent)
	}))
	r.server.Config.ErrorLog = log.New(io.Discard, "", 0) // a node that is stopped leaves handshakes behind
	r.server.StartTLS()
	at, err := url.Parse(r.server.URL)
	if err != nil {
		return nil, err
	}
	trust, secret := filepath.Join(dir, "record.pem"), filepath.Join(dir, "secrets.key")
	key := make([]byte, 32)
	if _, err := rand.Read(key); err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.server.Certificate().Raw})
	if err := errors.Join(os.WriteFile(trust, certificate, 0o600), os.WriteFile(secret, key, 0o600)); err != nil {
		return nil, err
	}
	r.args = []string{
		"--egress-allow-cidrs", "127.0.0.0/8", "--egress-allow-ports", at.Port(), "--egress-ca-file", trust,
		"--secrets-key-file", secret,
	}
	return r, nil
}

// complete waits until everything that was acknowledged has been delivered.
func (r *record) complete(ctx context.Context, acked int) error {
	ctx, cancel := context.WithTimeout(ctx, recordMost)
	defer cancel()
	for {
		have := len(r.all())
		if have >= acked {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return fmt.Errorf("%d events of %d were delivered to the webhook: %w", have, acked, err)
		}
	}
}

// all are the events in the order of their times.
func (r *record) all() []occurrence {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []occurrence
	for id, at := range r.events {
		all = append(all, occurrence{id, at})
	}
	slices.SortFunc(all, func(a, b occurrence) int { return a.at.Compare(b.at) })
	return all
}

// balancer hands connections on to nodes that are there, by turns.
type balancer struct {
	net.Listener
	nodes [clusterNodes]atomic.Pointer[string] // nil: away
	turn  atomic.Int64
	group sync.WaitGroup
	stop  context.CancelFunc
}

func newBalancer(ctx context.Context, c trio) (*balancer, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	f := &balancer{Listener: l}
	for i := range c {
		f.back(c, i)
	}
	ctx, f.stop = context.WithCancel(ctx)
	f.group.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			f.group.Go(func() { f.pass(ctx, client) })
		}
	})
	return f, nil
}

func (f *balancer) url() string { return "http://" + f.Addr().String() }

func (f *balancer) close() {
	f.stop()
	_ = f.Close() // a listener that nobody has closed
	f.group.Wait()
}

// pass joins a connection with one to a node.
func (f *balancer) pass(ctx context.Context, client net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { _ = client.Close() }() // at the latest here
	var dialer net.Dialer
	for range clusterNodes {
		address := f.nodes[f.turn.Add(1)%clusterNodes].Load()
		if address == nil {
			continue
		}
		node, err := dialer.DialContext(ctx, "tcp", *address)
		if err != nil {
			continue
		}
		defer context.AfterFunc(ctx, func() { _, _ = client.Close(), node.Close() })()
		var both sync.WaitGroup
		for _, way := range [][2]net.Conn{{client, node}, {node, client}} {
			both.Go(func() {
				_, _ = io.Copy(way[0], way[1]) // until either end is gone
				cancel()
			})
		}
		both.Wait()
		return
	}
}

// back has a node take part, from where it is now.
func (f *balancer) back(c trio, i int) {
	address := strings.TrimPrefix(c[i].BaseURL, "http://")
	f.nodes[i].Store(&address)
}
