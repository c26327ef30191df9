package remoting

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/asynkron/protoactor-go/remote"

	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const patience = 3 * time.Minute

// authority signs the certificates of a test's nodes.
type authority struct {
	t    *testing.T
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
	pool *x509.CertPool
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

// inherited is the authority that a parent has put into the environment.
func inherited(t *testing.T) *authority {
	t.Helper()
	a := &authority{t: t, pool: x509.NewCertPool()}
	key, err1 := base64.StdEncoding.DecodeString(os.Getenv(envKey))
	cert, err2 := base64.StdEncoding.DecodeString(os.Getenv(envCert))
	var err3, err4 error
	a.key, err3 = x509.ParseECPrivateKey(key)
	a.cert, err4 = x509.ParseCertificate(cert)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	a.pool.AddCert(a.cert)
	return a
}

func (a *authority) environ() []string {
	a.t.Helper()
	key, err := x509.MarshalECPrivateKey(a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return []string{
		envKey + "=" + base64.StdEncoding.EncodeToString(key), envCert + "=" + base64.StdEncoding.EncodeToString(a.cert.Raw),
	}
}

func (a *authority) certificate(server wire.ServerID) tls.Certificate {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), NotAfter: a.cert.NotAfter, KeyUsage: x509.KeyUsageDigitalSignature,
		URIs: []*url.URL{{Scheme: "orgmem", Host: "node", Path: "/" + string(server)}},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// street connects the nodes of a test.
type street struct {
	authority *authority

	mu    sync.Mutex
	doors map[wire.ServerID]string
}

type house struct {
	street *street
	self   wire.ServerID
	cert   tls.Certificate
}

func (h *house) DialActors(ctx context.Context, to wire.ServerID) (net.Conn, error) {
	h.street.mu.Lock()
	door := h.street.doors[to]
	h.street.mu.Unlock()
	if door == "" {
		return nil, errors.New("nobody there")
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", door)
}

func (h *house) ServeActors(addr string) {
	h.street.mu.Lock()
	defer h.street.mu.Unlock()
	h.street.doors[h.self] = addr
	if os.Getenv(envChild) != "" {
		fmt.Println("door", addr)
	}
}

func (h *house) config(check func(*x509.Certificate) error) *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{h.cert},
		InsecureSkipVerify: true,
		ClientAuth:         tls.RequireAnyClientCert,
		VerifyConnection: func(s tls.ConnectionState) error {
			leaf := s.PeerCertificates[0]
			_, err := leaf.Verify(
				x509.VerifyOptions{Roots: h.street.authority.pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}},
			)
			return errors.Join(err, check(leaf))
		},
	}
}

func (h *house) ActorTLS(to wire.ServerID) *tls.Config {
	return h.config(func(leaf *x509.Certificate) error {
		if len(leaf.URIs) != 1 || leaf.URIs[0].Path != "/"+string(to) {
			return fmt.Errorf("certificate of %v, want %s", leaf.URIs, to)
		}
		return nil
	})
}

func (h *house) ActorServerTLS() *tls.Config {
	return h.config(func(*x509.Certificate) error { return nil })
}

// Watch tells of nobody: messages need no members.
func (*house) Watch(func([]mesh.Member)) (stop func()) { return func() {} }

// Leader says that every organization lives on b.
func (*house) Leader(pb.OrgID) (wire.ServerID, bool) { return "b", true }

// neighbour is a node with a gateway that repeats what it is told.
type neighbour struct {
	*Remoting
	system *actor.ActorSystem
	heard  chan any
	lost   chan wire.ServerID
	self   *actor.PID
}

func (s *street) move(t *testing.T, in wire.ServerID) *neighbour {
	t.Helper()
	h := &house{s, in, s.authority.certificate(in)}
	quiet := slog.New(slog.DiscardHandler)
	n := &neighbour{
		Remoting: New(Config{Self: in, Placement: h, Wire: h, Clock: clock.Real(), Logger: quiet}),
		system: actor.NewActorSystem(
			actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return quiet }),
			actor.WithDeadLetterThrottleInterval(time.Millisecond),
		),
		heard: make(chan any, 100), lost: make(chan wire.ServerID, 100),
	}
	kinds := []string{KindOrganization, KindSubject}
	if err := n.Start(n.system, kinds, func(server wire.ServerID, _ bool) { n.lost <- server }); err != nil {
		t.Fatal(err)
	}
	if _, err := n.system.Root.SpawnNamed(actor.PropsFromFunc(func(ctx actor.Context) {
		if ask, ok := ctx.Message().(*pb.NodeAsk); ok {
			ctx.Send(ctx.Sender(), &pb.NodeReply{
				Id: ask.GetId(), What: &pb.NodeReply_Piece{Piece: &pb.ExportPiece{Data: ask.GetPiece().GetExport().GetId()}},
			})
		}
	}), Gateway); err != nil {
		t.Fatal(err)
	}
	n.self = n.system.Root.Spawn(actor.PropsFromFunc(func(ctx actor.Context) {
		if r, ok := ctx.Message().(*pb.NodeReply); ok {
			n.heard <- r
		}
	}))
	return n
}

func (n *neighbour) leave() {
	n.Stop()
	n.system.Shutdown()
}

func await[T any](t *testing.T, from chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-time.After(patience):
		t.Fatal("waited in vain")
	}
	return v
}

func newStreet(a *authority) *street {
	return &street{authority: a, doors: map[wire.ServerID]string{}}
}

// protoactor sets gRPC's logger, a variable of its package, at every start, which the
// race detector sees as soon as there are two in a process. So every neighbour of
// the test's one node is a process, the test's own binary.
const (
	envChild = "REMOTING_TEST_CHILD"
	envKey   = "REMOTING_TEST_KEY"
	envCert  = "REMOTING_TEST_CERT"
	envDoor  = "REMOTING_TEST_DOOR" // where a lives
	envAsk   = "REMOTING_TEST_ASK"  // the child is to ask it
)

// TestChild is a neighbour when a test has started it as one.
func TestChild(t *testing.T) {
	name := wire.ServerID(os.Getenv(envChild))
	if name == "" {
		t.Skip("only as a child of the other tests")
	}
	s := newStreet(inherited(t))
	s.doors["a"] = os.Getenv(envDoor)
	n := s.move(t, name)
	if os.Getenv(envAsk) != "" {
		n.system.Root.RequestWithCustomSender(n.At("a"), &pb.NodeAsk{Id: 1}, n.self)
		select {
		case <-n.heard:
			fmt.Println("heard a")
		case gone := <-n.lost:
			fmt.Println("lost", gone)
		case <-time.After(patience):
			fmt.Println("nothing")
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until the parent wants it to end
	n.leave()
}

// child is a neighbour and what it says, line by line.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	in    io.Closer
	lines chan string
}

func (s *street) child(t *testing.T, a *authority, name string, env ...string) *child {
	t.Helper()
	s.mu.Lock()
	env = append(env, envDoor+"="+s.doors["a"])
	s.mu.Unlock()
	c := &child{
		t: t, cmd: exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$"), lines: make(chan string, 10),
	}
	c.cmd.Env = append(append(os.Environ(), env...), append(a.environ(), envChild+"="+name)...)
	in, err1 := c.cmd.StdinPipe()
	out, err2 := c.cmd.StdoutPipe()
	if err := errors.Join(err1, err2, c.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c.in = in
	go func() { // ends with the child
		for scan := bufio.NewScanner(out); scan.Scan(); {
			select {
			case c.lines <- scan.Text():
			default: // nobody wants so many
			}
		}
	}()
	t.Cleanup(c.end)
	return c
}

func (c *child) says(what string) string {
	c.t.Helper()
	for {
		if rest, ok := strings.CutPrefix(await(c.t, c.lines), what); ok {
			return strings.TrimSpace(rest)
		}
	}
}

// end lets the child leave. It may be called twice.
func (c *child) end() {
	if c.in != nil {
		_ = c.in.Close()
		_ = c.cmd.Wait()
		c.in = nil
	}
}

func (s *street) door(name wire.ServerID, addr string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.doors[name] = addr
}

// TestWhatWentOverAConnectionBeforeMayHaveArrived, where the next attempt fails before
// it is told that the one before has ended: a write that is taken for one that was never
// sent would be done twice.
func TestWhatWentOverAConnectionBeforeMayHaveArrived(t *testing.T) {
	h := &house{street: &street{doors: map[wire.ServerID]string{}}, self: "a"}
	r := New(Config{Self: "a", Wire: h, Clock: clock.Real()})
	var lost []bool
	r.lost = func(_ wire.ServerID, sent bool) { lost = append(lost, sent) }
	r.note(&remote.EndpointConnectedEvent{Address: "b"})
	for range 2 {
		if _, err := r.dial(t.Context(), "b"); err == nil {
			t.Fatal("nobody answers the door, and there is a connection")
		}
	}
	r.note(&remote.EndpointTerminatedEvent{Address: "b"})
	if !slices.Equal(lost, []bool{true, false, false}) {
		t.Errorf("what is on its way may have been sent: %v", lost)
	}
}

// TestWhoHangsUpHasReceivedNothing: a node on its way out takes a connection and ends it
// before it knows who is there. What waited for that connection was never sent, and may
// be asked elsewhere at once.
func TestWhoHangsUpHasReceivedNothing(t *testing.T) {
	fake := clock.NewFake(time.Unix(1_700_000_000, 0))
	h := &house{street: newStreet(newAuthority(t)), self: "a"}
	r := New(Config{Self: "a", Wire: h, Clock: fake})
	var lost []bool
	r.lost = func(_ wire.ServerID, sent bool) { lost = append(lost, sent) }
	attempt := func(ctx context.Context) {
		t.Helper()
		near, far := net.Pipe()
		far.Close()
		if _, _, err := (&clientCreds{r}).ClientHandshake(ctx, "b", near); err == nil {
			t.Fatal("shook hands with nobody")
		}
	}
	attempt(t.Context())
	if !slices.Equal(lost, []bool{false}) || r.Reachable("b") {
		t.Errorf("it may have received something: %v, or is there: %v", lost, r.Reachable("b"))
	}
	r.note(&remote.EndpointTerminatedEvent{Address: "b"}) // protoactor tries again
	if !r.Reachable("b") {
		t.Error("it is not tried again")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if attempt(over); !r.Reachable("b") {
		t.Error("an attempt that was called off counts")
	}
	attempt(t.Context()) // of a connection that protoactor has told of already
	if fake.Advance(forgiveAfter); !r.Reachable("b") {
		t.Error("it is never tried again")
	}
	if !slices.Equal(lost, []bool{false, false, false}) {
		t.Errorf("lost: %v", lost)
	}
}

// TestMessagesCross: small and large messages reach an organization's node and the
// answers come back; a node that has gone is told of, and found again when it is
// back, elsewhere. Who shows another authority's certificate, or answers at
// another's address, is not heard.
func TestMessagesCross(t *testing.T) {
	authority := newAuthority(t)
	s := newStreet(authority)
	a := s.move(t, "a")
	defer a.leave()
	b := s.child(t, authority, "b")
	s.door("b", b.says("door "))
	org := pb.OrgID{1}
	ask := func(id uint64, size int) *pb.NodeAsk {
		return &pb.NodeAsk{
			Id: id, Org: org.Bytes(),
			What: &pb.NodeAsk_Piece{Piece: &pb.GetExportPiece{Export: &pb.Export{Id: make([]byte, size)}}},
		}
	}
	for id, size := range map[uint64]int{1: 1, 2: 80 << 20} {
		pid, ok := a.Owner(org)
		if !ok || pid.GetAddress() != "b" {
			t.Fatalf("%v, %v", pid, ok)
		}
		a.system.Root.RequestWithCustomSender(pid, ask(id, size), a.self)
		if r := await(t, a.heard).(*pb.NodeReply); r.GetId() != id || len(r.GetPiece().GetData()) != size {
			t.Errorf("answer %d of %d bytes", r.GetId(), len(r.GetPiece().GetData()))
		}
	}
	b.end()
	if gone := await(t, a.lost); gone != "b" {
		t.Errorf("%s was lost", gone)
	}
	s.door("b", s.child(t, authority, "b").says("door "))
	a.system.Root.RequestWithCustomSender(a.At("b"), ask(3, 1), a.self)
	if r := await(t, a.heard).(*pb.NodeReply); r.GetId() != 3 {
		t.Errorf("answer %d", r.GetId())
	}

	s.door("c", s.child(t, authority, "d").says("door ")) // d answers where c should be
	a.system.Root.RequestWithCustomSender(a.At("c"), ask(4, 1), a.self)
	if gone := await(t, a.lost); gone != "c" {
		t.Errorf("%s was lost", gone)
	}
	stranger := s.child(t, newAuthority(t), "e", envAsk+"=yes")
	if gone := stranger.says("lost "); gone != "a" {
		t.Errorf("the stranger lost %s", gone)
	}
	if n := len(a.heard); n != 0 {
		t.Errorf("%d answers came from nowhere", n)
	}
}
