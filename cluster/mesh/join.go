package mesh

import (
	"bytes"
	"cmp"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

const (
	// joinTimeout is how long one node may take to admit a machine: a handshake and
	// two commits of the meta group, which may be electing a leader.
	joinTimeout = 15 * time.Second
	// joinPause is how long a joining machine waits before it asks everybody again.
	joinPause = time.Second
	// maxJoinBytes bounds a request to join and its answer: some certificates.
	maxJoinBytes = 64 << 10
)

// ErrJoinRefused means that a node of the cluster has refused this machine; asking
// again with the same token is of no use.
var ErrJoinRefused = errors.New("the cluster refuses this machine")

// JoinConfig says how a machine without credentials becomes a node. Token, Clock
// and Logger are required.
type JoinConfig struct {
	Token Token
	// Addresses are asked beside those in the token.
	Addresses []string
	// Advertise is the host:port where the others will find the node.
	Advertise string
	// Name and Zone are as in Config.
	Name, Zone string
	Clock      clock.Clock
	Logger     *slog.Logger
	// Random and Resolver are as in Config.
	Random   io.Reader
	Resolver Resolver

	speaks uint32 // as Config's
}

// Join makes a machine a node: it draws its id and its key, and lets the cluster
// sign them. It asks one address after the other until one admits it, one refuses
// it (ErrJoinRefused) or the context ends. The caller keeps the credentials
// durably before it does anything else with them: the token is spent.
func Join(ctx context.Context, cfg JoinConfig) (*Credentials, error) {
	if cfg.Random == nil {
		cfg.Random = rand.Reader
	}
	if cfg.Resolver == nil {
		cfg.Resolver = net.DefaultResolver
	}
	raw := make([]byte, 8)
	if _, err := io.ReadFull(cfg.Random, raw); err != nil {
		return nil, fmt.Errorf("cluster: draw a server id: %w", err)
	}
	id := wire.ServerID("n-" + hex.EncodeToString(raw))
	_, key, err := newNodeKey(cfg.Random)
	if err != nil {
		return nil, err
	}
	request, err := newRequest(id, key, cfg.Random)
	if err != nil {
		return nil, err
	}
	j := &joiner{cfg: cfg, id: id, key: key, ask: &pb.JoinRequest{
		Secret: cfg.Token.pb.GetSecret(), Request: request,
		Node: &pb.NodeEntry{
			Server: string(id), Name: cfg.Name, Zone: cfg.Zone, Address: cfg.Advertise,
			Version: cmp.Or(cfg.speaks, wire.ProtocolVersion),
		},
	}}
	// The same id and key are used for every attempt: if an answer is lost, the token
	// is spent for them and admits them again.
	for {
		var last error
		for _, address := range resolveAll(ctx, cfg.Resolver, append(cfg.Token.pb.GetAddresses(), cfg.Addresses...)) {
			c, err := j.try(ctx, address)
			if err == nil || errors.Is(err, ErrJoinRefused) {
				return c, err
			}
			cfg.Logger.Info("cluster: cannot join here, trying others", "address", address, "error", err)
			last = err
		}
		if err := clock.Wait(ctx, cfg.Clock, joinPause); err != nil {
			return nil, fmt.Errorf("cluster: join: %w", errors.Join(err, last))
		}
	}
}

func newRequest(id wire.ServerID, pkcs8 []byte, random io.Reader) ([]byte, error) {
	key, err := x509.ParsePKCS8PrivateKey(pkcs8)
	if err != nil {
		return nil, fmt.Errorf("cluster: node key: %w", err)
	}
	der, err := x509.CreateCertificateRequest(random, &x509.CertificateRequest{URIs: []*url.URL{nodeURI(id)}}, key)
	if err != nil {
		return nil, fmt.Errorf("cluster: certificate request: %w", err)
	}
	return der, nil
}

// joiner asks to be admitted.
type joiner struct {
	cfg JoinConfig
	id  wire.ServerID
	key []byte // PKCS #8
	ask *pb.JoinRequest
}

// try asks one node.
func (j *joiner) try(ctx context.Context, address string) (*Credentials, error) {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer raw.Close() //nolint:errcheck // one question, and its answer has been read or not
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	if _, err := raw.Write([]byte{preambleJoin}); err != nil {
		return nil, err
	}
	conn := tls.Client(raw, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection checks the token's fingerprint instead of a host name
		Time:               j.cfg.Clock.Now,
		VerifyConnection:   j.recognize,
	})
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	if err := writeMessage(conn, j.ask); err != nil {
		return nil, err
	}
	answer := new(pb.JoinAnswer)
	if err := readMessage(conn, answer); err != nil {
		return nil, err
	}
	if answer.GetRefusal() != "" {
		if answer.GetAgain() {
			return nil, errors.New(answer.GetRefusal())
		}
		return nil, fmt.Errorf("%w: %s", ErrJoinRefused, answer.GetRefusal())
	}
	creds := answer.GetCredentials()
	creds.Key = j.key
	if wire.ServerID(creds.GetServer()) != j.id {
		return nil, fmt.Errorf("%w: it calls this machine %q", ErrJoinRefused, creds.GetServer())
	}
	return openCredentials(creds)
}

// recognize makes sure that the secret goes only to a node of the cluster that the
// token is of.
func (j *joiner) recognize(cs tls.ConnectionState) error {
	for _, root := range cs.PeerCertificates[1:] {
		print := fingerprint(root.Raw)
		if !slices.ContainsFunc(j.cfg.Token.pb.GetFingerprints(), func(f []byte) bool { return bytes.Equal(f, print[:]) }) {
			continue
		}
		pool := x509.NewCertPool()
		pool.AddCert(root)
		_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{
			Roots: pool, CurrentTime: j.cfg.Clock.Now(), KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		})
		if err != nil {
			return fmt.Errorf("%w: %w", ErrNotMember, err)
		}
		_, err = serverOf(cs.PeerCertificates[0].URIs)
		return err
	}
	return fmt.Errorf(
		"%w: the join token is of another cluster, or of the time before its certificates were rotated; make a new one",
		ErrNotMember,
	)
}

// writeMessage and readMessage put a message's length before it.
func writeMessage(w io.Writer, m proto.Message) error {
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	_, err = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...))
	return err
}

func readMessage(r io.Reader, m proto.Message) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size > maxJoinBytes {
		return fmt.Errorf("message of %d bytes, limit %d", size, maxJoinBytes)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(r, body); err != nil {
		return err
	}
	return proto.Unmarshal(body, m)
}

// mayJoin says why a machine may not join, and whether it may ask again: while the
// version is about to rise nobody knows what it will have to understand. speaks is
// this node's version, which the cluster's does not exceed.
func mayJoin(r Registry, speaks, version uint32) (again bool, refusal error) {
	if version < r.Version() {
		return false, wire.Outdated(r.Version(), version)
	}
	if version >= speaks {
		return false, nil
	}
	older := func(e *pb.NodeEntry) bool { return !e.GetRemoved() && e.GetVersion() <= r.Version() }
	if !slices.ContainsFunc(r.Nodes(), older) {
		return true, fmt.Errorf("the cluster's version %d is about to rise: %w", r.Version(), wire.ErrNotReady)
	}
	return false, nil
}

// admission makes nodes of machines that ask to join.
type admission struct {
	*node
	members *members
}

// receive serves a machine that wants to become a node.
func (ad *admission) receive(v *pendingConn) {
	config := ad.serverTLS()
	config.ClientAuth = tls.NoClientCert
	config.VerifyConnection = nil
	conn := tls.Server(v.conn, config)
	if err := conn.HandshakeContext(ad.life); err != nil {
		v.reject(err)
		return
	}
	ask := new(pb.JoinRequest)
	if err := readMessage(conn, ask); err != nil {
		v.reject(err)
		return
	}
	r := ad.meta()
	if r == nil || r.JoinToken(sha256.Sum256(ask.GetSecret())) == nil {
		// Not even a proposal for those who guess. A token that was made a moment ago
		// may not have reached this node.
		ad.answer(conn, v, &pb.JoinAnswer{Refusal: "the join token is not known here", Again: true})
		return
	}
	if !v.leave() { // a guest no more: what follows takes a commit, and has its own time
		v.reject(errors.New("no request in time"))
		return
	}
	ctx, cancel := context.WithTimeout(ad.life, joinTimeout)
	defer cancel()
	defer context.AfterFunc(ctx, func() { _ = v.conn.Close() })()
	ad.answer(conn, v, ad.admit(ctx, r, ask))
}

func (ad *admission) answer(conn *tls.Conn, v *pendingConn, said *pb.JoinAnswer) {
	if said.GetRefusal() != "" {
		ad.cfg.Logger.Warn("cluster: join refused", "from", v.host, "reason", said.GetRefusal())
	}
	if err := errors.Join(writeMessage(conn, said), conn.Close()); err != nil {
		ad.cfg.Logger.Info(
			"cluster: joining machine has not heard the answer; it may ask again", "from", v.host, "error", err,
		)
	}
}

// admit spends the token and makes the machine a node. It may be done again with
// the same token by the same machine, which has perhaps not heard the answer.
func (ad *admission) admit(ctx context.Context, r Registry, ask *pb.JoinRequest) *pb.JoinAnswer {
	refuse := func(err error, again bool) *pb.JoinAnswer {
		return &pb.JoinAnswer{Refusal: err.Error(), Again: again}
	}
	request, err := x509.ParseCertificateRequest(ask.GetRequest())
	if err == nil {
		err = request.CheckSignature()
	}
	if err != nil {
		return refuse(fmt.Errorf("certificate request: %w", err), false)
	}
	id, err := serverOf(request.URIs)
	if err != nil {
		return refuse(err, false)
	}
	public, ok := request.PublicKey.(ed25519.PublicKey)
	if !ok {
		return refuse(errors.New("certificate request: the key is not Ed25519"), false)
	}
	entry := ask.GetNode()
	if entry == nil || len(entry.GetName()) > maxNameBytes || len(entry.GetZone()) > maxNameBytes {
		return refuse(fmt.Errorf("name or zone is missing or longer than %d bytes", maxNameBytes), false)
	}
	if again, err := mayJoin(r, ad.cfg.speaks, entry.GetVersion()); err != nil {
		return refuse(err, again) // the token is good for another program
	}
	a, err := openAuthority(r.Authority())
	if err != nil {
		return refuse(err, true)
	}
	hash := sha256.Sum256(ask.GetSecret())
	again := r.JoinToken(hash).GetUsedBy() == string(id)
	if err := r.UseJoinToken(ctx, hash, id); err != nil {
		final := errors.Is(
			err, wire.ErrTokenUnknown,
		) || errors.Is(err, wire.ErrTokenUsed) || errors.Is(err, wire.ErrNodeRemoved)
		return refuse(err, !final)
	}
	// A token makes a new node; it does not make anybody an old one.
	if taken := slices.ContainsFunc(r.Nodes(), func(e *pb.NodeEntry) bool { return e.GetServer() == string(id) }); taken &&
		!again {
		return refuse(fmt.Errorf("there is a node %s", id), false)
	}
	// In the table before it has a certificate, so that it can be removed.
	if err := r.PutNode(ctx, &pb.NodeEntry{
		Server: string(id), Name: entry.GetName(), Zone: entry.GetZone(), Address: entry.GetAddress(),
		Version: entry.GetVersion(), JoinedMs: ad.cfg.Clock.Now().UnixMilli(),
	}); err != nil {
		return refuse(
			err,
			!errors.Is(err, wire.ErrNodeRemoved) && !errors.Is(err, wire.ErrTooManyNodes) && !errors.Is(err, wire.ErrOutdated),
		)
	}
	c := &pb.Credentials{Server: string(id), Cluster: a.pb.GetCluster(), Shards: ad.cfg.Credentials.pb.GetShards()}
	a.trustedBy(c)
	if c.Certificate, err = a.issue(id, public, ad.cfg.Random, ad.cfg.Clock.Now()); err != nil {
		return refuse(err, false)
	}
	ad.cfg.Logger.Info(
		"cluster: machine joined", "server", string(id), "name", entry.GetName(), "zone", entry.GetZone(), "address",
		entry.GetAddress(),
	)
	return &pb.JoinAnswer{Credentials: c}
}
