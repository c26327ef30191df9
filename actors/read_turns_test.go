package actors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"orgmem/actors/account"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/brain/index"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestNobodyReadsForWhoHasLeft: a read whose caller gave up while it waited for its
// turn is not carried out, and is answered all the same.
func TestNobodyReadsForWhoHasLeft(t *testing.T) {
	var read atomic.Bool
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) {
		cfg.Embedder = wordEmbedder{id: "words", fail: func(s string) {
			if s == "for nobody" {
				read.Store(true)
			}
		}}
	})
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("", "Something to find."))
	hold := make(chan struct{})
	for range n.sys.Readers {
		if err := n.sys.Reads.Do(pb.OrgID{9}, node.Narrow, func(int) { <-hold }); err != nil {
			t.Fatal(err)
		}
	}
	n.waitFor(func() bool { return n.sys.Reads.Length() == 0 })
	ctx, giveUp := context.WithCancel(t.Context())
	left := make(chan error)
	go func() {
		_, err := n.sys.Ask(ctx, c.envelope(find("for nobody")))
		left <- err
	}()
	n.waitFor(func() bool { return n.sys.Reads.Length() == 1 })
	giveUp()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("a call that was given up: %v", err)
	}
	close(hold)
	n.waitFor(func() bool { return n.sys.Stats().CallsInFlight == 0 })
	if read.Load() {
		t.Error("it was carried out")
	}
	if got := c.chunks("Something"); len(got) != 1 {
		t.Errorf("%d hits afterwards", len(got))
	}
}

// TestColdReadEndsWhenNobodyWaits: an organization's search brings one memory after
// the other into memory, and no further once its caller has left.
func TestColdReadEndsWhenNobodyWaits(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	for _, subject := range []string{"ann", "ben", "cem"} {
		c.put(subject)
		c.as(subject).ingest(doc("", "Something of "+subject))
	}
	n.stop()
	n = startNode(t, disk)
	looks := 0
	err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
		done(o.WithStore(func(st *storage.Store) error {
			parts, err := o.AllPartitions(st)
			if err != nil || len(parts) != 4 {
				return fmt.Errorf("%d partitions: %w", len(parts), err)
			}
			_, err = training.NewLookup(&o.View, st, parts, "something", index.KeywordOnly, &partition.QueryEncoder{},
				func() error {
					if looks++; looks == 3 {
						return node.ErrAbandoned
					}
					return nil
				})
			return err
		}))
	})
	if !errors.Is(err, node.ErrAbandoned) || looks != 3 || n.sys.Memory.Loads.Load() != 2 {
		t.Errorf("%v after %d looks and %d loads", err, looks, n.sys.Memory.Loads.Load())
	}
}

// TestTooManyMemoriesForOneSearch: an organization with more than can be searched as
// one is told so in a way that does not make it try again.
func TestTooManyMemoriesForOneSearch(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	add := func(from, to int) {
		t.Helper()
		err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
			b := storage.NewBatch(o.Store)
			for i := from; i < to; i++ {
				id := pb.PartitionID(uuid.NewSHA1(uuid.Nil, fmt.Append(nil, i)))
				tenant.PutPartition(b, o.Space, partition.NewRef(o.Store, &o.View, id, &pb.Partition{
					Kind:    pb.PartitionSubject,
					Subject: fmt.Sprint("s", i),
				}))
			}
			o.Committer.Submit(b, done)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	search := &pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: "anything", OrgScope: true}}}
	add(0, tenant.MaxOrgPartitions) // and the owner's own
	p := c.refused(pb.CodeValidation, search)
	if len(p.GetErrors()) != 1 || p.GetErrors()[0].GetField() != "scope" || !strings.Contains(p.GetDetail(), "20000") ||
		p.GetRetryAfterS() != 0 {
		t.Errorf("%v", p)
	}
	if got := c.chunks("anything"); len(got) != 0 { // the own memory is searched as ever
		t.Errorf("%v", got)
	}
}
