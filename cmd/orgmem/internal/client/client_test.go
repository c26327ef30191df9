package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/proto/clock"
)

// served starts a server with the handler and a client of it on a fake clock
// that jumps ahead whenever the client waits.
func served(t *testing.T, handler http.HandlerFunc) (*client.Client, *jumping) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := &jumping{Fake: clock.NewFake(time.Unix(1_700_000_000, 0))}
	made, err := client.New(client.Options{Base: server.URL, APIKey: "svc_prod_k", Subject: "a/b ü", Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	return made, c
}

// jumping is a clock on which every wait is over at once, and counted.
type jumping struct {
	*clock.Fake
	waited time.Duration
}

func (j *jumping) NewTimer(d time.Duration) clock.ChanTimer {
	timer := j.Fake.NewTimer(d)
	j.waited += d
	j.Advance(d)
	return timer
}

func TestRefusalsAreWaitedOutAsTheServerSays(t *testing.T) {
	var calls atomic.Int32
	c, clk := served(t, func(w http.ResponseWriter, r *http.Request) {
		n := calls.Add(1)
		if got := r.Header.Get("X-Svc-Subject"); got != "a%2Fb%20%C3%BC" {
			t.Errorf("subject header %q", got)
		}
		if r.Header.Get("Idempotency-Key") != "same" {
			t.Error("the idempotency key must be the same on every attempt")
		}
		body, _ := io.ReadAll(r.Body)
		if len(body) == 0 {
			t.Error("the body must be sent again")
		}
		switch n {
		case 1:
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w, `{"code":"rate_limit_exceeded","status":429}`)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"code":"service_draining","status":503}`)
		case 3:
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"code":"idempotency_in_progress","status":409}`)
		default:
			w.WriteHeader(http.StatusAccepted)
			_, _ = io.WriteString(w, `{"jobId":"j1","status":"pending"}`)
		}
	})
	job, err := c.IngestBatch(context.Background(), []client.Item{{Content: "x"}}, "same")
	if err != nil || job != "j1" || calls.Load() != 4 {
		t.Fatalf("job %q after %d calls: %v", job, calls.Load(), err)
	}
	if clk.waited < 7*time.Second || clk.waited > 10*time.Second {
		t.Errorf("waited %v", clk.waited)
	}
}

func TestWaitingIsBounded(t *testing.T) {
	c, clk := served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "50")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"code":"rate_limit_exceeded"}`)
	})
	_, err := c.Me(context.Background())
	if !client.IsCode(err, "rate_limit_exceeded") {
		t.Fatalf("got %v", err)
	}
	if clk.waited > client.MaxWait {
		t.Errorf("waited %v", clk.waited)
	}
}

func TestOtherProblemsReturnAtOnce(t *testing.T) {
	var calls atomic.Int32
	c, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w,
			`{"code":"validation_failed","detail":"no","requestId":"r1","errors":[{"field":"topK","message":"too big"}]}`)
	})
	_, _, err := c.Search(context.Background(), client.Query{Query: "q"})
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Status != 422 || calls.Load() != 1 {
		t.Fatalf("%d calls: %v", calls.Load(), err)
	}
	if got := p.Error(); got != "422 validation_failed: no; topK: too big (request r1)" {
		t.Errorf("reads %q", got)
	}
}

// A POST without an idempotency key may have taken effect when its connection
// broke; only a GET is sent again.
func TestBrokenConnections(t *testing.T) {
	var calls atomic.Int32
	c, _ := served(t, func(w http.ResponseWriter, _ *http.Request) {
		if calls.Add(1) == 2 {
			_, _ = io.WriteString(w, `{"plan":"free"}`)
			return
		}
		panic(http.ErrAbortHandler)
	})
	me, err := c.Me(context.Background())
	if err != nil || me.Plan != "free" || calls.Load() != 2 {
		t.Fatalf("%+v after %d calls: %v", me, calls.Load(), err)
	}
	if _, err := c.CreateOrg(context.Background(), client.NewOrg{Name: "n"}); err == nil || calls.Load() != 3 {
		t.Errorf("%d calls: %v", calls.Load(), err)
	}
}

// An address where nobody has answered yet may be the wrong one, and is told at once;
// where somebody has, a restart is waited for, and the person knows why.
func TestNobodyAnswers(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"plan":"free"}`)
	}))
	defer server.Close()
	clk := &jumping{Fake: clock.NewFake(time.Unix(1_700_000_000, 0))}
	var told []string
	made := func() *client.Client {
		c, err := client.New(client.Options{
			Base: server.URL, Clock: clk, Advice: "start it", Waiting: func(why error) { told = append(told, why.Error()) },
		})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	before, after := made(), made()
	if _, err := before.Me(t.Context()); err != nil {
		t.Fatal(err)
	}
	server.Close()
	_, err := after.Me(t.Context())
	if err == nil || !strings.Contains(err.Error(), server.URL) || !strings.Contains(err.Error(), "refused") ||
		!strings.HasSuffix(err.Error(), "start it") || clk.waited != 0 || len(told) != 0 {
		t.Errorf("after %v, and %q: %v", clk.waited, told, err)
	}
	_, err = before.Me(t.Context())
	if err == nil || clk.waited < time.Minute || clk.waited > client.MaxWait {
		t.Errorf("after %v: %v", clk.waited, err)
	}
	if len(told) == 0 || !strings.Contains(told[0], server.URL) || !strings.HasSuffix(told[0], "trying again") {
		t.Errorf("told %q", told)
	}
}

// What speaks another protocol never answers, however often it is asked: that is said within
// two seconds, also of a request that may be repeated.
func TestAnotherProtocolIsSaidSoon(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(connection, "220 mail.example.org ESMTP\r\n")
			_ = connection.Close()
		}
	}()
	clk := &jumping{Fake: clock.NewFake(time.Unix(1_700_000_000, 0))}
	c, err := client.New(client.Options{Base: "http://" + listener.Addr().String(), Clock: clk})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Me(t.Context()); err == nil || clk.waited > 2*time.Second {
		t.Errorf("after %v: %v", clk.waited, err)
	}
}

func TestForeignAnswersAreNamedAsSuch(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	_, err := c.Me(context.Background())
	p, ok := errors.AsType[*client.Problem](err)
	if !ok || p.Error() != "404: not an answer of this service; is the address right?" {
		t.Errorf("got %v", err)
	}
	c, _ = served(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	if _, err := c.Me(context.Background()); err == nil {
		t.Error("a page was taken for an answer")
	}
}

func TestCancelEndsTheWait(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"code":"rate_limit_exceeded"}`)
		cancel()
	}))
	defer server.Close()
	c, err := client.New(client.Options{Base: server.URL, Clock: clock.NewFake(time.Unix(0, 0))})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Me(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAddressesAreChecked(t *testing.T) {
	for _, bad := range []string{"", "127.0.0.1:8080", "ftp://x", "http://"} {
		if _, err := client.New(client.Options{Base: bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestOrganizationsAreListedPageByPage(t *testing.T) {
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		switch cursor := r.URL.Query().Get("cursor"); cursor {
		case "":
			io.WriteString(w, `{"data":[{"orgId":"a","slug":"x"}],"nextCursor":"1.a b"}`)
		case "1.a b":
			io.WriteString(w, `{"data":[{"orgId":"b","slug":"y"}]}`)
		default:
			t.Errorf("cursor %q", cursor)
		}
	})
	orgs, err := c.Orgs(t.Context())
	if err != nil || len(orgs) != 2 || orgs[0].OrgID != "a" || orgs[1].Slug != "y" {
		t.Errorf("listed %+v, %v", orgs, err)
	}
}
