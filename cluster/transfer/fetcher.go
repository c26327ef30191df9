package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"orgmem/cluster/mesh"
	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Fetcher fetches one store after the other over one connection, as long as that
// lasts.
type Fetcher struct {
	t      *Transfers
	group  uint32
	source wire.ServerID
	to     state.Machine

	conn *mesh.IdleConn
}

// HangUp ends the connection, if there is one.
func (f *Fetcher) HangUp() {
	if f.conn != nil {
		f.conn.End()
		f.conn = nil
	}
}

// Fetch fetches one store that has applied at least an entry, starting again where a
// failed attempt ended.
func (f *Fetcher) Fetch(ctx context.Context, id storage.StoreID, applied uint64) error {
	select {
	case f.t.fetching <- struct{}{}:
		defer func() { <-f.t.fetching }()
	case <-ctx.Done():
		return ctx.Err()
	}
	for n := 1; ; n++ {
		err := f.attempt(ctx, id, applied)
		if err == nil || n == fetchAttempts || ctx.Err() != nil || errors.Is(err, storage.ErrNoSpace) {
			return err
		}
		f.t.Retried.Add(1)
		f.HangUp() // whatever it was, the stream is not where it should be
		if err := clock.Wait(ctx, f.t.cfg.Clock, time.Duration(n)*fetchPause); err != nil {
			return err
		}
	}
}

// Offered returns nil when the source has a copy of a store, or has removed it.
func (f *Fetcher) Offered(ctx context.Context, id storage.StoreID) error {
	_, err := f.list(ctx, id)
	return err
}

// list asks the source for a copy of a store, and returns what is in it.
func (f *Fetcher) list(ctx context.Context, id storage.StoreID) (*pb.StoreListing, error) {
	if f.conn == nil {
		conn, err := f.t.cfg.Dial(ctx, f.source, mesh.KindStore)
		if err != nil {
			return nil, err
		}
		f.conn = mesh.NewIdleConn(ctx, conn, f.t.cfg.Clock)
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

func (f *Fetcher) attempt(ctx context.Context, id storage.StoreID, applied uint64) error {
	listing, err := f.list(ctx, id)
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
	stage, err := f.t.cfg.Storage.Stage(id)
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
	if err := f.to.Replace(id, stage, applied); err != nil {
		if errors.Is(err, storage.ErrStaleCopy) || errors.Is(err, storage.ErrCorrupt) {
			// What the sums call good is of no use: from the beginning, then.
			return errors.Join(err, stage.Discard())
		}
		return err
	}
	f.t.Fetched.Add(1)
	return nil
}

// receive fetches the rest of one file.
func (f *Fetcher) receive(stage *storage.Stage, m storage.Missing) error {
	rest := &pb.StoreFileRest{Name: m.Name, Offset: uint64(m.Offset)}
	if err := f.conn.Send(&pb.StoreAsk{Kind: &pb.StoreAsk_File{File: rest}}); err != nil {
		return err
	}
	return stage.Receive(m, &countingReader{r: f.conn, n: &f.t.Received})
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
