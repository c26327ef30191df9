package actors

import (
	"crypto/sha256"

	lru "github.com/hashicorp/golang-lru/v2"

	pb "orgmem/proto"
	"orgmem/storage"
)

// maxAsked is how many queries a node remembers the vectors of: 1.5 KiB each, some
// 2 MB in all. It is for the same question asked again within minutes: by the
// next page of a list, by a person who types, by an agent that searches and then
// wants a prompt of the same.
const maxAsked = 1024

// askedQueries remembers what queries mean, in memory only and under a hash of
// their words, since embedding one costs more than the search itself. What one
// partition asks is not remembered for another: the time that an answer takes
// would tell who asked what.
type askedQueries struct {
	vectors *lru.Cache[askedKey, understood]
}

type askedKey struct {
	partitionKey

	model string
	words [sha256.Size]byte
}

// understood is a query in a model's terms. Nobody changes the vector.
type understood struct {
	vector []float32
	tokens int
}

func newAskedQueries() *askedQueries {
	vectors, err := lru.New[askedKey, understood](maxAsked)
	if err != nil {
		panic(err) //nolint:forbidigo // only a size that is not positive fails
	}
	return &askedQueries{vectors}
}

// understand embeds a query that is asked of some partitions, or remembers it. What
// a training asks is not remembered: it is made of content, which may be forgotten.
func (w *wordsmith) understand(parts []*partitionRef, m Embedder, query string) understood {
	if w.asked == nil {
		return w.embed(m, query)
	}
	key := askedKey{partitionKey: partitionKey{store: parts[0].store}, model: m.ID(), words: sha256.Sum256([]byte(query))}
	if len(parts) == 1 {
		key.id = parts[0].id
	}
	u, known := w.asked.vectors.Get(key)
	if !known {
		u = w.embed(m, query)
		w.asked.vectors.Add(key, u)
	}
	return u
}

func (w *wordsmith) embed(m Embedder, query string) understood {
	return understood{w.encoders.of(m).Query(query), m.CountTokens(query)}
}

// forget drops the queries that concern what is dropped.
func (a *askedQueries) forget(concerns func(partitionKey) bool) {
	for _, key := range a.vectors.Keys() {
		if concerns(key.partitionKey) {
			a.vectors.Remove(key)
		}
	}
}

// forgetPartition drops what was asked of a partition, alone or among others.
func (a *askedQueries) forgetPartition(part *partitionRef) {
	a.forget(func(k partitionKey) bool {
		return k.store == part.store && (k.id == part.id || k.id == pb.PartitionID{})
	})
}

func (a *askedQueries) forgetStore(store storage.StoreID) {
	a.forget(func(k partitionKey) bool { return k.store == store })
}
