package transfer

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/mesh"
	"orgmem/cluster/raftlog"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// fetchStreams bounds the stores that a node fetches at a time, over all groups:
	// four keep the wire busy while the one or the other store is being copied or
	// opened, and a small store costs some 40 ms of that.
	fetchStreams = 4
	// fetchAttempts is how often one store is tried before the Restore fails. While
	// it runs the replica votes for nobody, so it must not go on for long without its
	// source.
	fetchAttempts = 5
	// fetchPause comes after a failed attempt, longer with each.
	fetchPause = 100 * time.Millisecond
)

// Config says what transfers are made of. All of it is required but Dial.
type Config struct {
	Storage *storage.Node
	Clock   clock.Clock
	Logger  *slog.Logger
	Pacer   *mesh.Pacer // of what is sent
	// Dial opens a stream to a node. Nil: there are no others.
	Dial func(ctx context.Context, to wire.ServerID, kind mesh.Kind) (net.Conn, error)
	// Allow says which store a node asks for, or why it may not have it.
	Allow func(peer wire.ServerID, ask *pb.StoreCopy) (storage.StoreID, error)
	// Closing is closed when nothing is sent to anybody any more.
	Closing <-chan struct{}
}

// Transfers sends copies of stores to other nodes and fetches theirs.
type Transfers struct {
	cfg      Config
	fetching chan struct{} // one for each store that is being fetched
	serving  chan struct{} // one for each connection on which stores are sent

	Fetched  atomic.Uint64 // stores that came from other nodes
	Retried  atomic.Uint64 // attempts at one that failed
	Received atomic.Uint64 // bytes
}

// New makes transfers of one node.
func New(cfg Config) *Transfers {
	return &Transfers{
		cfg: cfg, fetching: make(chan struct{}, fetchStreams), serving: make(chan struct{}, serveStreams),
	}
}

// From returns a fetcher of stores of a group from one node, where to puts them. Its
// caller hangs up.
func (t *Transfers) From(group uint32, source wire.ServerID, to state.Machine) *Fetcher {
	return &Fetcher{t: t, group: group, source: source, to: to}
}

// Manifest says what a replica must have to be at a node's marker of a group.
func Manifest(m state.Machine, group uint32, index uint64, source wire.ServerID) ([]byte, error) {
	there, removed, err := m.Stores()
	if err != nil {
		return nil, fmt.Errorf("cluster: manifest of group %d: %w", group, err)
	}
	said := &pb.StoreManifest{Group: group, Index: index, Source: string(source)}
	for id, at := range there {
		said.Stores = append(said.GetStores(), &pb.StoreMark{Store: id.String(), Applied: at})
	}
	slices.SortFunc(said.GetStores(), func(a, b *pb.StoreMark) int { return cmp.Compare(a.GetStore(), b.GetStore()) })
	for _, id := range removed {
		said.Removed = append(said.GetRemoved(), id.String())
	}
	b, err := proto.Marshal(said)
	if err == nil && len(b) > raftlog.MaxManifestBytes {
		err = fmt.Errorf("%d bytes, limit %d", len(b), raftlog.MaxManifestBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("cluster: manifest of group %d: %w", group, err)
	}
	return b, nil
}

// want is one store that a manifest demands and this node does not have, or not
// far enough.
type want struct {
	id      storage.StoreID
	applied uint64
}

// Fetch brings the stores of a group to what a manifest demands.
func (t *Transfers) Fetch(ctx context.Context, m *pb.StoreManifest, to state.Machine) error {
	var removed []storage.StoreID
	for _, name := range m.GetRemoved() {
		id, err := storage.ParseStoreID(name)
		if err != nil {
			return err
		}
		removed = append(removed, id)
	}
	if err := to.RemoveAll(removed); err != nil {
		return err
	}
	var wants []want
	for _, s := range m.GetStores() {
		id, err := storage.ParseStoreID(s.GetStore())
		if err != nil {
			return err
		}
		have, err := to.Holds(id)
		if err != nil {
			return err
		}
		if have < s.GetApplied() {
			wants = append(wants, want{id, s.GetApplied()})
		}
	}
	if len(wants) == 0 {
		return nil
	}
	if t.cfg.Dial == nil {
		return fmt.Errorf("%d stores are to be fetched: %w", len(wants), wire.ErrUnreachable)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan want)
	var wg sync.WaitGroup
	for range min(fetchStreams, len(wants)) {
		wg.Go(func() {
			f := t.From(m.GetGroup(), wire.ServerID(m.GetSource()), to)
			defer f.HangUp()
			for w := range work {
				if err := f.Fetch(ctx, w.id, w.applied); err != nil {
					cancel(fmt.Errorf("store %v: %w", w.id, err))
				}
			}
		})
	}
	for _, w := range wants {
		select {
		case work <- w:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}
