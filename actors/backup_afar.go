package actors

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	pb "orgmem/proto"
	"orgmem/storage"
)

type copierAnywhere struct{ orders operatorAnywhere }

var _ Copier = copierAnywhere{}

// orgOfStore finds out whose store is meant; false: the directory's.
func orgOfStore(name StoreName) (pb.OrgID, bool, error) {
	store, err := storage.ParseStoreID(string(name))
	if err != nil {
		return pb.OrgID{}, false, errNoStore
	}
	return store.Org, store != storage.MetaStore, nil
}

// Open implements Copier. A copy that nobody hears of ends by itself.
func (a copierAnywhere) Open(ctx context.Context, name StoreName) (StoreCopy, error) {
	org, afar, err := orgOfStore(name)
	if err != nil {
		return StoreCopy{}, err
	}
	if !afar {
		// Everything that is in the copies made so far is in the directory as of now.
		if err := a.orders.sys.Config.Host.Directory().Fresh(ctx); err != nil {
			return StoreCopy{}, fmt.Errorf("copy the directory: %w", err)
		}
		return a.orders.backups.Open(ctx, name)
	}
	r, err := a.orders.order(ctx, org, true,
		&pb.OperatorOp{Op: &pb.OperatorOp_HoldCopy{HoldCopy: &pb.HoldCopy{Store: string(name)}}})
	if err != nil {
		return StoreCopy{}, err
	}
	id, err := uuid.FromBytes(r.GetCopy().GetId())
	c := StoreCopy{ID: CopyID(id), Version: r.GetCopy().GetVersion()}
	for _, f := range r.GetCopy().GetFiles() {
		if len(f.GetSum()) != len(storage.CopyFile{}.Sum) {
			err = fmt.Errorf("a sum of %d bytes", len(f.GetSum()))
			break
		}
		c.Files = append(c.Files, storage.CopyFile{Name: f.GetName(), Size: f.GetSize(), Sum: [32]byte(f.GetSum())})
	}
	if err != nil {
		return StoreCopy{}, fmt.Errorf("answer of another node: %w", err)
	}
	return c, nil
}

// Read implements Copier.
func (a copierAnywhere) Read(ctx context.Context, name StoreName, id CopyID, file string, offset int64) ([]byte,
	error) {
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

// Release implements Copier.
func (a copierAnywhere) Release(ctx context.Context, name StoreName, id CopyID) error {
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
func (o *peers) carryOutCopy(ctx context.Context, op *pb.OperatorOp) (*pb.OperatorResult, error) {
	r := &pb.OperatorResult{}
	switch op := op.GetOp().(type) {
	case *pb.OperatorOp_HoldCopy:
		c, err := o.backups.Open(ctx, StoreName(op.HoldCopy.GetStore()))
		held := &pb.HeldCopy{Id: c.ID[:], Version: c.Version}
		for _, f := range c.Files {
			held.Files = append(held.Files, &pb.CopiedFile{Name: f.Name, Size: f.Size, Sum: f.Sum[:]})
		}
		r.Result = &pb.OperatorResult_Copy{Copy: held}
		return r, err
	case *pb.OperatorOp_ReadCopy:
		id, err := uuid.FromBytes(op.ReadCopy.GetCopy())
		if err != nil {
			return nil, errCopyGone
		}
		piece, err := o.backups.Read(ctx, StoreName(op.ReadCopy.GetStore()), CopyID(id), op.ReadCopy.GetFile(),
			op.ReadCopy.GetOffset())
		r.Result = &pb.OperatorResult_Piece{Piece: piece}
		return r, err
	case *pb.OperatorOp_ReleaseCopy:
		id, err := uuid.FromBytes(op.ReleaseCopy.GetCopy())
		if err != nil {
			return nil, errCopyGone
		}
		return r, o.backups.Release(ctx, StoreName(op.ReleaseCopy.GetStore()), CopyID(id))
	}
	return nil, fmt.Errorf("order %T is unknown here", op.GetOp())
}
