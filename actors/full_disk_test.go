package actors

import (
	"runtime"
	"sync/atomic"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/connector"
	"orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// The watermark of a gauge, and what leaves a node above it, below it, and with nearly
// nothing.
const (
	watermark  = 1 << 20
	roomy      = 1 << 30
	below      = watermark / 2
	nearlyNone = 1
)

// gauge is how many bytes a node's disk has free.
type gauge struct{ free atomic.Uint64 }

func newGauge(free uint64) *gauge {
	g := &gauge{}
	g.free.Store(free)
	return g
}

// configure lets a node go by the gauge, and look at it before every write.
func (g *gauge) configure(_ *tenant.Config, o *storage.Options) {
	o.MinFreeBytes = watermark
	o.FreeSpace = func(string) (uint64, error) { return g.free.Load(), nil }
	o.Clock = steppingClock()
}

// wantReadOnly fails where a client finds other texts than one, or can write.
func (c client) wantReadOnly(word, text string) {
	c.n.t.Helper()
	if got := c.chunks(word); len(got) != 1 || got[0] != text {
		c.n.t.Errorf("reading on a full disk finds %q", got)
	}
	c.refused(pb.CodeServiceDegraded, items(doc("late", "Too late.")))
}

// TestAnOrganizationOpensOnAFullDisk, also where its secrets are to be sealed anew: that
// waits for the next opening with room.
func TestAnOrganizationOpensOnAFullDisk(t *testing.T) {
	disk, disks := storagetest.NewDisk(), newGauge(roomy)
	_, url, allow := startDoorkeeper(t)
	n := startNode(t, disk, allow, disks.configure)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", "Written in time."))
	hook := c.ok(newWebhook(url, "*")).GetLink().GetWebhook()
	feed := c.ok(secretFeed(url, "Bearer of-old-times")).GetLink().GetConnector()
	n.stop()
	weak := func() (weak []bool) {
		c.inOrg(func(o *tenant.Org) {
			err := o.WithStore(func(st *storage.Store) error {
				stored, k := &pb.Webhook{}, &pb.Connector{}
				if _, err := st.Get(webhook.RecordKey(o.Space, pb.WebhookID(hook.GetId())),
					stored); err != nil {
					return err
				}
				if _, err := st.Get(tenant.ModuleOf[*connector.Module](&o.View).ConnectorKey(pb.ConnectorID(feed.GetId())),
					k); err != nil {
					return err
				}
				_, ofHook, err := o.Unseal(webhook.SigningSecrets, stored.GetSealed(), stored.GetId())
				if err != nil {
					return err
				}
				_, ofFeed, err := tenant.ModuleOf[*connector.Module](&o.View).UnsealConfig(k)
				weak = []bool{ofHook, ofFeed}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		return weak
	}
	for _, round := range []struct {
		free uint64
		weak bool
	}{{nearlyNone, true}, {roomy, false}} {
		disks.free.Store(round.free)
		n = startNode(t, disk, allow, disks.configure, operatorKey("one"))
		c.n = n
		if round.weak {
			c.wantReadOnly("Written", "Written in time.")
		} else {
			c.chunks("Written")
		}
		for i, got := range weak() {
			if got != round.weak {
				t.Errorf("with %d bytes free, secret %d is sealed without the operator's key: %v, want %v", round.free, i, got,
					round.weak)
			}
		}
		n.stop()
	}
}

// TestASandboxOpensOnAFullDisk, which was not used before, or has been reset.
func TestASandboxOpensOnAFullDisk(t *testing.T) {
	for _, used := range []bool{false, true} {
		disk, disks := storagetest.NewDisk(), newGauge(roomy)
		n := startNode(t, disk, disks.configure)
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		box := n.sandboxKey(c)
		if used {
			box.ingest(doc("a", "Written for a test."))
			c.ok(resetSandbox())
		}
		crashed := disk.Crash(0, 1)
		n.stop()
		disks.free.Store(below)
		box.n = startNode(t, crashed, disks.configure)
		if got := box.chunks("Written"); len(got) != 0 {
			t.Errorf("used before: %v: a sandbox has %q", used, got)
		}
		box.refused(pb.CodeServiceDegraded, items(doc("late", "Too late.")))
	}
}

// TestAPurgeThatADiskFillsUpUnderEnds: what was decided upon while there was room is
// carried to its end without, at once and by the next opening. Its organization could
// not be read otherwise.
func TestAPurgeThatADiskFillsUpUnderEnds(t *testing.T) {
	disk, disks := storagetest.NewDisk(), newGauge(roomy)
	pieces := func(cfg *tenant.Config, _ *storage.Options) { cfg.PieceBytes = 1 }
	n := startNode(t, disk, pieces, disks.configure)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	c.put("bob")
	c.as("ann").ingest(doc("a", "some text of ann"))
	c.as("bob").ingest(doc("b", "Written by bob."))
	dry := c.ok(dryPurge("ann")).GetData().GetPurge()
	var exports *export.Module
	c.inOrg(func(o *tenant.Org) { exports = tenant.ModuleOf[*export.Module](&o.View) })
	exports.Mu.Lock() // the purge stops before its last commit
	done := make(chan *pb.Reply, 1)
	go func() { done <- c.ask(confirmPurge("ann", dry.GetConfirmToken())) }()
	runs := storage.OrgSpace(storage.StoreID{Org: made.Org, Realm: storage.RealmMain}).Prefix(storage.TablePurgeRun)
	for c.count(runs) == 0 {
		runtime.Gosched()
	}
	crashed := disk.Crash(0, 1)
	disks.free.Store(below)
	exports.Mu.Unlock()
	if r := <-done; r.GetProblem() != nil || r.GetData().GetPurge().GetPurgedMs() == 0 {
		t.Errorf("the purge is answered %v", r)
	}
	c.as("bob").wantReadOnly("Written", "Written by bob.")
	n.stop()

	c.n = startNode(t, crashed, pieces, disks.configure)
	c.as("bob").wantReadOnly("Written", "Written by bob.")
	if got := c.as("ann").chunks("text"); len(got) != 0 {
		t.Errorf("after a crash ann finds %q", got)
	}
	if r := c.ok(confirmPurge("ann", dry.GetConfirmToken())).GetData().GetPurge(); r.GetPurgedMs() == 0 {
		t.Errorf("confirmed once more: %v", r)
	}
	c.refused(pb.CodeServiceDegraded, dryPurge("bob")) // one that is not decided upon waits for room
}
