package tenant

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// keyState is an API key in memory.
type keyState struct {
	Record   *pb.Key
	Buckets  map[string]*Bucket
	digest   string    // pk of the rate-limit policy
	seen     time.Time // when it last authenticated a request
	usedNote time.Time // when its use was last written
}

// keyring are the API keys of an organization that its actor remembers, with their rate buckets.
type keyring struct {
	view *View
	Keys map[pb.KeyHash]*keyState
}

// key returns the state of the key that a request carries, nil when the
// organization does not know it.
func (r *keyring) key(env *pb.Envelope) (*keyState, error) {
	hash, err := pb.KeyHashFrom(env.GetKeyHash())
	if err != nil {
		return nil, err
	}
	if k := r.Keys[hash]; k != nil {
		return k, nil
	}
	k := &keyState{Record: &pb.Key{}, Buckets: map[string]*Bucket{}}
	use := &pb.Key{}
	found := false
	err = r.view.WithStore(func(st *storage.Store) error {
		var err error
		if found, err = st.Get(r.view.Space.Key(storage.TableKey, storage.Hash32(hash)), k.Record); err != nil || !found {
			return err
		}
		_, err = st.Get(r.view.Space.Key(storage.TableKeyUse, storage.Hash32(hash)), use)
		return err
	})
	if err != nil || !found {
		return nil, err
	}
	k.usedNote = time.UnixMilli(use.GetLastUsedMs())
	mac := hmac.New(sha256.New, r.view.Secret)
	mac.Write([]byte("pk"))
	mac.Write(hash[:])
	k.digest = hex.EncodeToString(mac.Sum(nil)[:8])
	if len(r.Keys) >= maxCachedKeys {
		now := r.view.System.Clock.Now()
		for h, other := range r.Keys {
			if now.Sub(other.seen) > BucketRefillTime {
				delete(r.Keys, h)
			}
		}
	}
	r.Keys[hash] = k
	return k, nil
}

// bucketsFull reports whether the buckets of all keys are: they are in memory only, so an
// organization that left it earlier would come back with more than was left.
func (r *keyring) bucketsFull(plan string) bool {
	now := r.view.System.Clock.Now()
	for _, k := range r.Keys {
		for family, b := range k.Buckets {
			if b.refill(now, LimitOf(family, plan)); b.spent > 0 {
				return false
			}
		}
	}
	return true
}

// noteUse writes lastUsedAt, at most once a minute. Nobody waits for it: a
// crash may lose the last minute's note. A note of a time that is to come was
// written before the clock was put back.
func (r *keyring) noteUse(k *keyState, now time.Time) {
	if since := now.Sub(k.usedNote); since >= 0 && since < LastUsedInterval {
		return
	}
	k.usedNote = now
	b := storage.NewBatch(r.view.Store)
	b.Put(r.view.Space.Key(storage.TableKeyUse, storage.Hash32(pb.KeyHash(k.Record.GetHash()))),
		&pb.Key{LastUsedMs: clock.Millis(now)})
	r.view.Committer.Submit(b, func(error) {})
}
