package transfer

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// side is one node's storage, with the stores of its only shard.
type side struct {
	node   *storage.Node
	stores *state.Stores
	config Config
}

func newSide(t *testing.T) *side {
	t.Helper()
	node, err := storage.Open(storage.Options{
		FS: storagetest.NewDisk(), Dir: storagetest.Dir, Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1,
		Fatal: func(msg string) { t.Error("fatal: " + msg) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	})
	return &side{node: node, stores: state.NewStores(1, 1, node), config: Config{
		Storage: node, Clock: clock.Real(), Logger: slog.New(slog.DiscardHandler),
		Pacer: mesh.NewPacer(clock.Real(), -1), Closing: make(chan struct{}),
	}}
}

// dials makes a node reach another one's transfers.
func (s *side) dials(t *testing.T, other *Transfers) {
	t.Helper()
	var serving sync.WaitGroup
	t.Cleanup(serving.Wait)
	s.config.Dial = func(context.Context, wire.ServerID, mesh.Kind) (net.Conn, error) {
		here, there := net.Pipe()
		serving.Go(func() { other.Serve(t.Context(), "two", there) })
		return here, nil
	}
}

// opened is a store that a node has opened, by an entry of this index.
func (s *side) opened(t *testing.T, id storage.StoreID, index uint64) {
	t.Helper()
	open := &pb.Command{Kind: &pb.Command_Open{Open: &pb.OpenStore{Store: id.Ref()}}}
	results, err := s.stores.Apply([]state.Entry{{Index: index, Command: open}})
	if err != nil || results[0].Err != nil {
		t.Fatal(err, results)
	}
	s.stores.Mark()
	if err := s.stores.Flush(); err != nil {
		t.Fatal(err)
	}
}

// manifest is what a node says that another one must have.
func (s *side) manifest(t *testing.T, index uint64) *pb.StoreManifest {
	t.Helper()
	b, err := Manifest(s.stores, 1, index, "one")
	if err != nil {
		t.Fatal(err)
	}
	m := new(pb.StoreManifest)
	if err := proto.Unmarshal(b, m); err != nil {
		t.Fatal(err)
	}
	return m
}

// TestFetch: a node that is behind a manifest gets the store from who sent it, and what
// it has already is not fetched again.
func TestFetch(t *testing.T) {
	id := storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	one, two := newSide(t), newSide(t)
	one.opened(t, id, 7)
	one.config.Allow = func(_ wire.ServerID, ask *pb.StoreCopy) (storage.StoreID, error) {
		return storage.ParseStoreID(ask.GetStore())
	}
	two.dials(t, New(one.config))
	from := New(two.config)
	for range 2 {
		if err := from.Fetch(t.Context(), one.manifest(t, 7), two.stores); err != nil {
			t.Fatal(err)
		}
	}
	if at, err := two.stores.Holds(id); at != 7 || err != nil {
		t.Errorf("the copy is at entry %d: %v", at, err)
	}
	if n := from.Fetched.Load(); n != 1 {
		t.Errorf("%d stores were fetched", n)
	}
}

// TestFetchRefused: without others nothing can be fetched, and who may not have a store
// gets none.
func TestFetchRefused(t *testing.T) {
	id := storage.StoreID{Org: pb.OrgID{1}, Realm: storage.RealmMain}
	one, two := newSide(t), newSide(t)
	one.opened(t, id, 7)
	if err := New(two.config).Fetch(t.Context(), one.manifest(t, 7), two.stores); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("alone: %v", err)
	}
	one.config.Allow = func(wire.ServerID, *pb.StoreCopy) (storage.StoreID, error) {
		return storage.StoreID{}, errors.New("not yours")
	}
	two.dials(t, New(one.config))
	from := New(two.config)
	if err := from.Fetch(t.Context(), one.manifest(t, 7), two.stores); err == nil {
		t.Error("a store was given to who may not have it")
	}
	if n := from.Retried.Load(); n != fetchAttempts-1 {
		t.Errorf("tried again %d times", n)
	}
}
