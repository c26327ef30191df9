package mesh

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/prototest"
)

// generation is what a node uses now.
func generation(n *Network) (issuer uint64, trusted int) {
	c := n.creds.Load()
	return c.issuer, len(c.pb.GetGenerations())
}

// allAt tells whether all nodes have a certificate of a generation and trust so
// many.
func allAt(issuer uint64, trusted int, nodes []*Network) bool {
	for _, n := range nodes {
		if i, t := generation(n); i != issuer || t != trusted {
			return false
		}
	}
	return true
}

// The authority is replaced while three nodes talk all the time and a fourth
// joins; not one call fails.
func TestRotationBreaksNothing(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	saved := &keeper{}
	nodes := []*Network{w.first, w.grow(), w.grow(saved.keep)}
	acquainted(t, nodes...)
	before := w.first.creds.Load()

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var talk sync.WaitGroup
	var handshakes sync.Mutex
	advance := func(d time.Duration) {
		handshakes.Lock() // else those under way would all be too slow
		defer handshakes.Unlock()
		fake.Advance(d)
	}
	old := slices.Clone(nodes)
	talk.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ctx.Done():
				return
			case <-time.After(2 * time.Millisecond): // leaves gossip its share of the processors
			}
			from, to := old[i%3], old[i/3%3]
			handshakes.Lock()
			err := greet(t.Context(), from, to)
			handshakes.Unlock()
			if err != nil {
				t.Errorf("%s to %s: %v", from.Server(), to.Server(), err)
				return
			}
		}
	})
	if err := w.first.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	fourth := w.grow()
	nodes = append(nodes, fourth)
	polls := 0
	clustertest.WaitFor(t, func() bool {
		if polls++; polls%100 == 0 {
			look(nodes...)
		}
		return allAt(2, 2, nodes)
	})
	advance(settleFor - time.Millisecond)
	if !allAt(2, 2, nodes) {
		t.Error("the old generation was dropped while handshakes with it may be under way")
	}
	clustertest.WaitFor(t, func() bool {
		if polls++; polls%100 == 0 { // what gossip shakes hands for needs its time, too
			advance(settleFor)
		}
		return allAt(2, 1, nodes)
	})
	cancel()
	talk.Wait()
	acquainted(t, nodes...)
	for _, n := range nodes {
		s, err := n.Rotation()
		if err != nil || !slices.Equal(s.Generations, []uint64{2}) || s.Signing != 2 || len(s.Waiting) != 0 {
			t.Errorf("%s reports %+v, %v", n.Server(), s, err)
		}
	}
	if last := saved.get(); last == nil || last.issuer != 2 || last.trusts() != 2 {
		t.Errorf("the disk has %+v", last)
	}

	// What was stolen before is worth nothing after.
	thief, err := Open(t.Context(), w.config(before)) // and no meta group
	if err != nil {
		t.Fatal(err)
	}
	defer thief.shut()
	for _, n := range nodes[1:] {
		if _, err := thief.dial(t.Context(), n.Server(), n.Addr(), KindExport, 0); !errors.Is(err, ErrNotMember) {
			t.Errorf("the old generation and %s talk: %v", n.Server(), err)
		}
		// A thief that does not mind who answers is not heard either.
		conn := tls.Client(
			knock(t, n, "M"), &tls.Config{InsecureSkipVerify: true, Certificates: []tls.Certificate{before.chain}},
		)
		if err := conn.HandshakeContext(t.Context()); err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(clustertest.Patience))
			_, err = conn.Read(make([]byte, 1))
			if err == nil || errors.Is(err, io.EOF) || isTimeout(err) {
				t.Errorf("%s lets the old generation in: %v", n.Server(), err)
			}
		}
	}
}

// look makes nodes look after their certificates now: a look that failed is repeated by a
// clock that may stand.
func look(nodes ...*Network) {
	for _, n := range nodes {
		select {
		case n.members.maintaining <- struct{}{}:
		default:
		}
	}
}

// greet makes a handshake and a call.
func greet(ctx context.Context, from, to *Network) error {
	s, err := from.Dial(ctx, to.Server(), KindExport)
	if err != nil {
		return err
	}
	defer s.Close()
	_ = s.SetReadDeadline(time.Now().Add(clustertest.Patience))
	// With TLS 1.3 the dialling side is done before the other has judged it: nobody
	// serves this kind, so the stream ends, and not with an alert.
	if _, err := s.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return fmt.Errorf("stream ended with: %w", err)
	}
	_, err = from.Call(ctx, to.Server(), probe())
	return err
}

// keeper remembers what a node has saved.
type keeper struct {
	mu   sync.Mutex
	last *Credentials
	fail bool
}

var errKeep = errors.New("disk is full")

func (k *keeper) keep(cfg *Config) {
	cfg.Save = func(c *Credentials) error {
		text, err := c.Encode()
		if err != nil {
			return err
		}
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.fail {
			return errKeep
		}
		k.last, err = ParseCredentials(text)
		return err
	}
}

func (k *keeper) get() *Credentials {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// A rotation waits for a node that is away, and goes on when it is back, or when
// it was removed.
func TestRotationWaitsForAll(t *testing.T) {
	for _, ending := range []string{"it comes back", "it is removed"} {
		t.Run(ending, func(t *testing.T) {
			fake := clock.NewFake(time.Now())
			w := newCampus(t, fake)
			two, away := w.grow(), w.grow()
			acquainted(t, w.first, two, away)
			creds := away.creds.Load()
			if err := away.shut(); err != nil {
				t.Fatal(err)
			}
			for _, n := range []*Network{w.first, two} {
				clustertest.WaitFor(t, func() bool { return state(n, away.Server()) == MemberFailed })
			}
			if err := w.first.Rotate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := two.Rotate(t.Context()); !errors.Is(err, ErrRotating) {
				t.Errorf("a second rotation gave %v", err)
			}
			polls := 0
			clustertest.WaitFor(t, func() bool {
				if polls++; polls%100 == 0 {
					look(w.first, two)
				}
				s, err := w.first.Rotation()
				return err == nil && slices.Equal(s.Waiting, []wire.ServerID{away.Server()})
			})
			if s, err := two.Rotation(); err != nil || s.Signing != 1 || len(s.Generations) != 2 {
				t.Errorf("went on without it: %+v, %v", s, err)
			}
			all := []*Network{w.first, two}
			if ending == "it is removed" {
				w.meta.remove(away.Server())
			} else {
				back := w.open(creds, func(c *Config) { c.Listen, c.Join = away.Addr(), []string{two.Addr()} })
				all = append(all, back)
				acquainted(t, all...)
			}
			clustertest.WaitFor(t, func() bool {
				// Each advance ends the handshakes that are under way, which take some
				// milliseconds and on a busy machine more.
				if polls++; polls%100 == 0 {
					fake.Advance(settleFor)
				}
				return allAt(2, 1, all)
			})
		})
	}
}

// TestCertificatesAllowForClocks: a node whose clock is a good part of a day behind
// recognizes who has just joined.
func TestCertificatesAllowForClocks(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	n := w.grow()
	for off, good := range map[time.Duration]bool{
		-23 * time.Hour: true, 0: true, 23 * time.Hour: true, -25 * time.Hour: false,
	} {
		id, err := w.first.creds.Load().verify([]*x509.Certificate{n.creds.Load().leaf}, fake.Now().Add(off))
		if good && (err != nil || id != n.Server()) || !good && !errors.Is(err, ErrNotMember) {
			t.Errorf("by a clock that is %v off it is %s, %v", off, id, err)
		}
	}
}

// Certificates are renewed by age, and used only when they are on the disk.
func TestCertificatesRenewThemselves(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	k := &keeper{}
	n := w.grow(k.keep)
	first := n.creds.Load()
	sleep := func(d time.Duration) {
		clustertest.WaitFor(t, func() bool {
			for _, soon := range []time.Duration{maintainRetry, settleFor} { // a round may fail, on a busy machine
				if fake.WaitersIn(maintainEvery) == 0 && fake.WaitersIn(soon) > 0 {
					fake.Advance(soon)
				}
			}
			return fake.WaitersIn(maintainEvery) > 0
		})
		fake.Advance(d)
	}
	sleep(nodeCertLife - renewBefore - time.Hour)
	sleep(maintainEvery)
	if n.creds.Load() != first {
		t.Error("renewed too early")
	}
	k.mu.Lock()
	k.fail = true
	k.mu.Unlock()
	sleep(2 * time.Hour)
	sleep(maintainEvery)
	sleep(maintainEvery)
	if n.creds.Load() != first {
		t.Error("a certificate is used that is not on the disk")
	}
	k.mu.Lock()
	k.fail = false
	k.mu.Unlock()
	sleep(maintainEvery)
	clustertest.WaitFor(t, func() bool { return n.creds.Load() != first })
	next := n.creds.Load()
	if !next.Expires().After(first.Expires()) || string(next.pb.GetKey()) == string(first.pb.GetKey()) {
		t.Error("the new certificate is not newer, or has the old key")
	}
	if got := k.get(); string(got.pb.GetCertificate()) != string(next.pb.GetCertificate()) {
		t.Error("the disk has another certificate")
	}
	clustertest.WaitFor(t, func() bool { // once gossip has seen it again
		_, err := n.Call(t.Context(), "one", probe())
		return err == nil
	})
}

// An authority that a starting node reads before it has applied its log is older
// than its credentials, and changes nothing.
func TestCredentialsDoNotGoBack(t *testing.T) {
	now := time.Now()
	meta := newFakeMeta(clock.NewFake(now))
	c, err := Found(t.Context(), meta, "one", 3, rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	old, err := openAuthority(meta.Authority())
	if err != nil {
		t.Fatal(err)
	}
	step := func() *authority {
		t.Helper()
		a, err := openAuthority(meta.Authority())
		if err != nil {
			t.Fatal(err)
		}
		next := a.advanced(a.newest(), a.pb.GetSigning())
		if next == nil {
			if next, err = a.rotated(rand.Reader, now); err != nil {
				t.Fatal(err)
			}
		}
		if err := putAuthority(t.Context(), meta, next, a.version); err != nil {
			t.Fatal(err)
		}
		a, err = openAuthority(meta.Authority())
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for i := range 4 {
		a := step()
		next, err := c.renewed(a, rand.Reader, now)
		if err != nil || next == nil {
			t.Fatalf("step %d: %v, %v", i, next, err)
		}
		c = next
		if again, err := c.renewed(a, rand.Reader, now); again != nil || err != nil {
			t.Errorf("step %d: renewed twice: %v", i, err)
		}
		if back, err := c.renewed(old, rand.Reader, now); back != nil || err != nil {
			t.Errorf("step %d: went back: %v", i, err)
		}
	}
	other, err := newAuthority(rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.renewed(&authority{pb: other, version: 99}, rand.Reader, now); !errors.Is(err, ErrCredentials) {
		t.Errorf("another cluster's authority gave %v", err)
	}
}

// A node keeps its own entry true, serves again after a drain, and leaves a
// removed one alone.
func TestNodesEnterThemselves(t *testing.T) {
	w := newCampus(t, clock.Real())
	creds := w.admitted()
	e := w.meta.entry(creds.Server())
	if e == nil {
		t.Fatal("admitted and not in the table")
	}
	drained := &pb.NodeEntry{
		Server: e.GetServer(), Name: "old", Address: "127.0.0.1:1", Draining: true, JoinedMs: e.GetJoinedMs(),
	}
	if err := w.meta.PutNode(t.Context(), drained); err != nil {
		t.Fatal(err)
	}
	n := w.open(creds, func(c *Config) { c.Name, c.Zone = "new", "cellar" })
	clustertest.WaitFor(t, func() bool { return w.meta.entry(n.Server()).GetAddress() == n.Addr() })
	want := &pb.NodeEntry{
		Name: "new", Zone: "cellar", Version: wire.ProtocolVersion, JoinedMs: drained.GetJoinedMs(),
	}
	if diff := prototest.Diff(want, w.meta.entry(n.Server()), "draining"); diff != "" {
		t.Errorf("entry (-want +got):\n%s", diff)
	}
	again := w.meta.entry(n.Server())
	drained = &pb.NodeEntry{
		Server: e.GetServer(), Name: "new", Zone: "cellar", Address: n.Addr(), Version: wire.ProtocolVersion, Draining: true,
		JoinedMs: again.GetJoinedMs(),
	}
	if err := w.meta.PutNode(t.Context(), drained); err != nil {
		t.Fatal(err)
	}
	clustertest.WaitFor(t, func() bool { return n.table()[n.Server()].GetDraining() })
	if err := n.maintenance.look(w.meta); err != nil {
		t.Fatal(err)
	}
	if !w.meta.entry(n.Server()).GetDraining() {
		t.Error("a node that is being drained has taken itself back")
	}
	w.meta.remove(n.Server())
	if err := n.maintenance.look(w.meta); !errors.Is(err, wire.ErrNodeRemoved) {
		t.Errorf("a removed node tends itself: %v", err)
	}
}

func FuzzCredentials(f *testing.F) {
	c, err := Found(f.Context(), newFakeMeta(clock.Real()), "one", 3, rand.Reader, time.Now())
	if err != nil {
		f.Fatal(err)
	}
	text, err := c.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(fmt.Sprintf("-----BEGIN %s-----\n-----END %[1]s-----\n", pemType)))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCredentials(text)
		if err != nil {
			if !errors.Is(err, ErrCredentials) {
				t.Errorf("error %v is not ErrCredentials", err)
			}
			return
		}
		if _, err := c.verify(
			[]*x509.Certificate{c.leaf}, c.leaf.NotBefore,
		); errors.As(err, new(x509.UnknownAuthorityError)) {
			t.Errorf("credentials of an authority that they do not trust: %v", err)
		}
		said, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := ParseCredentials(said); err != nil || !proto.Equal(again.pb, c.pb) || again.issuer != c.issuer {
			t.Errorf("they do not come back: %v", err)
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add("orgmem-join-1-")
	f.Add(Token{
		&pb.Token{Fingerprints: [][]byte{make([]byte, 32)}, Secret: make([]byte, 32), Addresses: []string{"a:1"}},
	}.String())
	f.Fuzz(func(t *testing.T, text string) {
		tok, err := ParseToken(text)
		if err != nil {
			if !errors.Is(err, ErrBadToken) {
				t.Errorf("error %v is not ErrBadToken", err)
			}
			return
		}
		again, err := ParseToken(tok.String())
		if err != nil || again.hash() != tok.hash() {
			t.Errorf("%q does not come back: %v", text, err)
		}
	})
}

// FuzzMessage: what two machines say to each other before they trust each other is
// read as far as it says it goes, and is bounded.
func FuzzMessage(f *testing.F) {
	var b bytes.Buffer
	if err := writeMessage(&b, &pb.JoinAnswer{Refusal: "no", Again: true}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Add(binary.BigEndian.AppendUint32(nil, maxJoinBytes+1))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bytes.NewReader(in)
		m := &pb.JoinAnswer{}
		if err := readMessage(r, m); err != nil {
			return
		}
		if size := len(in) - r.Len(); size > 4+maxJoinBytes || size != 4+int(binary.BigEndian.Uint32(in)) {
			t.Fatalf("%d bytes read of %x", size, in)
		}
		var out bytes.Buffer
		again := &pb.JoinAnswer{}
		if err := errors.Join(writeMessage(&out, m), readMessage(&out, again)); err != nil || !proto.Equal(m, again) {
			t.Fatalf("%v is read again as %v, %v", m, again, err)
		}
	})
}
