package actors

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/subject"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// Somebody puts the machine's clock back by hours. What was put off for a while is
// done after that while, not after hours.

const putBack = -10 * time.Hour

func TestWhatIsDueWhenTheClockIsPutBack(t *testing.T) {
	const now, hour = 1_700_000_000_000, int64(time.Hour / time.Millisecond)
	for at, want := range map[int64]bool{
		now - 1: true, now: true, now + 1: false, now + hour: false, now + 2*hour: false, now + 2*hour + 1: true,
		now + 10*hour: true, 0: true,
	} {
		if got := subject.IsDue(at, now, time.Hour); got != want {
			t.Errorf("put off for an hour at most, until %d ms from now: due %t", at-now, got)
		}
	}
}

func TestWebhookRetriesWhenTheClockIsPutBack(t *testing.T) {
	in := newInbox(t)
	in.answer(func(_ string, nth int) int {
		if nth == 1 {
			return http.StatusInternalServerError
		}
		return http.StatusOK
	})
	n := startNode(t, storagetest.NewDisk(), in.allow)
	org := n.org(account.NewOrg{})
	hook := client{n: n, key: org.APIKey}.ok(newWebhook(in.url, "*")).GetLink().GetWebhook()
	n.happen(org.Org, pb.EventInsightProposed, 0, 1)
	wait := n.retryAt(hook.GetId(), org.Org)
	n.clock.Jump(putBack)
	n.clock.Advance(wait)
	n.waitFor(func() bool { return in.count() == 2 })
	n.quiet(org.Org)
}

func TestConnectorSyncsWhenTheClockIsPutBack(t *testing.T) {
	feed := &newsroom{entries: []string{"one|The walnut harvest begins."}}
	url, allow := receiver(t, feed.ServeHTTP)
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.syncNow(c.follow(url))
	c.settled()
	c.awaitSchedule()
	n.clock.Jump(putBack)
	n.clock.Advance(time.Hour)
	n.waitFor(func() bool { return feed.counts() == [2]int{2, 1} })
	c.settled()
}

// TestForgottenSegmentsGoWhenTheClockIsPutBack: by more than a test can let pass.
func TestForgottenSegmentsGoWhenTheClockIsPutBack(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), smallSlices)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var ids []string
	for i := range 30 {
		ids = append(ids, c.note(fmt.Sprintf("Note number%d.", i)))
	}
	c.settled()
	part, st := n.partOf(c)
	st.Release()
	forgotten := ids[3]
	if !n.mentioned(part, forgotten) {
		t.Fatal("it is in no stored segment: the test would prove nothing")
	}
	c.ok(forgetOp(forgotten))
	n.clock.Jump(-50 * 365 * 24 * time.Hour)
	n.until(func() bool { return !n.mentioned(part, forgotten) })
}

// TestLastUseIsToldWhenTheClockIsPutBack: the note of a later time gives way.
func TestLastUseIsToldWhenTheClockIsPutBack(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	noted := func() int64 {
		uses := records(n, storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, storage.TableKeyUse,
			func() *pb.Key { return &pb.Key{} })
		if len(uses) == 0 {
			return 0
		}
		return uses[0].GetLastUsedMs()
	}
	c.put("ann")
	n.waitFor(func() bool { return noted() == n.clock.Now().UnixMilli() })
	now := n.clock.Now()
	n.stop()
	n = startNode(t, disk)
	n.clock.Set(now.Add(putBack))
	c.n = n
	c.put("ben")
	n.waitFor(func() bool { return noted() == n.clock.Now().UnixMilli() })
}
