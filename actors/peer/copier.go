package peer

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"orgmem/actors/backup"
	pb "orgmem/proto"
	"orgmem/storage"
)

// copier has each organization's store copied where its shard is led, so that a replica that lags is never what is
// kept. The directory is on every node.
type copier struct{ orders operator }

// Copier returns what backups may read, wherever the organizations live.
func (o *Router) Copier() backup.Copier { return copier{operator{o}} }

var _ backup.Copier = copier{}

// orgOfStore finds out whose store is meant; false: the directory's.
func orgOfStore(name backup.StoreName) (pb.OrgID, bool, error) {
	store, err := storage.ParseStoreID(string(name))
	if err != nil {
		return pb.OrgID{}, false, backup.ErrNoStore
	}
	return store.Org, store != storage.MetaStore, nil
}

// Open implements backup.Copier. A copy that nobody hears of ends by itself.
func (a copier) Open(ctx context.Context, name backup.StoreName) (backup.StoreCopy, error) {
	org, afar, err := orgOfStore(name)
	if err != nil {
		return backup.StoreCopy{}, err
	}
	if !afar {
		// Everything that is in the copies made so far is in the directory as of now.
		if err := a.orders.sys.Config.Host.Directory().Fresh(ctx); err != nil {
			return backup.StoreCopy{}, fmt.Errorf("copy the directory: %w", err)
		}
		return a.orders.backups.Open(ctx, name)
	}
	r, err := a.orders.order(ctx, org, true,
		&pb.OperatorOp{Op: &pb.OperatorOp_HoldCopy{HoldCopy: &pb.HoldCopy{Store: string(name)}}})
	if err != nil {
		return backup.StoreCopy{}, err
	}
	id, err := uuid.FromBytes(r.GetCopy().GetId())
	c := backup.StoreCopy{ID: backup.CopyID(id), Version: r.GetCopy().GetVersion()}
	for _, f := range r.GetCopy().GetFiles() {
		if len(f.GetSum()) != len(storage.CopyFile{}.Sum) {
			err = fmt.Errorf("a sum of %d bytes", len(f.GetSum()))
			break
		}
		c.Files = append(c.Files, storage.CopyFile{Name: f.GetName(), Size: f.GetSize(), Sum: [32]byte(f.GetSum())})
	}
	if err != nil {
		return backup.StoreCopy{}, fmt.Errorf("answer of another node: %w", err)
	}
	return c, nil
}

// Read implements backup.Copier.
func (a copier) Read(ctx context.Context, name backup.StoreName, id backup.CopyID, file string, offset int64) ([]byte,
	error,
) {
	org, afar, err := orgOfStore(name)
	if err != nil {
		return nil, err
	}
	if !afar {
		return a.orders.backups.Read(ctx, name, id, file, offset)
	}
	r, err := a.orders.order(ctx, org, true, &pb.OperatorOp{Op: &pb.OperatorOp_ReadCopy{
		ReadCopy: &pb.ReadCopy{Store: string(name), Copy: id[:], File: file, Offset: offset},
	}})
	return r.GetPiece(), err
}

// Release implements backup.Copier.
func (a copier) Release(ctx context.Context, name backup.StoreName, id backup.CopyID) error {
	org, afar, err := orgOfStore(name)
	if err != nil {
		return err
	}
	if !afar {
		return a.orders.backups.Release(ctx, name, id)
	}
	_, err = a.orders.order(ctx, org, true,
		&pb.OperatorOp{Op: &pb.OperatorOp_ReleaseCopy{ReleaseCopy: &pb.ReleaseCopy{Store: string(name), Copy: id[:]}}})
	return err
}

// carryOutCopy carries out what a backup asks of an organization that lives here.
func (o *Router) carryOutCopy(ctx context.Context, op *pb.OperatorOp) (*pb.OperatorResult, error) {
	r := &pb.OperatorResult{}
	switch op := op.GetOp().(type) {
	case *pb.OperatorOp_HoldCopy:
		c, err := o.backups.Open(ctx, backup.StoreName(op.HoldCopy.GetStore()))
		held := &pb.HeldCopy{Id: c.ID[:], Version: c.Version}
		for _, f := range c.Files {
			held.Files = append(held.Files, &pb.CopiedFile{Name: f.Name, Size: f.Size, Sum: f.Sum[:]})
		}
		r.Result = &pb.OperatorResult_Copy{Copy: held}
		return r, err
	case *pb.OperatorOp_ReadCopy:
		id, err := uuid.FromBytes(op.ReadCopy.GetCopy())
		if err != nil {
			return nil, backup.ErrCopyGone
		}
		piece, err := o.backups.Read(ctx, backup.StoreName(op.ReadCopy.GetStore()), backup.CopyID(id), op.ReadCopy.GetFile(),
			op.ReadCopy.GetOffset())
		r.Result = &pb.OperatorResult_Piece{Piece: piece}
		return r, err
	case *pb.OperatorOp_ReleaseCopy:
		id, err := uuid.FromBytes(op.ReleaseCopy.GetCopy())
		if err != nil {
			return nil, backup.ErrCopyGone
		}
		return r, o.backups.Release(ctx, backup.StoreName(op.ReleaseCopy.GetStore()), backup.CopyID(id))
	}
	return nil, fmt.Errorf("order %T is unknown here", op.GetOp())
}
