package mesh

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/url"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// nodeCertLife is how long a node's certificate is good. A node renews its own in
	// the background, so this only bounds how long a machine may be switched off and
	// still be recognized, and how long a stolen disk is, if nobody removes the node.
	nodeCertLife = 90 * 24 * time.Hour
	// renewBefore is how long before its end a certificate is renewed: a month in
	// which whatever keeps the renewal from working can be noticed.
	renewBefore = 30 * 24 * time.Hour
	// authorityLife is how long a generation of the authority is good. Rotating it is
	// one command; nothing should stop by itself because nobody gave it.
	authorityLife = 10 * 365 * 24 * time.Hour
	// clockSkew is how far nodes' clocks may be apart when a certificate is new, and
	// how far one of them may be put back. A certificate that began later would protect
	// nobody, since its key is as new; and a node whose clock was some hours ahead when it
	// renewed its own, or that is put right after having been, would be cut off for as
	// long.
	clockSkew = 24 * time.Hour
	// gossipKeyBytes makes memberlist encrypt with AES-256.
	gossipKeyBytes = 32
	// maxGenerations bounds an authority: the one that signs, and while it is being
	// rotated the one before or after it.
	maxGenerations = 2
)

// Errors of the authority.
var (
	// ErrNoAuthority means that the data directory belongs to no cluster yet:
	// `orgmem cluster init` makes one of it.
	ErrNoAuthority = errors.New("cluster has no certificate authority yet")
	// ErrRotating means that the authority is being rotated already.
	ErrRotating = errors.New("certificate authority is being rotated already")
	// ErrNotMember means that a certificate is not of a node of this cluster.
	ErrNotMember = errors.New("certificate is not of a node of this cluster")
)

// authority is a decoded AuthorityEntry. It is never changed.
type authority struct {
	pb      *pb.Authority
	version uint64 // of the entry
}

// openAuthority decodes what the meta group has; ErrNoAuthority when that is
// nothing.
func openAuthority(e *pb.AuthorityEntry) (*authority, error) {
	if len(e.GetData()) == 0 {
		return nil, ErrNoAuthority
	}
	a := &authority{pb: new(pb.Authority), version: e.GetVersion()}
	if err := proto.Unmarshal(e.GetData(), a.pb); err != nil {
		return nil, fmt.Errorf("cluster: authority record: %w", err)
	}
	return a, nil
}

// newAuthority makes the first generation of a new cluster's authority.
func newAuthority(random io.Reader, now time.Time) (*pb.Authority, error) {
	name := make([]byte, 8)
	if _, err := io.ReadFull(random, name); err != nil {
		return nil, fmt.Errorf("cluster: draw a name: %w", err)
	}
	cluster := "c-" + hex.EncodeToString(name)
	g, err := newGeneration(cluster, 1, random, now)
	if err != nil {
		return nil, err
	}
	return &pb.Authority{Cluster: cluster, Generations: []*pb.Generation{g}, Signing: g.GetNumber()}, nil
}

// newGeneration makes a self-signed certificate authority that may sign nodes and
// nothing else, and a key for the gossip of its time.
func newGeneration(cluster string, number uint64, random io.Reader, now time.Time) (*pb.Generation, error) {
	public, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return nil, fmt.Errorf("cluster: make authority key: %w", err)
	}
	g := &pb.Generation{Number: number, Gossip: make([]byte, gossipKeyBytes)}
	if _, err := io.ReadFull(random, g.GetGossip()); err != nil {
		return nil, fmt.Errorf("cluster: make gossip key: %w", err)
	}
	serial, err := newSerial(random)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial,
		// The number keeps the subjects of two generations apart, so that a chain is
		// built with the right one at once.
		Subject:   pkix.Name{CommonName: fmt.Sprintf("orgmem cluster %s authority %d", cluster, number)},
		NotBefore: now.Add(-clockSkew), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if g.Certificate, err = x509.CreateCertificate(random, template, template, public, private); err != nil {
		return nil, fmt.Errorf("cluster: make authority: %w", err)
	}
	if g.Key, err = x509.MarshalPKCS8PrivateKey(private); err != nil {
		return nil, fmt.Errorf("cluster: encode authority key: %w", err)
	}
	return g, nil
}

// newSerial draws the 127 random bits that make a certificate's number unique.
func newSerial(random io.Reader) (*big.Int, error) {
	raw := make([]byte, 16)
	if _, err := io.ReadFull(random, raw); err != nil {
		return nil, fmt.Errorf("cluster: draw a serial number: %w", err)
	}
	raw[0] &= 0x7f // positive, as RFC 5280 wants
	return new(big.Int).SetBytes(raw), nil
}

// signing is the generation that signs now.
func (a *authority) signing() (*pb.Generation, error) {
	i := slices.IndexFunc(a.pb.GetGenerations(), func(g *pb.Generation) bool { return g.GetNumber() == a.pb.GetSigning() })
	if i < 0 {
		return nil, fmt.Errorf("cluster: authority record has no generation %d", a.pb.GetSigning())
	}
	return a.pb.GetGenerations()[i], nil
}

// newest is the number of the newest generation.
func (a *authority) newest() uint64 {
	return a.pb.GetGenerations()[len(a.pb.GetGenerations())-1].GetNumber()
}

// issue signs a certificate that makes the owner of a public key the node of an
// id.
func (a *authority) issue(id wire.ServerID, public any, random io.Reader, now time.Time) ([]byte, error) {
	if err := wire.CheckServerID(string(id)); err != nil {
		return nil, err
	}
	g, err := a.signing()
	if err != nil {
		return nil, err
	}
	parent, err := x509.ParseCertificate(g.GetCertificate())
	if err != nil {
		return nil, fmt.Errorf("cluster: authority certificate: %w", err)
	}
	key, err := x509.ParsePKCS8PrivateKey(g.GetKey())
	if err != nil {
		return nil, fmt.Errorf("cluster: authority key: %w", err)
	}
	serial, err := newSerial(random)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificate(random, &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: string(id)},
		URIs:         []*url.URL{nodeURI(id)},
		NotBefore:    now.Add(-clockSkew), NotAfter: now.Add(nodeCertLife),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}, parent, public, key)
	if err != nil {
		return nil, fmt.Errorf("cluster: sign certificate of %s: %w", id, err)
	}
	return der, nil
}

// trustedBy writes into a node's credentials what it keeps of the authority: all
// but the keys that sign.
func (a *authority) trustedBy(c *pb.Credentials) {
	c.Generations = nil
	for _, g := range a.pb.GetGenerations() {
		c.Generations = append(
			c.GetGenerations(), &pb.Generation{Number: g.GetNumber(), Certificate: g.GetCertificate(), Gossip: g.GetGossip()},
		)
	}
	c.Signing, c.Version = a.pb.GetSigning(), a.version
}

// fingerprint is how a join token names an authority.
func fingerprint(certificate []byte) [sha256.Size]byte { return sha256.Sum256(certificate) }

const nodeScheme, nodeHost = "orgmem", "node"

func nodeURI(id wire.ServerID) *url.URL {
	return &url.URL{Scheme: nodeScheme, Host: nodeHost, Path: "/" + string(id)}
}

// serverOf reads a node's id out of the one URI of its certificate, or of its
// request for one.
func serverOf(uris []*url.URL) (wire.ServerID, error) {
	if len(uris) != 1 {
		return "", fmt.Errorf("%w: it names %d nodes", ErrNotMember, len(uris))
	}
	path := uris[0].Path
	if path == "" || path[0] != '/' {
		return "", fmt.Errorf("%w: its name is %q", ErrNotMember, uris[0])
	}
	id := wire.ServerID(path[1:])
	// Compared as a whole: a query, a user or another spelling is not the name that
	// issue writes.
	if wire.CheckServerID(string(id)) != nil || uris[0].String() != nodeURI(id).String() {
		return "", fmt.Errorf("%w: its name is %q", ErrNotMember, uris[0])
	}
	return id, nil
}

// Found creates the authority of a new cluster in the meta group, unless it is there,
// and returns credentials for the node self, each time with a new certificate. Errors
// are the proposal's.
func Found(
	ctx context.Context, r Registry, self wire.ServerID, shards int, random io.Reader, now time.Time,
) (*Credentials, error) {
	a, err := openAuthority(r.Authority())
	if errors.Is(err, ErrNoAuthority) {
		var fresh *pb.Authority
		if fresh, err = newAuthority(random, now); err != nil {
			return nil, err
		}
		if err = putAuthority(ctx, r, fresh, 0); err != nil {
			return nil, err
		}
		a, err = openAuthority(r.Authority())
	}
	if err != nil {
		return nil, err
	}
	c := &pb.Credentials{Server: string(self), Cluster: a.pb.GetCluster(), Shards: uint32(shards)}
	a.trustedBy(c)
	if err := a.certify(c, random, now); err != nil {
		return nil, err
	}
	return openCredentials(c)
}

// certify gives a node a new key and a certificate for it.
func (a *authority) certify(c *pb.Credentials, random io.Reader, now time.Time) error {
	public, key, err := newNodeKey(random)
	if err != nil {
		return err
	}
	c.Key = key
	c.Certificate, err = a.issue(wire.ServerID(c.GetServer()), public, random, now)
	return err
}

// newNodeKey makes the key of a node's certificate, PKCS #8.
func newNodeKey(random io.Reader) (ed25519.PublicKey, []byte, error) {
	public, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: make node key: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, fmt.Errorf("cluster: encode node key: %w", err)
	}
	return public, der, nil
}

// putAuthority proposes an authority in place of the one of a version.
func putAuthority(ctx context.Context, r Registry, a *pb.Authority, version uint64) error {
	data, err := proto.Marshal(a)
	if err != nil {
		return fmt.Errorf("cluster: encode authority: %w", err)
	}
	return r.PutAuthority(ctx, &pb.AuthorityEntry{Data: data, Version: version})
}

// A rotation has three steps, each one write of the authority: a new generation
// that everybody trusts and nobody uses; then it signs, and every node takes a
// certificate from it; then the old one is gone. The next step is taken when
// every node says in its gossip that it has taken the last one, so at no time two
// nodes refuse each other.

// rotated returns the authority with a new generation beside the one that signs.
func (a *authority) rotated(random io.Reader, now time.Time) (*pb.Authority, error) {
	if len(a.pb.GetGenerations()) >= maxGenerations {
		return nil, ErrRotating
	}
	g, err := newGeneration(a.pb.GetCluster(), a.newest()+1, random, now)
	if err != nil {
		return nil, err
	}
	next := proto.CloneOf(a.pb)
	next.Generations = append(next.GetGenerations(), g)
	return next, nil
}

// advanced returns the authority after the next step of its rotation, nil when
// none is due: trusts and issuer are the least that any node says of itself.
func (a *authority) advanced(trusts, issuer uint64) *pb.Authority {
	newest := a.newest()
	if len(a.pb.GetGenerations()) == 1 || trusts < newest {
		return nil
	}
	next := proto.CloneOf(a.pb)
	if a.pb.GetSigning() != newest {
		next.Signing = newest
		return next
	}
	if issuer < newest {
		return nil
	}
	next.Generations = next.GetGenerations()[len(next.GetGenerations())-1:]
	return next
}
