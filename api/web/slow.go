package web

import (
	"cmp"
	"slices"
	"sync"
	"time"

	pb "orgmem/proto"
)

const (
	// slowRecent bounds the latest slow requests that a node remembers: some minutes of a
	// bad hour, and about 100 KB.
	slowRecent = 256
	// slowWorst bounds those that it remembers for having been the slowest since its start,
	// however long ago: the latest alone would forget last night's.
	slowWorst = 64
)

// SlowRequest is a request that took Config.SlowRequest or longer. As in its line of the log
// there is no content, no credential, no query and no path in it.
type SlowRequest struct {
	Begun         time.Time
	RequestID     string
	TraceID       string // "": the trace was not recorded
	Method, Route string // the route as its template
	Status        int
	Code          string   // of a problem; "": it succeeded
	Org           pb.OrgID // zero: not known
	Server        string   // the other node that answered; "": this one
	Took          time.Duration
	// Where the time went; what is left went into sending the answer. Outside the table of
	// routes nothing is told apart, and all of it is Worked.
	Received time.Duration // until the body was there and checked
	Waited   time.Duration // in the mailbox of the organization
	Worked   time.Duration // until it was answered, the way to another node included
	BytesIn  int
	BytesOut int
}

// slowLog remembers slow requests. Only these take its lock.
type slowLog struct {
	mu     sync.Mutex
	total  uint64
	recent []SlowRequest // a ring: the next one goes to total % slowRecent
	worst  []SlowRequest // in no order
}

func (l *slowLog) add(r SlowRequest) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.recent) < slowRecent {
		l.recent = append(l.recent, r)
	} else {
		l.recent[l.total%slowRecent] = r
	}
	l.total++
	if len(l.worst) < slowWorst {
		l.worst = append(l.worst, r)
		return
	}
	least := 0
	for i, w := range l.worst {
		if w.Took < l.worst[least].Took {
			least = i
		}
	}
	if r.Took > l.worst[least].Took {
		l.worst[least] = r
	}
}

// list returns what is remembered, latest first, and how many there were.
func (l *slowLog) list() ([]SlowRequest, uint64) {
	l.mu.Lock()
	all := slices.Concat(l.recent, l.worst)
	total := l.total
	l.mu.Unlock()
	slices.SortFunc(all, func(a, b SlowRequest) int {
		return cmp.Or(b.Begun.Compare(a.Begun), cmp.Compare(a.RequestID, b.RequestID), cmp.Compare(b.Took, a.Took))
	})
	return slices.Compact(all), total
}

// SlowRequests returns the slow requests that the node remembers, latest first, and how many
// there were since its start.
func (e *Edge) SlowRequests() (remembered []SlowRequest, total uint64) { return e.slow.list() }

// remember keeps a request that was slow. One that streams lasts as long as its client wants.
func (ex *Exchange) remember(took time.Duration, trace string) {
	if took < ex.edge.Cfg.SlowRequest || ex.streamed {
		return
	}
	r := SlowRequest{
		Begun: ex.start, RequestID: ex.requestID, TraceID: trace, Method: ex.meter.method, Route: ex.meter.pattern,
		Status: ex.status, Code: ex.code, Server: ex.server, Took: took, Worked: took,
		BytesIn: ex.bytesIn, BytesOut: ex.bytesOut,
	}
	if org, known := ex.org(); known {
		r.Org = org
	}
	if !ex.asked.IsZero() {
		r.Received, r.Waited = ex.asked.Sub(ex.start), ex.waited
		r.Worked = max(ex.told.Sub(ex.asked)-ex.waited, 0)
	}
	ex.edge.slow.add(r)
}

// org is the organization of the request's key.
func (ex *Exchange) org() (org pb.OrgID, known bool) {
	if find := ex.edge.Cfg.OrgOf; find != nil && ex.key != (pb.KeyHash{}) {
		return find(ex.key)
	}
	return org, false
}
