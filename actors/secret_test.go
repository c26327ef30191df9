package actors

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/connector"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// doorkeeper is a feed that notes what it is shown, and takes what is posted.
type doorkeeper struct {
	newsroom
	seenMu sync.Mutex
	seen   []string
}

func (d *doorkeeper) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	d.seenMu.Lock()
	d.seen = append(d.seen, r.Header.Get("Authorization"))
	d.seenMu.Unlock()
	d.newsroom.ServeHTTP(w, r)
}

func (d *doorkeeper) last() string {
	d.seenMu.Lock()
	defer d.seenMu.Unlock()
	if len(d.seen) == 0 {
		return ""
	}
	return d.seen[len(d.seen)-1]
}

func startDoorkeeper(t *testing.T) (d *doorkeeper, url string, allow func(*tenant.Config, *storage.Options)) {
	t.Helper()
	d = &doorkeeper{}
	url, allow = receiver(t, d.ServeHTTP)
	return d, url, allow
}

func operatorKey(key string) func(*tenant.Config, *storage.Options) {
	return func(c *tenant.Config, _ *storage.Options) {
		if key != "" {
			c.SecretsKey = []byte(key)
		}
	}
}

func secretFeed(url, secret string) *pb.Envelope {
	op := feedOp(url)
	op.GetLink().GetCreateConnector().Config = fmt.Appendf(nil, `{"url":%q,"authorization":%q}`, url, secret)
	return op
}

// What a connector shows its source is in no file, before it is used and after it
// was changed, and it is used.
func TestConnectorSecretsAreSealed(t *testing.T) {
	door, url, allow := startDoorkeeper(t)
	disk := storagetest.NewDisk()
	n := startNode(t, disk, allow, operatorKey("one"))
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	made := c.ok(secretFeed(url, "Bearer first-of-all")).GetLink().GetConnector()
	id := pb.ConnectorID(made.GetId()).String()
	c.syncNow(id)
	if got := door.last(); got != "Bearer first-of-all" {
		t.Errorf("the source is shown %q", got)
	}
	patch := func(config string) *pb.Connector {
		return c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_PatchConnector{PatchConnector: &pb.PatchConnector{
			Id:     id,
			Config: []byte(config),
		}}})).GetLink().GetConnector()
	}
	patch(fmt.Sprintf(`{"url":%q}`, url+"?again")) // a secret that is left out stays
	c.syncNow(id)
	if got := door.last(); got != "Bearer first-of-all" {
		t.Errorf("after another address the source is shown %q", got)
	}
	shown := patch(fmt.Sprintf(`{"url":%q,"authorization":"Bearer second-to-none"}`, url))
	c.syncNow(id)
	if got := door.last(); got != "Bearer second-to-none" {
		t.Errorf("after another secret the source is shown %q", got)
	}
	for _, k := range []*pb.Connector{made, shown, c.connector(id)} {
		if strings.Contains(k.String(), "Bearer") || k.GetSealed() != nil {
			t.Errorf("an answer holds it: %v", k)
		}
	}
	n.stop()
	for _, secret := range []string{"first-of-all", "second-to-none"} {
		if where := disk.Find(t, secret); len(where) > 0 {
			t.Errorf("%s lies open in %v", secret, where)
		}
	}
	c.n = startNode(t, disk, allow, operatorKey("another"))
	c.syncNow(id)
	if k := c.connector(id); !strings.Contains(k.GetLastError(), "cannot be opened") ||
		door.last() != "Bearer second-to-none" {
		t.Errorf("under another key: %v", k)
	}
	patch(fmt.Sprintf(`{"url":%q,"authorization":"Bearer third"}`, url))
	c.syncNow(id)
	if k := c.connector(id); k.GetLastError() != "" || door.last() != "Bearer third" {
		t.Errorf("with a new secret: %v, the source is shown %q", k, door.last())
	}
}

// What an earlier version has left readable, or sealed before there was an operator's
// key, is sealed when the organization is opened, and how it was leaves the files.
func TestOldSecretsAreSealed(t *testing.T) {
	for _, before := range []string{"plain", "without a key"} {
		t.Run(before, func(t *testing.T) {
			t.Parallel()
			door, url, allow := startDoorkeeper(t)
			disk := storagetest.NewDisk()
			n := startNode(t, disk, allow)
			org := n.org(account.NewOrg{})
			c := client{n: n, key: org.APIKey}
			store := storage.StoreID{Org: org.Org, Realm: storage.RealmMain}
			const secret = "Bearer of-old-times"
			id := pb.ConnectorID(c.ok(secretFeed(url, secret)).GetLink().GetConnector().GetId())
			hook := c.ok(newWebhook(url, "*")).GetLink().GetWebhook()
			if before == "plain" {
				c.inOrg(func(o *tenant.Org) {
					b := storage.NewBatch(o.Store)
					k := &pb.Connector{}
					if err := o.WithStore(func(st *storage.Store) (err error) {
						_, err = st.Get(tenant.ModuleOf[*connector.Module](&o.View).ConnectorKey(id), k)
						return err
					}); err != nil {
						t.Error(err)
					}
					k.Config, k.Sealed = fmt.Appendf(nil, `{"url":%q,"authorization":%q}`, url, secret), nil
					b.Put(tenant.ModuleOf[*connector.Module](&o.View).ConnectorKey(id), k)
					b.Put(webhook.RecordKey(o.Space, pb.WebhookID(hook.GetId())), proto.CloneOf(hook))
					o.Committer.Submit(b, func(err error) {
						if err != nil {
							t.Error(err)
						}
					})
				})
			}
			n.stop()
			if where := disk.Find(t, "of-old-times"); (len(where) > 0) != (before == "plain") {
				t.Errorf("before it lies in %v", where)
			}
			n = startNode(t, disk, allow, operatorKey("one"))
			c.n = n
			c.syncNow(id.String())
			if got := door.last(); got != secret {
				t.Errorf("the source is shown %q", got)
			}
			test := link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
				String()}}})
			c.ok(test)
			if err := n.host.Erase(t.Context(), store); err != nil {
				t.Fatal(err)
			}
			n.stop()
			for _, s := range []string{"of-old-times", hook.GetSecret()} {
				if where := disk.Find(t, s); len(where) > 0 {
					t.Errorf("afterwards %s lies open in %v", s, where)
				}
			}
			c.n = startNode(t, disk, allow) // without the key it cannot be opened any more
			c.refused(pb.CodeInternal, test)
			c.syncNow(id.String())
			if k := c.connector(id.String()); !strings.Contains(k.GetLastError(), "cannot be opened") {
				t.Errorf("without the operator's key: %v", k)
			}
		})
	}
}
