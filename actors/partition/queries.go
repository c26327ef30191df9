package partition

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"

	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// maxAsked is how many queries a node remembers the vectors of: 1.5 KiB each, some
// 2 MB in all. It is for the same question asked again within minutes: by the
// next page of a list, by a person who types, by an agent that searches and then
// wants a prompt of the same.
const maxAsked = 1024

// QueryCache remembers what queries mean, in memory only and under a hash of
// their words, since embedding one costs more than the search itself. What one
// partition asks is not remembered for another: the time that an answer takes
// would tell who asked what.
type QueryCache struct {
	vectors *lru.Cache[askedKey, Query]
}

// partitionKey is a partition, or with no id all those of a store.
type partitionKey struct {
	store storage.StoreID
	id    pb.PartitionID
}

type askedKey struct {
	partitionKey

	model string
	words [sha256.Size]byte
}

// Query is a query in a model's terms. Nobody changes the vector.
type Query struct {
	Vector []float32
	Tokens int
}

func newQueryCache() *QueryCache {
	vectors, err := lru.New[askedKey, Query](maxAsked)
	if err != nil {
		panic(err) //nolint:forbidigo // only a size that is not positive fails
	}
	return &QueryCache{vectors}
}

// QueryEncoder reads words and their meaning, for one worker.
type QueryEncoder struct {
	Analyzer text.Analyzer
	Encoders Encoders
	Queries  *QueryCache // nil: nothing is remembered
}

// Encode embeds a query that is asked of some partitions, or remembers it. What
// a training asks is not remembered: it is made of content, which may be forgotten.
func (w *QueryEncoder) Encode(parts []*Ref, m Embedder, query string) Query {
	if w.Queries == nil {
		return w.embed(m, query)
	}
	key := askedKey{partitionKey: partitionKey{store: parts[0].Store}, model: m.ID(), words: sha256.Sum256([]byte(query))}
	if len(parts) == 1 {
		key.id = parts[0].ID
	}
	u, known := w.Queries.vectors.Get(key)
	if !known {
		u = w.embed(m, query)
		w.Queries.vectors.Add(key, u)
	}
	return u
}

func (w *QueryEncoder) embed(m Embedder, query string) Query {
	return Query{w.Encoders.Of(m).Query(query), m.CountTokens(query)}
}

// forget drops the queries that concern what is dropped.
func (a *QueryCache) forget(concerns func(partitionKey) bool) {
	for _, key := range a.vectors.Keys() {
		if concerns(key.partitionKey) {
			a.vectors.Remove(key)
		}
	}
}

// forgetPartition drops what was asked of a partition, alone or among others.
func (a *QueryCache) forgetPartition(store storage.StoreID, id pb.PartitionID) {
	a.forget(func(k partitionKey) bool {
		return k.store == store && (k.id == id || k.id == pb.PartitionID{})
	})
}

func (a *QueryCache) forgetStore(store storage.StoreID) {
	a.forget(func(k partitionKey) bool { return k.store == store })
}
