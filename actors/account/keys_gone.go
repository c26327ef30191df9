package account

import (
	"context"
	"errors"

	"orgmem/cluster/state"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/storage"
)

const (
	// maxGoneKeys bounds the keys of an organization that wait to be dropped from the
	// cluster's directory: those of some members who are removed together. What is
	// beyond it is found by dropLostKeys.
	maxGoneKeys = 4096
	// MinLostKeys is from how many keys on that are in the directory and not in the
	// organization dropLostKeys looks for them: each look reads the whole directory,
	// and a crash leaves one.
	MinLostKeys = 100
)

// dropKeys drops keys that the organization does not know any more from the cluster's
// directory, soon. They have authenticated nothing since they went from the store; this
// makes room for others. Behind a crash dropLostKeys finds them.
func (o *Keys) dropKeys(gone []pb.KeyHash) {
	o.gone = append(o.gone, gone[:min(len(gone), maxGoneKeys-len(o.gone))]...)
	if len(o.gone) == 0 || o.dropping || o.Retired {
		return
	}
	keys := o.gone
	o.gone, o.dropping = nil, true
	view := &o.View
	o.System.RunInBackground(func(ctx context.Context) {
		err := view.System.Config.Host.Directory().DropKeys(ctx, view.ID, keys)
		if err != nil && !errors.Is(err, wire.ErrNotSpoken) { // during an upgrade it is no news
			view.System.Log.Warn("keys that are gone were not dropped from the directory; they are looked for later", "org",
				view.ID.String(), "err", err)
		}
		o.InMailbox(func() {
			o.dropping = false
			o.dropKeys(nil)
			if err == nil && len(keys) == maxGoneKeys {
				o.dropLostKeys() // there may be as many again
			}
		})
	})
}

// dropLostKeys finds keys that the directory has and the organization does not know:
// what a crash, a lost leader or a node of an earlier version has left. Without it a
// tenant could fill the directory of all.
func (o *Keys) dropLostKeys() {
	directory := o.System.Config.Host.Directory()
	if o.Main != nil || o.Failed != nil || o.Retired || o.dropping || directory.KeyCount(o.ID) < MinLostKeys {
		return
	}
	o.dropping = true
	view := &o.View
	o.System.RunInBackground(func(ctx context.Context) {
		lost, err := o.lostKeys(ctx, directory)
		if err != nil {
			view.System.Log.Warn("could not look for keys that nobody has; it is tried again", "org", view.ID.String(), "err",
				err)
		}
		o.InMailbox(func() {
			o.dropping = false
			o.dropKeys(o.stillLost(lost))
		})
	})
}

// lostKeys lists up to maxGoneKeys keys that lead here and are not in the store, where
// there are MinLostKeys or more.
func (o *Keys) lostKeys(ctx context.Context, directory *state.Directory) (lost []pb.KeyHash, err error) {
	err = o.WithStore(func(st *storage.Store) error {
		n, err := countRange(st, o.Space.Prefix(storage.TableKey))
		if err != nil {
			return err
		}
		known := int(n)
		if directory.KeyCount(o.ID)-known < MinLostKeys {
			return nil
		}
		keys, err := directory.KeysOf(ctx, o.ID, known+maxGoneKeys)
		if err != nil {
			return err
		}
		lost, err = o.unknownKeys(st, keys)
		lost = lost[:min(len(lost), maxGoneKeys)]
		return err
	})
	return lost, err
}

func (o *Keys) unknownKeys(st *storage.Store, keys []pb.KeyHash) (unknown []pb.KeyHash, err error) {
	for _, k := range keys {
		_, found, err := st.GetRaw(o.Space.Key(storage.TableKey, storage.Hash32(k)))
		if err != nil {
			return nil, err
		}
		if !found {
			unknown = append(unknown, k)
		}
	}
	return unknown, nil
}

// stillLost leaves out the keys that were being made when they were missed: those that
// still are, and those that have come since. Nobody else makes any: another activation
// could not store them.
func (o *Keys) stillLost(keys []pb.KeyHash) (lost []pb.KeyHash) {
	if o.Retired || len(keys) == 0 {
		return nil
	}
	err := o.WithStore(func(st *storage.Store) (err error) {
		lost, err = o.unknownKeys(st, keys)
		return err
	})
	if err != nil {
		return nil // looked for again
	}
	settled := lost[:0]
	for _, k := range lost {
		if _, underway := o.minting[k]; !underway {
			settled = append(settled, k)
		}
	}
	return settled
}
