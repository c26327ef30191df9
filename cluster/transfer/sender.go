package transfer

import (
	"context"
	"errors"
	"io"
	"net"

	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

// serveStreams bounds the stores that a node sends at a time: what two others fetch.
// Further ones wait.
const serveStreams = 2 * fetchStreams

// Serve sends copies of stores to another node until it hangs up.
func (t *Transfers) Serve(ctx context.Context, peer wire.ServerID, conn net.Conn) {
	c := mesh.NewIdleConn(ctx, conn, t.cfg.Clock)
	defer c.End()
	select {
	case t.serving <- struct{}{}:
		defer func() { <-t.serving }()
	case <-ctx.Done():
		return
	case <-t.cfg.Closing:
		return
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	s := &sender{t: t, peer: peer, conn: c}
	err := s.serve(ctx)
	if s.copy != nil {
		err = errors.Join(err, s.copy.Close())
	}
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		t.cfg.Logger.Warn("transfer of a store broke off", "peer", peer, "error", err)
	}
}

// sender is the sending side of one connection.
type sender struct {
	t    *Transfers
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
	id, err := s.t.cfg.Allow(s.peer, ask)
	if err == nil {
		s.copy, err = s.t.cfg.Storage.Copy(ctx, id)
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
			if err := s.t.cfg.Pacer.Wait(ctx, n); err != nil {
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
