package mesh

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
)

// knock opens a connection to a node and says something.
func knock(t *testing.T, n *Network, say string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", n.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if _, err := io.WriteString(conn, say); err != nil {
		t.Fatal(err)
	}
	return conn
}

// sentAway waits until the other side has closed a connection, and returns what it
// had said.
func sentAway(t *testing.T, conn net.Conn) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(clustertest.Patience)); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(conn)
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		t.Fatal("nobody closed the connection")
	}
	return string(said)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}

func TestStrangersAreSentAway(t *testing.T) {
	w := newCampus(t, clock.Real())
	reached := make(chan wire.ServerID, 1)
	w.first.Handle(KindExport, func(_ context.Context, peer wire.ServerID, conn net.Conn) {
		conn.Close()
		reached <- peer
	})
	stranger := newCampus(t, clock.Real()).first // a node of another cluster

	for name, say := range map[string]string{
		"unknown preamble": "X",
		"HTTP":             "GET / HTTP/1.1\r\n\r\n",
		"TLS at once":      "\x16\x03\x01",
		"noise":            "M" + strings.Repeat("\xff", 600),
		"noise to actors":  "A" + strings.Repeat("\xff", 600),
		"noise to join":    "J" + strings.Repeat("\xff", 600),
	} {
		t.Run(name, func(t *testing.T) { sentAway(t, knock(t, w.first, say)) })
	}

	// handshake tries to come in as a member.
	handshake := func(config *tls.Config) error {
		conn := tls.Client(knock(t, w.first, "M"), config)
		if err := conn.HandshakeContext(t.Context()); err != nil {
			return err
		}
		// With TLS 1.3 the client is done before the server has judged it.
		if _, err := conn.Write(header{kind: KindExport}.bytes()); err != nil {
			return err
		}
		_ = conn.SetReadDeadline(time.Now().Add(clustertest.Patience))
		_, err := conn.Read(make([]byte, 1))
		return err
	}
	refuses := func(name string, config *tls.Config) {
		t.Run(name, func(t *testing.T) {
			if err := handshake(config); err == nil || errors.Is(err, io.EOF) || isTimeout(err) {
				t.Errorf("ended with %v, want an alert", err)
			}
		})
	}
	open := func(change func(*tls.Config)) *tls.Config {
		c := &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13}
		change(c)
		return c
	}
	present := func(c *Credentials) func(*tls.Config) {
		return func(t *tls.Config) { t.Certificates = []tls.Certificate{c.chain} }
	}
	refuses("no certificate", open(func(*tls.Config) {}))
	refuses("another cluster's certificate", open(present(stranger.creds.Load())))
	refuses("TLS 1.2", &tls.Config{
		InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12, Certificates: []tls.Certificate{w.first.creds.Load().chain},
	})

	forged := *w.first.creds.Load() // the authority of another cluster signs our name
	fake, err := Found(t.Context(), newFakeMeta(clock.Real()), "one", 3, rand.Reader, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	forged.chain = fake.chain
	refuses("our name, another authority", open(present(&forged)))

	authorityItself := w.first.creds.Load().chain
	authorityItself.Certificate = authorityItself.Certificate[1:]
	refuses(
		"the authority's certificate without its key",
		open(func(c *tls.Config) { c.Certificates = []tls.Certificate{authorityItself} }),
	)

	old := w.admitted() // its certificate has ended
	late := newLateCampus(t, w, clock.NewFake(time.Now().Add(nodeCertLife+time.Hour)))
	conn := tls.Client(knock(t, late, "M"), open(present(old)))
	if err := conn.HandshakeContext(t.Context()); err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(clustertest.Patience))
		_, err = conn.Read(make([]byte, 1))
		if err == nil || isTimeout(err) {
			t.Errorf("an old certificate gave %v", err)
		}
	}

	select {
	case peer := <-reached:
		t.Errorf("%s reached a handler", peer)
	default:
	}
	clustertest.WaitFor(t, func() bool { return w.first.Status().Rejected >= 10 })
	clustertest.WaitFor(t, func() bool { return w.first.Status().Pending == 0 })

	// Who belongs here still comes in.
	two := w.grow()
	s, err := two.Dial(t.Context(), w.first.Server(), KindExport)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if peer := <-reached; peer != two.Server() {
		t.Errorf("peer is %q, want %q", peer, two.Server())
	}
}

// newLateCampus opens a node of the same cluster whose clock is ahead.
func newLateCampus(t *testing.T, w *campus, c clock.Clock) *Network {
	t.Helper()
	creds, err := Found(t.Context(), w.meta, "late", 3, rand.Reader, c.Now())
	if err != nil {
		t.Fatal(err)
	}
	cfg := w.config(creds)
	cfg.Clock = c
	n, err := Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.shut() })
	return n
}

// A node that is dialled is the one that is meant, or nobody.
func TestDialWantsTheNodeItMeans(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	if _, err := w.first.dial(t.Context(), "three", two.Addr(), KindExport, 0); !errors.Is(err, wire.ErrUnreachable) ||
		!errors.Is(err, ErrNotMember) {
		t.Errorf("dialled three, two answered: %v", err)
	}
	stranger := newCampus(t, clock.Real()).first
	if _, err := w.first.dial(t.Context(), "", stranger.Addr(), KindExport, 0); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("a node of another cluster answered: %v", err)
	}
	if _, err := w.first.Dial(t.Context(), "nobody", KindExport); !errors.Is(err, wire.ErrUnreachable) {
		t.Errorf("dialled a node that nobody knows: %v", err)
	}
}

func TestSlowGuestsAreSentAway(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	actors, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer actors.Close()
	w.first.ServeActors(actors.Addr().String())
	guests := map[string]net.Conn{
		"says nothing":          knock(t, w.first, ""),
		"says what it is":       knock(t, w.first, "M"),
		"begins a handshake":    knock(t, w.first, "M\x16\x03\x01\x00\xff"),
		"wants to join":         knock(t, w.first, "J"),
		"wants the actors":      knock(t, w.first, "A"),
		"whispers to them":      knock(t, w.first, "A\x16\x03\x01\x00\xff"),
		"joins without request": nil,
	}
	joining := tls.Client(knock(t, w.first, "J"), &tls.Config{InsecureSkipVerify: true})
	if err := joining.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	guests["joins without request"] = joining
	clustertest.WaitFor(t, func() bool { return w.first.Status().Pending == len(guests) })
	fake.Advance(handshakeTimeout - time.Millisecond)
	if n := w.first.Status().Pending; n != len(guests) {
		t.Errorf("%d guests before their time is up, want %d", n, len(guests))
	}
	fake.Advance(time.Millisecond)
	for name, conn := range guests {
		t.Run(name, func(t *testing.T) { sentAway(t, conn) })
	}
	clustertest.WaitFor(t, func() bool { return w.first.Status().Pending == 0 })
}

func TestTheDoorHasRoomForSoMany(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	for range maxPendingPerHost {
		knock(t, w.first, "")
	}
	clustertest.WaitFor(t, func() bool { return w.first.Status().Pending == maxPendingPerHost })
	sentAway(t, knock(t, w.first, "M"))
	if s := w.first.Status(); s.Crowded != 1 || s.Pending != maxPendingPerHost {
		t.Errorf("%+v with one guest too many", s)
	}
	fake.Advance(handshakeTimeout)
	clustertest.WaitFor(t, func() bool { return w.first.Status().Pending == 0 })
	w.grow() // there is room again
}

// The actors' server sees only those with a certificate, and they are no guests
// any more.
func TestActorsMeetNodesOnly(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	two := w.grow()
	actors, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer actors.Close()
	w.first.ServeActors(actors.Addr().String())
	go func() {
		for {
			raw, err := actors.Accept()
			if err != nil {
				return
			}
			go func() {
				conn := tls.Server(raw, w.first.ActorServerTLS())
				defer conn.Close()
				_, _ = io.Copy(conn, conn)
			}()
		}
	}()
	clustertest.WaitFor(t, func() bool { _, ok := two.members.address("one"); return ok || w.meta.entry("one") != nil })
	raw, err := two.DialActors(t.Context(), "one")
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	config := two.ActorTLS("one")
	config.NextProtos = []string{"h2"}
	conn := tls.Client(raw, config)
	if err := conn.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := conn.ConnectionState().NegotiatedProtocol; p != "h2" {
		t.Errorf("negotiated %q, gRPC wants h2", p)
	}
	got := make([]byte, 5)
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Fatalf("%q, %v", got, err)
	}
	fake.Advance(10 * handshakeTimeout) // nothing closes it
	if _, err := conn.Write([]byte("still")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "still" {
		t.Fatalf("%q, %v", got, err)
	}

	wrong := tls.Client(must(two.DialActors(t.Context(), "one")), two.ActorTLS("two"))
	if err := wrong.HandshakeContext(t.Context()); !errors.Is(err, ErrNotMember) {
		t.Errorf("the actors of one taken for those of two: %v", err)
	}
	wrong.Close()
	w.first.ServeActors("")
	late := must(two.DialActors(t.Context(), "one"))
	defer late.Close()
	sentAway(t, late)
}

func must(conn net.Conn, err error) net.Conn {
	if err != nil {
		panic(err)
	}
	return conn
}

// A removed node's streams end, and it is not let in again, whatever its
// certificate says.
func TestRemovedNodesAreCutOff(t *testing.T) {
	w := newCampus(t, clock.Real())
	two, three := w.grow(), w.grow()
	acquainted(t, w.first, two, three)
	echo(w.first, KindExport)
	s, err := two.Dial(t.Context(), "one", KindExport)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := io.ReadFull(s, make([]byte, 20)); err != nil {
		t.Fatal(err)
	}
	w.meta.remove(two.Server())
	ended := func(s net.Conn) bool {
		_ = s.SetReadDeadline(time.Now().Add(clustertest.Patience))
		_, err := s.Read(make([]byte, 1))
		return err != nil && !isTimeout(err)
	}
	if !ended(s) {
		t.Error("a removed node's stream goes on")
	}
	if again, err := two.dial(t.Context(), "one", w.first.Addr(), KindExport, 0); err == nil {
		// TLS 1.3: the dialling side may learn it with its first read.
		if !ended(again) {
			t.Error("a removed node was let in")
		}
		again.Close()
	}
	if _, err := w.first.Dial(t.Context(), two.Server(), KindExport); !errors.Is(err, wire.ErrNodeRemoved) {
		t.Errorf("dialling a removed node gave %v", err)
	}
	for _, n := range []*Network{w.first, three} {
		clustertest.WaitFor(t, func() bool {
			for _, m := range n.Members() {
				if m.Server == two.Server() {
					return false
				}
			}
			return true
		})
	}
	if _, err := three.Call(t.Context(), "one", probe()); err != nil {
		t.Error(err)
	}
}

func FuzzHeader(f *testing.F) {
	f.Add(header{kind: KindRaft, group: 7}.bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := readHeader(bytes.NewReader(b))
		if err == nil && !bytes.Equal(h.bytes(), b[:headerSize]) {
			t.Errorf("%x was read as %+v", b, h)
		}
	})
}
