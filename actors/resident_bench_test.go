package actors

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// BenchmarkReadSnapshot is how a reader comes by a partition's index: from behind the pointer that the subject's actor
// publishes, or, if that were how it is done, by a message to an actor that holds it.
func BenchmarkReadSnapshot(b *testing.B) {
	n := startNode(b, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	c = c.as("ann")
	c.ingest(doc("a", "A text about tea."))
	part := c.partition()
	var view *tenant.View
	c.inOrg(func(o *tenant.Org) { view = &o.View })
	st, err := n.store.Acquire(part.Store)
	if err != nil {
		b.Fatal(err)
	}
	defer st.Release()
	get := func() *partition.Index {
		now, err := view.Residents.Get(st, part, n.sys.Embedders.Dim)
		if err != nil {
			b.Error(err)
		}
		return now
	}
	type question struct{ answer chan *partition.Index }
	holder := n.sys.ActorRoot.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if q, ok := ctx.Message().(question); ok {
			q.answer <- get()
		}
	}, actor.WithSupervisor(tenant.StopFailed)))
	defer n.sys.ActorRoot.Poison(holder)
	ways := map[string]func() func() *partition.Index{
		"pointer": func() func() *partition.Index { return get },
		"mailbox": func() func() *partition.Index {
			q := question{make(chan *partition.Index, 1)}
			return func() *partition.Index {
				n.sys.ActorRoot.Send(holder, q)
				return <-q.answer
			}
		},
	}
	for _, way := range []string{"pointer", "mailbox"} {
		for _, readers := range []int{1, 8} {
			b.Run(fmt.Sprintf("%s/readers=%d", way, readers), func(b *testing.B) {
				b.ReportAllocs()
				var wg sync.WaitGroup
				for i := range readers {
					times := b.N / readers
					if i == 0 {
						times += b.N % readers
					}
					wg.Go(func() {
						read := ways[way]()
						for range times {
							if read() == nil {
								b.Error("nothing")
							}
						}
					})
				}
				wg.Wait()
			})
		}
	}
}

// BenchmarkResidentSubject is what a subject in memory costs whose partition is empty: with nothing but what readers
// look into, and with the actors that do its work, which have found nothing to do.
func BenchmarkResidentSubject(b *testing.B) {
	for _, work := range []bool{false, true} {
		b.Run(fmt.Sprintf("work=%v", work), func(b *testing.B) {
			const subjects = 5_000
			bytes := uint64(0)
			for b.Loop() {
				n := startNode(b, storagetest.NewDisk())
				c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
				c.makeSubjects(subjects)
				before := inUse()
				c.loadAll(work)
				bytes += (inUse() - before) / subjects
				n.stop()
			}
			b.ReportMetric(float64(bytes)/float64(b.N), "bytes/subject")
		})
	}
}

// inUse is the memory that is in use.
func inUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc + m.StackInuse
}

// loadAll reads all partitions of the organization, and waits until each has an actor; with work, one that is at work.
func (c client) loadAll(work bool) {
	c.n.t.Helper()
	var view *tenant.View
	c.inOrg(func(o *tenant.Org) { view = &o.View })
	loaded := 0
	err := view.WithStore(func(st *storage.Store) error {
		parts, err := view.AllPartitions(st)
		for _, part := range parts {
			if _, err := view.Residents.Get(st, part, c.n.sys.Embedders.Dim); err != nil {
				return err
			}
		}
		loaded = len(parts)
		return err
	})
	if err != nil {
		c.n.t.Fatal(err)
	}
	c.n.waitFor(func() bool {
		children := 0
		c.inOrg(func(o *tenant.Org) {
			children = len(o.InMemory())
			for id := range o.InMemory() {
				if work {
					o.WakePartition(id)
				}
			}
		})
		return children >= loaded
	})
	c.n.sys.BackgroundTasks.Wait()
}
