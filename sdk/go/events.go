package orgmem

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"
	"time"
)

// The figures of docs/events/client.js, by which all clients watch.
const (
	firstReconnect   = 500 * time.Millisecond // a node's leaderships are elsewhere by then
	longestReconnect = 30 * time.Second
	longestAfter     = 5 * time.Minute  // a longer Retry-After is cut to this
	heartbeat        = 15 * time.Second // the service's, where nothing happens
	eventLag         = 2 * time.Second  // an event is made before its commit, which a drain delays, and may come behind a later one
	steady           = 10 * time.Second // one that lasted this long was no failure, nor is one that told something
	maxEvent         = 1 << 20          // bytes; an event has some hundred
)

// Notice is an Event or a Gap.
type Notice interface{ notice() }

// Event is something that happened: ids and small values, never content.
type Event struct {
	ID        string
	Type      EventType
	Timestamp time.Time
	Data      json.RawMessage // an object; docs/interface.md names its keys
}

// Gap says that the stream was interrupted and is open again. What happened between
// is not replayed: read again what matters. Both times are the service's own, so that
// neither a clock that is off nor a reader that was busy makes the gap too short.
type Gap struct {
	Since time.Time // everything before has come
	Until time.Time // from when everything comes again; zero if the service did not say
	Why   string    // for people
}

func (Event) notice() {}
func (Gap) notice()   {}

// EventsRequest says what is watched.
type EventsRequest struct {
	// Types are all unless some are named. Gaps always come.
	Types []EventType
	// OnOpen is called whenever the stream is open, before anything is read of it: what
	// happens from now on comes, or is in a gap. Nothing of before does.
	OnOpen func()
	// OnWait is called whenever there is no stream, with what went wrong, before the
	// next attempt.
	OnWait func(why error)
}

// Events watches what happens, for as long as the context lasts and the loop goes on.
// It reconnects by itself, and then gives one Gap; what cannot be read of a stream that
// was open is an interruption, too, and so is a 2xx page that is not an event stream. An error
// is the last that it gives: the context has ended, the first connection could not be
// made by the rules of all requests, or a later one was refused.
//
//	for notice, err := range client.Events(ctx, orgmem.EventsRequest{}) {
//		if err != nil {
//			return err
//		}
//		switch n := notice.(type) {
//		case orgmem.Event: // n.Type, n.Data
//		case orgmem.Gap: // read again what matters
//		}
//	}
//
// Read on quickly: a reader that falls some hundred events behind is cut off, which
// is a Gap like any other.
func (c *Client) Events(ctx context.Context, watch EventsRequest) iter.Seq2[Notice, error] {
	return func(yield func(Notice, error) bool) {
		var lost *Gap // nil until there was a stream
		for failures := 0; ; failures++ {
			s, err := c.openStream(ctx, lost == nil)
			var after time.Duration
			if err != nil {
				var again bool
				again, after = retryable(err)
				var page *AnswerError // of a proxy that has nothing behind it, unless its status says more
				again = again || errors.Is(err, ErrServer) || errors.As(err, &page) && page.Status/100 == 2
				if lost == nil || ctx.Err() != nil || !again {
					yield(nil, err)
					return
				}
			} else {
				began := c.cfg.Now()
				if watch.OnOpen != nil {
					watch.OnOpen()
				}
				if lost != nil {
					lost.Until = s.opened
				}
				err = s.read(lost, watch.Types, yield)
				s.close()
				if err == nil {
					return // the loop was left
				}
				if ctx.Err() != nil {
					yield(nil, c.ended(ctx, streamRequest, nil))
					return
				}
				lost = &Gap{Since: s.heard.Add(-eventLag), Why: err.Error()}
				if s.told || c.cfg.Now().Sub(began) > steady {
					failures = 0 // else drains that follow each other would make the gaps longer and longer
				}
			}
			if watch.OnWait != nil {
				watch.OnWait(err)
			}
			pause := longestReconnect
			if failures < 6 { // firstReconnect << 6 is above it
				pause = min(pause, firstReconnect<<failures)
			}
			// Half of it at least, so that a node that ends is not asked at once by all.
			pause = min(after, longestAfter) + time.Duration((0.5+c.cfg.Random()/2)*float64(pause))
			if c.cfg.Sleep(ctx, pause) != nil {
				yield(nil, c.ended(ctx, streamRequest, err))
				return
			}
		}
	}
}

var streamRequest = request{method: http.MethodGet, path: "/v1/events", header: http.Header{"Accept": {"text/event-stream"}}}

// stream is one connection.
type stream struct {
	c      *Client
	lines  lineReader
	body   io.Closer
	cancel context.CancelCauseFunc
	opened time.Time // by the service's clock; zero if it did not say
	began  time.Time // by ours
	// heard is the latest time, by the service's clock, before which nothing can have been
	// missed: that of the last event, and what heartbeats say has passed since.
	heard time.Time
	told  bool // an event came
}

// beat is a heartbeat: none comes before so long after the last event or heartbeat. By
// our clock it may have lain here for a while, unread.
func (s *stream) beat() {
	next := s.heard.Add(heartbeat)
	if !s.opened.IsZero() { // not beyond the present, should heartbeats be slower one day
		if present := s.opened.Add(s.c.cfg.Now().Sub(s.began)); next.After(present) {
			return
		}
	}
	s.heard = next
}

// openStream connects once, or as often as the rules of all requests allow.
func (c *Client) openStream(ctx context.Context, patiently bool) (*stream, error) {
	var s *stream
	once := func() error {
		watched, dog := c.watch(ctx, c.cfg.Timeout)
		response, err := c.open(watched, streamRequest, nil, c.cfg.Timeout)
		dog.timer.Stop()
		if err == nil && !isMedia(response.Header, "text/event-stream") {
			raw, _ := io.ReadAll(io.LimitReader(response.Body, maxExcerpt))
			response.Body.Close()
			err = c.badAnswer(streamRequest, response.StatusCode, response.Header, raw, errors.New("the answer is no event stream"))
		}
		if err != nil {
			dog.cancel(nil)
			return err
		}
		dog.patience = c.silence
		s = &stream{c: c, began: c.cfg.Now(), lines: lineReader{Reader: bufio.NewReader(&watchedReader{response.Body, dog})}, body: response.Body, cancel: dog.cancel}
		if at, err := http.ParseTime(response.Header.Get("Date")); err == nil {
			s.opened = at
		}
		if s.heard = s.opened; s.heard.IsZero() {
			s.heard = s.began
		}
		return nil
	}
	if patiently {
		return s, c.retry(ctx, streamRequest, once)
	}
	if err := once(); err != nil {
		if ctx.Err() != nil {
			return nil, c.ended(ctx, streamRequest, nil)
		}
		return nil, err
	}
	return s, nil
}

func (s *stream) close() {
	s.cancel(nil)
	s.body.Close()
}

// read gives the gap, if there is one, and then the events of the connection, by the
// rules of "Interpreting an event stream" in the HTML standard. The error says why it
// ended; it is nil if the loop was left.
func (s *stream) read(gap *Gap, types []EventType, yield func(Notice, error) bool) error {
	if gap != nil && !yield(*gap, nil) {
		return nil
	}
	var (
		id, data string
		some     bool   // data came
		comment  string // the last that was no heartbeat: a stream's last words
	)
	for {
		line, err := s.lines.next()
		if err != nil {
			switch {
			case comment != "":
				return errors.New(comment)
			case errors.Is(err, io.EOF):
				return errors.New("the stream has ended")
			}
			return err
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if some {
				var event struct {
					Type      EventType       `json:"type"`
					Timestamp time.Time       `json:"timestamp"`
					Data      json.RawMessage `json:"data"`
				}
				if err := json.Unmarshal([]byte(data), &event); err != nil {
					return fmt.Errorf("an event cannot be read: %w", err)
				}
				s.told = true
				if !event.Timestamp.IsZero() {
					s.heard = event.Timestamp
				}
				wanted := len(types) == 0 || slices.Contains(types, event.Type) || slices.Contains(types, EventTypeAny)
				if wanted && !yield(Event{id, event.Type, event.Timestamp, event.Data}, nil) {
					return nil
				}
			}
			id, data, some = "", "", false
		case name == "":
			if value = strings.TrimSpace(value); value == "ping" {
				s.beat()
			} else {
				comment = value
			}
		case name == "id":
			id = value
		case name == "data":
			if some {
				data += "\n"
			}
			data, some = data+value, true
			if len(data) > maxEvent {
				return errors.New("an event of the stream has no end")
			}
		}
	}
}

// lineReader reads lines that end in CR, LF or both. What comes before the end of the
// stream without one is nobody's line.
type lineReader struct {
	*bufio.Reader
	cr bool // the last line ended in CR, so that an LF that follows is part of its end
}

func (r *lineReader) next() (string, error) {
	var line []byte
	for {
		b, err := r.ReadByte()
		if err != nil {
			return "", err
		}
		half := r.cr && b == '\n'
		r.cr = b == '\r'
		switch {
		case half:
		case b == '\n', b == '\r':
			return string(line), nil
		case len(line) >= maxEvent:
			return "", errors.New("a line of the stream has no end")
		default:
			line = append(line, b)
		}
	}
}

// watchdog ends a context when nothing has moved for a time.
type watchdog struct {
	ctx      context.Context
	patience time.Duration
	timer    *time.Timer
	cancel   context.CancelCauseFunc
}

// watch returns a context that ends after the patience, unless the watchdog is
// stopped or given more time before.
func (c *Client) watch(ctx context.Context, patience time.Duration) (context.Context, *watchdog) {
	ctx, cancel := context.WithCancelCause(ctx)
	return ctx, &watchdog{ctx, patience, time.AfterFunc(patience, func() { cancel(errSlow) }), cancel}
}

// watchedReader gives each Read the watchdog's patience. Between them it sleeps: the
// time that a caller takes is the caller's own.
type watchedReader struct {
	io.Reader
	dog *watchdog
}

func (r *watchedReader) Read(p []byte) (int, error) {
	r.dog.timer.Reset(r.dog.patience)
	n, err := r.Reader.Read(p)
	r.dog.timer.Stop()
	if err != nil && errors.Is(context.Cause(r.dog.ctx), errSlow) {
		err = fmt.Errorf("nothing came for %v", r.dog.patience)
	}
	return n, err
}
