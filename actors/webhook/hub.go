package webhook

import (
	"bytes"
	"strings"
	"sync"
	"time"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// MaxStreams is the interface's bound of concurrent event streams of an organization; its sandbox's count with
	// them.
	MaxStreams = 5
	// StreamBuffer is how many events may wait for one reader: what a large batch causes within the second that a
	// reader may be away. A stream that falls further behind is cut off, since it replays nothing anyway.
	StreamBuffer = 256
	// TicketLifetime is how long an opened stream waits to be taken up; the edge does so at once, unless its client has
	// left.
	TicketLifetime = 10 * time.Second
)

// Hub is the open event streams of a node. It belongs to the node and not to an organization's actor, so that a stream
// stays open when the organization leaves memory.
type Hub struct {
	clock clock.Clock

	mu      sync.Mutex // guards what follows, and the streams' ended and slow
	orgs    map[pb.OrgID][]*EventStream
	tickets map[string]*EventStream
}

func newEventHub(c clock.Clock) *Hub {
	return &Hub{clock: c, orgs: map[pb.OrgID][]*EventStream{}, tickets: map[string]*EventStream{}}
}

// EventStream is one caller's live view of its organization.
type EventStream struct {
	sys    *tenant.System
	hub    *Hub
	ticket string
	org    pb.OrgID
	store  storage.StoreID
	who    tenant.Principal
	events chan *pb.OutboxEvent // closed by the hub when it cuts the stream off
	expiry clock.Timer          // of the ticket
	ended  bool                 // guarded by Hub.mu
	slow   bool                 // likewise: it ended because its buffer was full
}

// Events yields what the caller may see, in the order of the commits. It is closed when the reader fell too far behind,
// the organization moved to another node, or Close was called.
func (s *EventStream) Events() <-chan *pb.OutboxEvent { return s.events }

// Slow reports whether the stream has ended because the reader fell too far behind.
func (s *EventStream) Slow() bool {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return s.slow
}

// Close ends the stream. It may be called more than once.
func (s *EventStream) Close() { s.hub.end(s) }

// Valid reports whether the key that opened the stream would still be admitted. It reads the store and not the actor's
// memory, so that it wakes no organization, and sees every revocation that was acknowledged.
func (s *EventStream) Valid() bool {
	// The directory forgets an organization at once, its store a little later.
	if e, ok := s.sys.Config.Host.Directory().Org(s.org); !ok || e.GetRemoved() {
		return false
	}
	if !s.sys.LivesHere(s.org) { // another node decides
		return false
	}
	main := &tenant.View{System: s.sys, ID: s.org, Store: storage.StoreID{Org: s.org, Realm: storage.RealmMain}}
	main.Space = storage.OrgSpace(main.Store)
	key, member := &pb.Key{}, &pb.Partition{}
	there := false
	err := main.WithStore(func(st *storage.Store) error {
		found, err := st.Get(main.Space.Key(storage.TableKey, storage.Hash32(s.who.Key)), key)
		if err != nil || !found {
			return err
		}
		there, err = st.Get(main.Space.Key(storage.TablePartition, storage.ID16(s.who.User)), member)
		return err
	})
	expires := key.GetExpiresMs()
	return err == nil && there && !member.GetErasing() && key.GetStatus() == pb.KeyActive &&
		(expires == 0 || clock.Millis(s.sys.Clock.Now()) < expires)
}

// Take takes up the event stream that was opened under a ticket. It reports false for an unknown ticket, and for one
// whose stream was taken up already.
func (h *Hub) Take(ticket string) (*EventStream, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	stream := h.tickets[ticket]
	if stream == nil {
		return nil, false
	}
	delete(h.tickets, ticket)
	stream.expiry.Stop()
	return stream, true
}

// open makes a stream that receives events from now on; false when the organization has as many as it may.
func (h *Hub) open(s *EventStream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.orgs[s.org]) >= MaxStreams {
		return false
	}
	h.orgs[s.org] = append(h.orgs[s.org], s)
	h.tickets[s.ticket] = s
	s.expiry = h.clock.AfterFunc(TicketLifetime, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.tickets[s.ticket] == s {
			h.endLocked(s)
		}
	})
	return true
}

func (h *Hub) end(s *EventStream) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.endLocked(s)
}

// endLocked ends a stream. h.mu is held.
func (h *Hub) endLocked(s *EventStream) {
	if s.ended {
		return
	}
	s.ended = true
	close(s.events)
	delete(h.tickets, s.ticket)
	rest := h.orgs[s.org][:0:0]
	for _, other := range h.orgs[s.org] {
		if other != s {
			rest = append(rest, other)
		}
	}
	if len(rest) == 0 {
		delete(h.orgs, s.org)
		return
	}
	h.orgs[s.org] = rest
}

// publish hands events to the streams that may see them. It never blocks: a stream whose buffer is full is cut off.
func (h *Hub) publish(store storage.StoreID, events []*pb.OutboxEvent) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.orgs[store.Org] {
		for _, e := range events {
			if s.ended || s.store != store || !s.reaches(e) {
				continue
			}
			select {
			case s.events <- e:
			default:
				s.slow = true
				h.endLocked(s)
			}
		}
	}
}

// count is the number of open streams.
func (h *Hub) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, streams := range h.orgs {
		n += len(streams)
	}
	return n
}

// reaches is the interface's rule of reach (docs/webhooks.md). An event about a request reaches its sender, one about a
// person that person, one about a provisioned subject or the whole organization every member. A sandbox has no persons.
func (s *EventStream) reaches(e *pb.OutboxEvent) bool {
	if s.store.Realm == storage.RealmSandbox {
		return true
	}
	switch kind := e.GetType(); {
	case kind == pb.EventGraphUpdated, kind == pb.EventWebhookTest, strings.HasPrefix(kind, "import."):
		return bytes.Equal(e.GetUser(), s.who.User[:])
	case kind == pb.EventInsightProposed, kind == pb.EventBrainTrained:
		return true
	}
	return len(e.GetPartition()) == 0 || e.GetSubject() != "" || bytes.Equal(e.GetPartition(), s.who.User[:])
}

// streamEvents opens a stream; the edge takes it up by its ticket.
func (o *Module) streamEvents(c *tenant.Call) {
	ticket, err := o.System.NewUUID()
	if err != nil {
		c.Fail(err)
		return
	}
	s := &EventStream{
		sys: o.System, hub: o.feature.Streams, ticket: ticket.String(), org: o.ID, store: o.Store, who: c.Principal,
		events: make(chan *pb.OutboxEvent, StreamBuffer),
	}
	if !o.feature.Streams.open(s) {
		p := tenant.NewProblem(pb.CodeTooManyStreams,
			"The organization has %d event streams open; that is as many as it may.", MaxStreams)
		p.RetryAfterS = tenant.RetryAfterStreamsSeconds
		c.Refuse(p)
		return
	}
	c.Reply(tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Stream{Stream: s.ticket}}))
}

// endStreams ends the streams of some organizations.
func (h *Hub) endStreams(of func(pb.OrgID) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for org, streams := range h.orgs {
		if !of(org) {
			continue
		}
		for _, s := range streams {
			h.endLocked(s)
		}
	}
}
