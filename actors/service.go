package actors

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/account"
	"orgmem/actors/backup"
	"orgmem/actors/export"
	"orgmem/actors/moving"
	"orgmem/actors/peer"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	"orgmem/cluster/remoting"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// Service is all that a node does for its organizations: the one door of this package. All methods may be called from
// any goroutine.
type Service struct {
	*tenant.System
	account.LocalOperator
	peers    *peer.Router // nil: the node is alone
	backups  *backup.LocalCopier
	closeOne sync.Once
}

// Start builds the actors and wakes the organizations that have unfinished jobs. others is how a node of several
// reaches the others; nil: it is alone.
func Start(cfg tenant.Config, others *peer.Config) (_ *Service, err error) {
	if others != nil {
		cfg.Placement = others.Placement
	}
	sys, err := tenant.New(cfg)
	if err != nil {
		return nil, err
	}
	s := &Service{
		System: sys, LocalOperator: account.LocalOperator{System: sys},
		backups: backup.NewLocalCopier(cfg.Storage, cfg.Clock, cfg.Random, cfg.Logger),
	}
	if s.Features, err = featuresOf(sys); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.Kinds[remoting.KindSubject] = func(of tenant.Incarnation) actor.Actor {
		return subject.New(of.Org, of.Part, of.Self)
	}
	defer func() {
		if err == nil {
			s.BackgroundTasks.Go(tenant.FeatureOf[*moving.Feature](sys).Run)
		}
	}()
	if others != nil {
		if s.peers, err = peer.Start(sys, s.backups, *others); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		return s, nil // the host tells what to resume; see Leads
	}
	s.BackgroundTasks.Go(s.ResumeAll)
	return s, nil
}

// Ask brings a request to its organization and waits for the answer. It
// returns an error only when no actor could decide: the caller does not know
// whether a write happened, and its retry is safe by its idempotency key.
func (s *Service) Ask(ctx context.Context, env *pb.Envelope) (*pb.Reply, error) {
	wait := tenant.DefaultDeadline
	if env.GetDeadlineMs() > 0 {
		wait = min(wait, time.Duration(env.GetDeadlineMs()-clock.Millis(s.Clock.Now()))*time.Millisecond)
	}

	hash, err := pb.KeyHashFrom(env.GetKeyHash())
	if err != nil {
		return nil, fmt.Errorf("ask: %w", err)
	}
	if s.peers != nil {
		return s.peers.Ask(ctx, wait, hash, env)
	}
	org, known := s.Config.Host.Directory().Lookup(hash)
	timer := s.Clock.NewTimer(wait)
	defer timer.Stop()
	r, _, err := s.AskHere(ctx, timer.C(), org, known, env)
	return r, err
}

// Close stops taking calls, lets those under way finish, stops the actors and
// their workers, and waits. Unfinished jobs stay in their queues.
func (s *Service) Close() error {
	s.closeOne.Do(func() {
		s.Halt()
		s.backups.Close()
		s.Reads.Close()
		s.CPU.Close()
		if s.peers != nil {
			s.peers.Drain()
			s.peers.Stop()
		}
		s.Actors.Shutdown()
	})
	return nil
}

// Stats returns the current figures.
func (s *Service) Stats() tenant.Stats {
	st := s.System.Stats()
	if s.peers != nil {
		s.peers.AddStats(&st)
	}
	return st
}

// Moving tells how far the memories that the node leads are embedded with the model of today.
func (s *Service) Moving() moving.Progress {
	return tenant.FeatureOf[*moving.Feature](s.System).Progress()
}

// Operator returns what the operator interface may do, wherever the organizations
// live.
func (s *Service) Operator() account.Operator {
	if s.peers == nil {
		return s.LocalOperator
	}
	return s.peers.Operator()
}

// Copier returns what backups may read, wherever the organizations live: each
// store is copied where its shard is led, so a replica that lags is never what is
// kept. The directory is on every node.
func (s *Service) Copier() backup.Copier {
	if s.peers == nil {
		return s.backups
	}
	return s.peers.Copier()
}

// ExportPieceBytes is the length of an export's pieces.
func (*Service) ExportPieceBytes() int64 { return storage.PieceBytes }

// ExportPiece returns one piece of a document that GET …/download was answered
// with. It looks anew, where the organization lives, whether the document still
// stands: once something in it is forgotten no further byte of it is sent.
func (s *Service) ExportPiece(ctx context.Context, e *pb.Export, piece uint32) ([]byte, error) {
	if s.peers == nil {
		return export.ReadPiece(ctx, s.System, e, piece)
	}
	return s.peers.ExportPiece(ctx, e, piece)
}

// TakeStream takes up the event stream that was opened under a ticket, wherever it
// lives. It reports false for an unknown ticket, and for one whose stream was taken up
// already. The caller closes the stream.
func (s *Service) TakeStream(ticket string) (peer.LiveStream, bool) {
	if s.peers != nil {
		return s.peers.TakeStream(ticket)
	}
	return tenant.FeatureOf[*webhook.Feature](s.System).Streams.Take(ticket)
}
