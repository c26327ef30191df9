package actors

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// names is a name service of one test.
type names map[string]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	if a, ok := n[host]; ok {
		return []netip.Addr{netip.MustParseAddr(a)}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// receiver is a webhook's other end, and the configuration that lets a node
// reach it.
func receiver(t testing.TB, h http.HandlerFunc) (url string, allow func(*tenant.Config, *storage.Options)) {
	t.Helper()
	server := httptest.NewTLSServer(h)
	t.Cleanup(server.Close)
	at := netip.MustParseAddrPort(server.Listener.Addr().String())
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	out, err := egress.New(egress.Config{
		Rules: egress.Rules{
			AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			AllowPorts: []uint16{at.Port()},
		},
		Resolver: names{"example.com": "127.0.0.1", "public.example": "93.184.216.34", "inside.example": "10.0.0.1"},
		Dialer:   &net.Dialer{}, Roots: roots,
	})
	if err != nil {
		t.Fatal(err)
	}
	return "https://example.com:" + strconv.Itoa(int(at.Port())) + "/in",
		func(c *tenant.Config, _ *storage.Options) { c.Egress = out }
}

// link makes an envelope of an operation of proto/link.proto.
func link(op *pb.LinkOp) *pb.Envelope { return &pb.Envelope{Op: &pb.Envelope_Link{Link: op}} }

func newWebhook(url string, types ...string) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_CreateWebhook{CreateWebhook: &pb.CreateWebhook{Url: url, EventTypes: types}}})
}

func (c client) webhook(id []byte) *pb.WebhookDetail {
	c.n.t.Helper()
	return c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_GetWebhook{GetWebhook: &pb.GetWebhook{Id: pb.WebhookID(id).String()}}})).
		GetLink().GetWebhookDetail()
}

func patchWebhook(id []byte, p *pb.PatchWebhook) *pb.Envelope {
	p.Id = pb.WebhookID(id).String()
	return link(&pb.LinkOp{Op: &pb.LinkOp_PatchWebhook{PatchWebhook: p}})
}

// interface: Resources/Webhook endpoint
// interface: States/Webhook
// interface: Endpoints/Webhooks
func TestWebhookLifecycle(t *testing.T) {
	url, allow := receiver(t, func(http.ResponseWriter, *http.Request) {})
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}

	create := newWebhook(url, "graph.updated", "brain.trained")
	create.IdempotencyKey = "once"
	made := c.ok(create)
	hook := made.GetLink().GetWebhook()
	if made.GetStatus() != 201 || !strings.HasPrefix(hook.GetSecret(), "whsec_") ||
		len(hook.GetSecret()) != len("whsec_")+44 {
		t.Fatalf("%v", made)
	}
	again := c.ok(create)
	if !again.GetReplayed() || again.GetLink().GetWebhook().GetSecret() != tenant.SecretMarker ||
		!bytes.Equal(again.GetLink().GetWebhook().GetId(), hook.GetId()) {
		t.Errorf("replay: %v", again)
	}
	if got := c.webhook(hook.GetId()).GetWebhook(); got.GetSecret() != "" || got.GetUrl() != url {
		t.Errorf("detail: %v", got)
	}
	off, on, other := true, false, "https://public.example/x"
	if got := c.ok(patchWebhook(hook.GetId(), &pb.PatchWebhook{Disabled: &off})).GetLink().
		GetWebhook(); !got.GetDisabled() || got.GetDisabledReason() == "" || got.GetSecret() != "" ||
		got.GetUpdatedMs() == 0 {
		t.Errorf("disabled: %v", got)
	}
	got := c.ok(patchWebhook(hook.GetId(), &pb.PatchWebhook{Disabled: &on, Url: &other, EventTypes: []string{"*"}})).
		GetLink().GetWebhook()
	enabled := &pb.Webhook{Url: other, EventTypes: []string{"*"}}
	if diff := prototest.Diff(enabled, got, "disabled", "disabled_reason"); diff != "" {
		t.Errorf("enabled (-want +got):\n%s", diff)
	}
	n.stop()
	n = startNode(t, n.disk, allow)
	c.n = n
	if got := c.webhook(hook.GetId()).GetWebhook(); got.GetUrl() != other {
		t.Errorf("after a restart: %v", got)
	}
	remove := link(&pb.LinkOp{Op: &pb.LinkOp_DeleteWebhook{DeleteWebhook: &pb.DeleteWebhook{Id: pb.WebhookID(hook.GetId()).
		String()}}})
	if r := c.ok(remove); r.GetStatus() != 204 {
		t.Errorf("%v", r)
	}
	for name, op := range map[string]*pb.Envelope{
		"get": link(&pb.LinkOp{Op: &pb.LinkOp_GetWebhook{GetWebhook: &pb.GetWebhook{Id: pb.WebhookID(hook.GetId()).
			String()}}}),
		"no id":  link(&pb.LinkOp{Op: &pb.LinkOp_GetWebhook{GetWebhook: &pb.GetWebhook{Id: "x"}}}),
		"patch":  patchWebhook(hook.GetId(), &pb.PatchWebhook{Disabled: &on}),
		"delete": remove,
		"test": link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
			String()}}}),
	} {
		if p := c.refused(pb.CodeWebhookNotFound, op); p.GetDetail() != webhook.NotFound().GetDetail() {
			t.Errorf("%s: %v", name, p)
		}
	}
}

// An endpoint that is enabled again signs with the secret that it was made with: its
// receiver knows no other, and no route would tell it one.
//
// interface: States/Webhook
func TestEnablingAWebhookKeepsItsSecret(t *testing.T) {
	type delivery struct {
		signature string
		body      []byte
	}
	got := make(chan delivery, 2)
	url, allow := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- delivery{r.Header.Get("X-Svc-Signature"), body}
	})
	disk := storagetest.NewDisk()
	n := startNode(t, disk, allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	hook := c.ok(newWebhook(url, "*")).GetLink().GetWebhook()
	test := link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
		String()}}})
	signed := func(when string) {
		t.Helper()
		if r := c.ok(test).GetLink().GetTest(); !r.GetOk() {
			t.Fatalf("%s: %v", when, r)
		}
		d := <-got
		if want := webhook.Signature(hook.GetSecret(), c.n.clock.Now(), d.body); d.signature != want {
			t.Errorf("%s: signature %s, want %s", when, d.signature, want)
		}
	}
	for _, disabled := range []bool{true, false} {
		if x := c.ok(patchWebhook(hook.GetId(), &pb.PatchWebhook{Disabled: &disabled})).GetLink().
			GetWebhook(); x.GetDisabled() != disabled || x.GetSecret() != "" {
			t.Errorf("disabled %v: %v", disabled, x)
		}
	}
	signed("enabled again")
	n.stop()
	c.n = startNode(t, disk, allow)
	signed("after a restart")
}

// interface: Limits/Webhook URL
func TestWebhookAddressIsChecked(t *testing.T) {
	url, allow := receiver(t, func(http.ResponseWriter, *http.Request) {})
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	hook := c.ok(newWebhook(url, "*")).GetLink().GetWebhook()
	for _, bad := range []string{
		"http://public.example/", "https://inside.example/", "https://10.0.0.2/",
		"https://nowhere.example/", "https://a@public.example/",
	} {
		p := c.refused(pb.CodeValidation, newWebhook(bad, "*"))
		if len(p.GetErrors()) != 1 || p.GetErrors()[0].GetField() != "url" || p.GetErrors()[0].GetMessage() == "" {
			t.Errorf("%s: %v", bad, p)
		}
		c.refused(pb.CodeValidation, patchWebhook(hook.GetId(), &pb.PatchWebhook{Url: &bad}))
	}
	if got := c.webhook(hook.GetId()).GetWebhook(); got.GetUrl() != url {
		t.Errorf("a refused change changed %v", got)
	}
	off := startNode(t, storagetest.NewDisk())
	(client{n: off, key: off.org(account.NewOrg{}).APIKey}).refused(pb.CodeServiceDegraded, newWebhook(url, "*"))
}

// interface: Limits/Webhook endpoints
func TestWebhookLimitAndPages(t *testing.T) {
	url, allow := receiver(t, func(http.ResponseWriter, *http.Request) {})
	n := startNode(t, storagetest.NewDisk(), allow)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	made := make(chan *pb.Reply, webhook.MaxWebhooks+3)
	for range cap(made) { // all at once
		op := c.envelope(newWebhook(url, "*"))
		go func() {
			r, err := n.sys.Ask(context.Background(), op)
			if err != nil {
				t.Error(err)
			}
			made <- r
		}()
	}
	count, refused := 0, 0
	for range cap(made) {
		switch r := <-made; {
		case r.GetLink() != nil:
			count++
		case r.GetProblem().GetCode() == pb.CodeWebhookLimit:
			refused++
		default:
			t.Errorf("%v", r)
		}
	}
	if count != webhook.MaxWebhooks || refused != 3 {
		t.Errorf("%d made, %d refused", count, refused)
	}
	var ids []string
	page := &pb.Page{Size: 7}
	for first := true; first || page.Cursor != ""; first = false {
		list := c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_ListWebhooks{ListWebhooks: &pb.ListWebhooks{Page: page}}})).GetLink().
			GetWebhooks()
		for _, h := range list.GetWebhooks() {
			if h.GetSecret() != "" {
				t.Error("a list shows a secret")
			}
			ids = append(ids, string(h.GetId()))
		}
		if first { // what is deleted meanwhile moves nothing
			c.ok(link(&pb.LinkOp{
				Op: &pb.LinkOp_DeleteWebhook{DeleteWebhook: &pb.DeleteWebhook{Id: pb.WebhookID(list.GetWebhooks()[6].GetId()).String()}},
			}))
		}
		page.Cursor = list.GetNextCursor()
	}
	slices.Sort(ids)
	if len(ids) != webhook.MaxWebhooks || len(slices.Compact(ids)) != webhook.MaxWebhooks {
		t.Errorf("%d ids, %d different", len(ids), len(slices.Compact(ids)))
	}
	c.refused(pb.CodeInvalidCursor,
		link(&pb.LinkOp{Op: &pb.LinkOp_ListWebhooks{ListWebhooks: &pb.ListWebhooks{Page: &pb.Page{Cursor: "x"}}}}))
}

// TestWebhookTest holds a delivery to the interface: headers, signature over the
// raw bytes, envelope; and what a test event leaves alone.
//
// interface: What the service does/8 events
// interface: Endpoints/Webhooks
// interface: Events/webhook.test
// interface: Resources/Event envelope
func TestWebhookTest(t *testing.T) {
	type delivery struct {
		header http.Header
		body   []byte
	}
	got := make(chan delivery, webhook.MaxDeliveries+10)
	status := http.StatusNoContent
	url, allow := receiver(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got <- delivery{r.Header, body}
		w.WriteHeader(status)
		if status != http.StatusNoContent {
			_, _ = w.Write([]byte("no\x00\x1bthanks \xff" + strings.Repeat("é", webhook.MaxSnippet)))
		}
	})
	n := startNode(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	hook := c.ok(newWebhook(url, "job.completed")).GetLink().GetWebhook()
	test := link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
		String()}}})

	if r := c.ok(test).GetLink().GetTest(); !r.GetOk() || r.GetResponseStatus() != http.StatusNoContent ||
		r.GetError() != "" {
		t.Errorf("%v", r)
	}
	d := <-got
	type event struct {
		ID, Type, CreatedAt, OrgID string
		Data                       map[string]any
	}
	var envelope event
	decoder := json.NewDecoder(bytes.NewReader(d.body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&envelope); err != nil {
		t.Fatal(err)
	}
	want := event{
		ID: envelope.ID, Type: pb.EventWebhookTest, CreatedAt: envelope.CreatedAt, OrgID: org.Org.String(),
		Data: map[string]any{"message": "This is a test event."},
	}
	if diff := cmp.Diff(want, envelope); diff != "" {
		t.Errorf("the event (-want +got):\n%s", diff)
	}
	if len(envelope.ID) != 36 {
		t.Errorf("its id is %q", envelope.ID)
	}
	if at, err := time.Parse(tenant.EventTime, envelope.CreatedAt); err != nil || !at.Equal(n.clock.Now()) {
		t.Errorf("createdAt %s: %v", envelope.CreatedAt, err)
	}
	if d.header.Get("X-Svc-Event") != pb.EventWebhookTest || d.header.Get("X-Svc-Webhook") != pb.WebhookID(hook.GetId()).
		String() || d.header.Get("Content-Type") != "application/json" {
		t.Errorf("%v", d.header)
	}
	if want := webhook.Signature(hook.GetSecret(), n.clock.Now(), d.body); d.header.Get("X-Svc-Signature") != want {
		t.Errorf("signature %s, want %s", d.header.Get("X-Svc-Signature"), want)
	}

	// Tests have the places of deliveries, and no more.
	reserve := func(o *tenant.Org) (func(), bool) { return tenant.ModuleOf[*webhook.Module](&o.View).ReserveExtra() }
	var releases []func()
	c.inOrg(func(o *tenant.Org) {
		for release, ok := reserve(o); ok; release, ok = reserve(o) {
			releases = append(releases, release)
		}
	})
	if len(releases) != webhook.MaxExtraAttempts {
		t.Errorf("%d places", len(releases))
	}
	if p := c.refused(pb.CodeRateLimit, test); p.GetRetryAfterS() == 0 {
		t.Errorf("%v", p)
	}
	for _, release := range releases {
		release()
	}

	status = http.StatusInternalServerError
	attempts := 1
	for range webhook.MaxDeliveries + 5 {
		n.clock.Advance(time.Second)
		attempts++
		r := c.ok(test).GetLink().GetTest()
		<-got
		if r.GetOk() || r.GetResponseStatus() != 500 || r.GetError() == "" {
			t.Fatalf("%v", r)
		}
	}
	detail := c.webhook(hook.GetId())
	h := detail.GetWebhook()
	tried := &pb.Webhook{LastDeliveryMs: clock.Millis(n.clock.Now())}
	diff := prototest.Diff(tried, h, "failures", "disabled")
	if diff != "" || h.GetLastSuccessMs() == h.GetLastDeliveryMs() {
		t.Errorf("a test event counted: %v (-want +got):\n%s", h, diff)
	}
	if len(detail.GetAttempts()) != webhook.MaxDeliveries {
		t.Errorf("%d of %d attempts kept", len(detail.GetAttempts()), attempts)
	}
	for i, a := range detail.GetAttempts() {
		if i > 0 && a.GetAtMs() > detail.GetAttempts()[i-1].GetAtMs() {
			t.Fatal("attempts are not newest first")
		}
		if s := a.GetResponseSnippet(); len(s) > webhook.MaxSnippet || !strings.HasPrefix(s, "no  thanks  é") {
			t.Fatalf("snippet of %d bytes: %q", len(s), s)
		}
	}
	c = client{n: startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config,
		_ *storage.Options,
	) {
		cfg.Egress = refusing(t)
	})}
	c.key = c.n.org(account.NewOrg{}).APIKey
	hook = c.ok(newWebhook("https://public.example/", "job.completed")).GetLink().GetWebhook()
	test = link(&pb.LinkOp{Op: &pb.LinkOp_TestWebhook{TestWebhook: &pb.TestWebhook{Id: pb.WebhookID(hook.GetId()).
		String()}}})
	if r := c.ok(test).GetLink().GetTest(); r.GetOk() || r.GetResponseStatus() != 0 || !strings.Contains(r.GetError(),
		"could not be reached") {
		t.Errorf("nobody there: %v", r)
	}
}

// refusing is a way out on which nothing can be reached.
func refusing(t *testing.T) *egress.Client {
	t.Helper()
	out, err := egress.New(egress.Config{Resolver: names{"public.example": "93.184.216.34"}, Dialer: noNetwork{}})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type noNetwork struct{}

func (noNetwork) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: fmt.Errorf("no network in tests")}
}

// TestSignature is a vector that another implementation has made: openssl dgst
// -sha256 -hmac.
//
// interface: Authentication/12 webhook signature
// interface: Events/Delivery signature
func TestSignature(t *testing.T) {
	at := time.Unix(1700000000, 0)
	got := webhook.Signature("whsec_dGVzdA==", at, []byte(`{"id":"1"}`))
	head, sum, ok := strings.Cut(got, ",v1=")
	if raw, err := hex.DecodeString(sum); !ok || head != "t=1700000000" || err != nil || len(raw) != 32 {
		t.Errorf("%s", got)
	}
	if want := "c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450"; sum != want {
		t.Errorf("%s, want %s", sum, want)
	}
}

func TestOutboxIsSweptButForItsNewest(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	org := n.org(account.NewOrg{})
	emit := func(times int) {
		t.Helper()
		err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
			ch := commit.New(o.Store)
			for range times {
				if err := ch.Event(&o.View, pb.EventInsightProposed, nil, map[string]any{"count": 1}); err != nil {
					done(err)
					return
				}
			}
			o.Committer.SubmitChange(ch, done)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	numbers := func() (out []uint64) {
		t.Helper()
		err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
			o.Expire()
			o.Committer.Submit(storage.NewBatch(o.Store), func(error) { // behind the sweep's own
				done(o.WithStore(func(st *storage.Store) error {
					for item, err := range st.Scan(o.Space.Prefix(storage.TableOutbox), storage.ScanOptions{}) {
						if err != nil {
							return err
						}
						out = append(out, item.Key.Parts().U64())
					}
					return nil
				}))
			})
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	emit(3)
	if got := numbers(); !slices.Equal(got, []uint64{1, 2, 3}) {
		t.Fatalf("%v", got)
	}
	n.clock.Advance(webhook.OutboxRetention + time.Hour)
	if got := numbers(); !slices.Equal(got, []uint64{3}) {
		t.Errorf("after its retention: %v", got)
	}
	emit(1)
	if got := numbers(); !slices.Equal(got, []uint64{4}) {
		t.Errorf("with one that is new: %v", got)
	}
}
