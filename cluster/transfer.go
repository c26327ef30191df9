package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
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

// A replica that misses entries which the leader's log has no more is brought up
// in three steps:
//
//  1. raft sends "the snapshot", a StoreManifest: which stores there are, and up to
//     which entry each must be for the marker to be true (Host.manifest).
//  2. The replica fetches each store that is behind from the node that sent the
//     manifest: a copy of it as it is now, file by file (Host.fetch, Host.serveStores).
//     What arrives may be newer than the manifest, since a store knows itself which
//     entries it has and skips them when they come by the log.
//  3. When all are in place and on disk, the marker is published, and the log goes on
//     behind it (fsm.Restore).
//
// A transfer that breaks off fails the Restore, raft's leader tries again, and what
// has arrived stays in the stage of its store (see storage.Stage).

const (
	// DefaultTransferRate is how many bytes of stores a node sends per second while
	// it serves. A joining node is to have its share of 1 GB within a minute, for
	// which a third of it would do; a disk reads ten times as much.
	DefaultTransferRate = 64 << 20
	// fetchStreams bounds the stores that a node fetches at a time, over all groups:
	// four keep the wire busy while the one or the other store is being copied or
	// opened, and a small store costs some 40 ms of that.
	fetchStreams = 4
	// serveStreams bounds the stores that a node sends at a time: what two others
	// fetch. Who comes later waits.
	serveStreams = 2 * fetchStreams
	// fetchAttempts is how often one store is tried before the Restore fails. While
	// it runs the replica votes for nobody, so it must not go on for long without its
	// source.
	fetchAttempts = 5
	// fetchPause comes after a failed attempt, longer with each.
	fetchPause = 100 * time.Millisecond
)

// errNotMember means that somebody asks for the stores of a group that it is not
// in.
var errNotMember = errors.New("server is not in the group")

// manifest says what a replica must have to be at this node's marker of a group.
// Until closed is called, what comes behind the marker stays in the log.
func (h *Host) manifest(g *group, index uint64) (b []byte, closed func(), err error) {
	release := g.hold(index)
	defer func() {
		if err != nil {
			release()
		}
	}()
	there, removed, err := g.fsm.machine.Stores()
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: manifest of group %d: %w", g.id, err)
	}
	m := &pb.StoreManifest{Group: g.id, Index: index, Source: string(h.identity.Server)}
	for id, at := range there {
		m.Stores = append(m.GetStores(), &pb.StoreMark{Store: id.String(), Applied: at})
	}
	slices.SortFunc(m.GetStores(), func(a, b *pb.StoreMark) int { return cmp.Compare(a.GetStore(), b.GetStore()) })
	for _, id := range removed {
		m.Removed = append(m.GetRemoved(), id.String())
	}
	if b, err = proto.Marshal(m); err == nil && len(b) > raftlog.MaxManifestBytes {
		err = fmt.Errorf("%d bytes, limit %d", len(b), raftlog.MaxManifestBytes)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: manifest of group %d: %w", g.id, err)
	}
	return b, release, nil
}

// want is one store that a manifest demands and this node does not have, or not
// far enough.
type want struct {
	id      storage.StoreID
	applied uint64
}

// fetch brings the stores of a group to what a manifest demands.
func (h *Host) fetch(ctx context.Context, m *pb.StoreManifest, to state.Machine) error {
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
	if h.peers == nil {
		return fmt.Errorf("%d stores are to be fetched: %w", len(wants), wire.ErrUnreachable)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan want)
	var wg sync.WaitGroup
	for range min(fetchStreams, len(wants)) {
		wg.Go(func() {
			f := &fetcher{host: h, group: m.GetGroup(), source: wire.ServerID(m.GetSource()), to: to}
			defer f.hangUp()
			for w := range work {
				if err := f.fetch(ctx, w); err != nil {
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

// fetcher fetches one store after the other over one connection, as long as that
// lasts.
type fetcher struct {
	host   *Host
	group  uint32
	source wire.ServerID
	to     state.Machine

	conn *mesh.IdleConn
}

func (f *fetcher) hangUp() {
	if f.conn != nil {
		f.conn.End()
		f.conn = nil
	}
}

// fetch fetches one store, starting again where a failed attempt ended.
func (f *fetcher) fetch(ctx context.Context, w want) error {
	select {
	case f.host.fetching <- struct{}{}:
		defer func() { <-f.host.fetching }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for n := 1; ; n++ {
		err := f.attempt(ctx, w)
		if err == nil || n == fetchAttempts || ctx.Err() != nil || errors.Is(err, storage.ErrNoSpace) {
			return err
		}
		f.host.stats.transferRetries.Add(1)
		f.hangUp() // whatever it was, the stream is not where it should be
		if err := clock.Wait(ctx, f.host.cfg.Clock, time.Duration(n)*fetchPause); err != nil {
			return err
		}
	}
}

// list asks the source for a copy of a store, and returns what is in it.
func (f *fetcher) list(ctx context.Context, id storage.StoreID) (*pb.StoreListing, error) {
	if f.conn == nil {
		conn, err := f.host.peers.Dial(ctx, f.source, mesh.KindStore)
		if err != nil {
			return nil, err
		}
		f.conn = mesh.NewIdleConn(ctx, conn, f.host.cfg.Clock)
	}
	c := f.conn
	if err := c.Send(
		&pb.StoreAsk{Kind: &pb.StoreAsk_Copy{Copy: &pb.StoreCopy{Group: f.group, Store: id.String()}}},
	); err != nil {
		return nil, err
	}
	listing := new(pb.StoreListing)
	if err := c.Receive(listing); err != nil {
		return nil, err
	}
	if r := listing.GetRefusal(); r != "" && !listing.GetRemoved() {
		return nil, fmt.Errorf("%s has no copy: %s", f.source, r)
	}
	return listing, nil
}

func (f *fetcher) attempt(ctx context.Context, w want) error {
	listing, err := f.list(ctx, w.id)
	if err != nil {
		return err
	}
	if listing.GetRemoved() {
		return nil // the log will say so, behind the marker
	}
	files := make([]storage.CopyFile, len(listing.GetFiles()))
	for i, l := range listing.GetFiles() {
		if len(l.GetSum()) != len(files[i].Sum) || l.GetSize() > 1<<62 {
			return fmt.Errorf("%q: %w", l.GetName(), mesh.ErrMessage)
		}
		files[i] = storage.CopyFile{Name: l.GetName(), Size: int64(l.GetSize()), Sum: [32]byte(l.GetSum())}
	}
	stage, err := f.host.cfg.Storage.Stage(w.id)
	if err != nil {
		return err
	}
	missing, err := stage.Want(files)
	if err != nil {
		return err
	}
	for _, m := range missing {
		err := f.receive(stage, m)
		if m.Offset > 0 && errors.Is(err, storage.ErrChecksum) {
			// The beginning was another file's: one of the source before, which numbers
			// its tables as this one does. Each of them would cost an attempt otherwise.
			m.Offset = 0
			err = f.receive(stage, m)
		}
		if err != nil {
			return err
		}
	}
	if err := f.to.Replace(w.id, stage, w.applied); err != nil {
		if errors.Is(err, storage.ErrStaleCopy) || errors.Is(err, storage.ErrCorrupt) {
			// What the sums call good is of no use: from the beginning, then.
			return errors.Join(err, stage.Discard())
		}
		return err
	}
	f.host.stats.transfers.Add(1)
	return nil
}

// receive fetches the rest of one file.
func (f *fetcher) receive(stage *storage.Stage, m storage.Missing) error {
	rest := &pb.StoreFileRest{Name: m.Name, Offset: uint64(m.Offset)}
	if err := f.conn.Send(&pb.StoreAsk{Kind: &pb.StoreAsk_File{File: rest}}); err != nil {
		return err
	}
	return stage.Receive(m, &countingReader{r: f.conn, n: &f.host.stats.transferred})
}

// serveStores sends copies of stores to another node until it hangs up.
func (h *Host) serveStores(ctx context.Context, peer wire.ServerID, conn net.Conn) {
	c := mesh.NewIdleConn(ctx, conn, h.cfg.Clock)
	defer c.End()
	select {
	case h.serving <- struct{}{}:
		defer func() { <-h.serving }()
	case <-ctx.Done():
		return
	case <-h.closing:
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	s := &sender{host: h, peer: peer, conn: c}
	err := s.serve(ctx)
	if s.copy != nil {
		err = errors.Join(err, s.copy.Close())
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		h.cfg.Logger.Warn("transfer of a store broke off", "peer", peer, "error", err)
	}
}

// sender is the sending side of one connection.
type sender struct {
	host *Host
	peer wire.ServerID
	conn *mesh.IdleConn
	copy *storage.Copy // the one being sent; nil before the first
}

func (s *sender) serve(ctx context.Context) error {
	for {
		ask := new(pb.StoreAsk)
		if err := s.conn.Receive(ask); err != nil {
			return err
		}
		var err error
		switch k := ask.GetKind().(type) {
		case *pb.StoreAsk_Copy:
			err = s.begin(ctx, k.Copy)
		case *pb.StoreAsk_File:
			err = s.send(ctx, k.File)
		default:
			err = mesh.ErrMessage
		}
		if err != nil {
			return err
		}
	}
}

// begin makes a copy of a store and says what is in it.
func (s *sender) begin(ctx context.Context, ask *pb.StoreCopy) error {
	if s.copy != nil {
		if err := s.copy.Close(); err != nil {
			return err
		}
		s.copy = nil
	}
	listing := new(pb.StoreListing)
	id, err := s.host.mayFetch(s.peer, ask)
	if err == nil {
		s.copy, err = s.host.cfg.Storage.Copy(ctx, id)
	}
	switch {
	case errors.Is(err, storage.ErrNoStore):
		listing.Removed = true
	case err != nil:
		listing.Refusal = err.Error()
	default:
		for _, f := range s.copy.Files() {
			listing.Files = append(listing.GetFiles(), &pb.StoreFile{Name: f.Name, Size: uint64(f.Size), Sum: f.Sum[:]})
		}
	}
	return s.conn.Send(listing)
}

// mayFetch allows the members of a group the stores of that group, and nothing
// else.
func (h *Host) mayFetch(peer wire.ServerID, ask *pb.StoreCopy) (storage.StoreID, error) {
	id, err := storage.ParseStoreID(ask.GetStore())
	if err != nil {
		return id, err
	}
	of := wire.MetaGroup
	if id != storage.MetaStore {
		of = h.Shard(id.Org)
	}
	g := h.group(of)
	if g == nil || of != ask.GetGroup() {
		return id, fmt.Errorf("store %v of group %d: %w", id, ask.GetGroup(), errNotMember)
	}
	for _, s := range g.raft.GetConfiguration().Configuration().Servers {
		if wire.ServerID(s.ID) == peer {
			return id, nil
		}
	}
	return id, fmt.Errorf("%s asks for store %v: %w", peer, id, errNotMember)
}

// send sends the rest of a file.
func (s *sender) send(ctx context.Context, ask *pb.StoreFileRest) error {
	if s.copy == nil || ask.GetOffset() > 1<<62 {
		return mesh.ErrMessage
	}
	f, err := s.copy.Open(ask.GetName(), int64(ask.GetOffset()))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	buf := make([]byte, mesh.ChunkBytes)
	for {
		n, err := f.Read(buf)
		if n > 0 {
			if err := s.host.pacer.Wait(ctx, n); err != nil {
				return err
			}
			if _, err := s.conn.Write(buf[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return s.conn.Flush()
		}
		if err != nil {
			return err
		}
	}
}

// countingReader counts what is read.
type countingReader struct {
	r io.Reader
	n interface{ Add(uint64) uint64 }
}

func (c *countingReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(uint64(n))
	return n, err
}
