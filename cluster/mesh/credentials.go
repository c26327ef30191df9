package mesh

import (
	"bytes"
	"context"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Credentials are what a node needs to take part in a cluster: who it is, its
// certificate with its key, whom it trusts and the keys of the gossip. They are
// never changed; renewing makes new ones.
type Credentials struct {
	pb    *pb.Credentials
	leaf  *x509.Certificate
	key   crypto.Signer
	roots *x509.CertPool
	// chain is the certificate with the authority that signed it, by which a
	// joining machine recognizes the cluster.
	chain tls.Certificate
	// issuer is the number of the generation that signed.
	issuer uint64
}

// ErrCredentials means that a file of credentials is damaged or not one.
var ErrCredentials = errors.New("not a node's credentials")

// pemType is the only block of the file of credentials.
const pemType = "ORGMEM NODE CREDENTIALS"

// maxCredentialsBytes bounds the file: two generations take 2 KB.
const maxCredentialsBytes = 64 << 10

// Encode returns the credentials as text for a file that nobody else may read.
func (c *Credentials) Encode() ([]byte, error) {
	b, err := proto.Marshal(c.pb)
	if err != nil {
		return nil, fmt.Errorf("cluster: encode credentials: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: b}), nil
}

// ParseCredentials reads what Encode wrote.
func ParseCredentials(text []byte) (*Credentials, error) {
	if len(text) > maxCredentialsBytes {
		return nil, fmt.Errorf("cluster: %w: larger than %d bytes", ErrCredentials, maxCredentialsBytes)
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != pemType {
		return nil, fmt.Errorf("cluster: %w: no block %q", ErrCredentials, pemType)
	}
	c := new(pb.Credentials)
	if err := proto.Unmarshal(block.Bytes, c); err != nil {
		return nil, fmt.Errorf("cluster: %w: %w", ErrCredentials, err)
	}
	return openCredentials(c)
}

// openCredentials checks that everything fits together, but for the time.
func openCredentials(c *pb.Credentials) (*Credentials, error) {
	leaf, err := x509.ParseCertificate(c.GetCertificate())
	if err != nil {
		return nil, fmt.Errorf("cluster: %w: certificate: %w", ErrCredentials, err)
	}
	key, err := x509.ParsePKCS8PrivateKey(c.GetKey())
	if err != nil {
		return nil, fmt.Errorf("cluster: %w: key: %w", ErrCredentials, err)
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("cluster: %w: a key that cannot sign", ErrCredentials)
	}
	public, ok := leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	if !ok || !public.Equal(signer.Public()) {
		return nil, fmt.Errorf("cluster: %w: key and certificate do not belong together", ErrCredentials)
	}
	if id, err := serverOf(leaf.URIs); err != nil || id != wire.ServerID(c.GetServer()) {
		return nil, fmt.Errorf("cluster: %w: certificate is of another node than %q", ErrCredentials, c.GetServer())
	}
	out := &Credentials{pb: c, leaf: leaf, key: signer, roots: x509.NewCertPool()}
	var signed []byte
	for _, g := range c.GetGenerations() {
		root, err := x509.ParseCertificate(g.GetCertificate())
		if err != nil {
			return nil, fmt.Errorf("cluster: %w: authority: %w", ErrCredentials, err)
		}
		if len(g.GetGossip()) != gossipKeyBytes {
			return nil, fmt.Errorf("cluster: %w: gossip key of %d bytes", ErrCredentials, len(g.GetGossip()))
		}
		out.roots.AddCert(root)
		// Both, as verifying wants: the key that signed, and the name it signed under.
		if bytes.Equal(leaf.RawIssuer, root.RawSubject) && leaf.CheckSignatureFrom(root) == nil {
			signed, out.issuer = g.GetCertificate(), g.GetNumber()
		}
	}
	if signed == nil {
		return nil, fmt.Errorf("cluster: %w: certificate is not from this authority", ErrCredentials)
	}
	out.chain = tls.Certificate{Certificate: [][]byte{c.GetCertificate(), signed}, PrivateKey: signer, Leaf: leaf}
	if _, err := out.gossipKey(); err != nil {
		return nil, err
	}
	return out, nil
}

// Server returns whose credentials these are.
func (c *Credentials) Server() wire.ServerID { return wire.ServerID(c.pb.GetServer()) }

// Cluster returns the name of the cluster, which it got at its creation.
func (c *Credentials) Cluster() string { return c.pb.GetCluster() }

// Shards returns the cluster's number of shards.
func (c *Credentials) Shards() int { return int(c.pb.GetShards()) }

// Expires returns when the certificate ends.
func (c *Credentials) Expires() time.Time { return c.leaf.NotAfter }

// trusts is the newest generation that these credentials trust.
func (c *Credentials) trusts() uint64 {
	all := c.pb.GetGenerations()
	return all[len(all)-1].GetNumber()
}

// gossipKey is the key that gossip is encrypted with now.
func (c *Credentials) gossipKey() ([]byte, error) {
	for _, g := range c.pb.GetGenerations() {
		if g.GetNumber() == c.pb.GetSigning() {
			return g.GetGossip(), nil
		}
	}
	return nil, fmt.Errorf("cluster: %w: no generation %d", ErrCredentials, c.pb.GetSigning())
}

// gossipKeys are the keys that gossip is understood with.
func (c *Credentials) gossipKeys() [][]byte {
	var keys [][]byte
	for _, g := range c.pb.GetGenerations() {
		keys = append(keys, g.GetGossip())
	}
	return keys
}

// verify checks what a peer presented, and returns who it is.
func (c *Credentials) verify(presented []*x509.Certificate, now time.Time) (wire.ServerID, error) {
	if len(presented) == 0 {
		return "", fmt.Errorf("%w: none was presented", ErrNotMember)
	}
	// One usage would do; both are in every node's certificate, since each node
	// dials and listens.
	_, err := presented[0].Verify(x509.VerifyOptions{
		Roots: c.roots, CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotMember, err)
	}
	return serverOf(presented[0].URIs)
}

// renewed brings credentials up to an authority: they trust its generations, and
// have a new key and certificate where the old one is of another generation than
// signs now, or near its end. It returns nil when there is nothing to do. An
// authority older than what the credentials were made from is not news: it is what
// a node sees that starts and has not applied its log yet.
func (c *Credentials) renewed(a *authority, random io.Reader, now time.Time) (*Credentials, error) {
	if a.pb.GetCluster() != c.pb.GetCluster() {
		return nil, fmt.Errorf(
			"%w: authority is of cluster %q, this node belongs to %q", ErrCredentials, a.pb.GetCluster(), c.pb.GetCluster(),
		)
	}
	reissue := c.issuer != a.pb.GetSigning() || now.Add(renewBefore).After(c.leaf.NotAfter)
	if a.version < c.pb.GetVersion() || a.version == c.pb.GetVersion() && !reissue {
		return nil, nil
	}
	next := proto.CloneOf(c.pb)
	a.trustedBy(next)
	if reissue {
		if err := a.certify(next, random, now); err != nil {
			return nil, err
		}
	}
	return openCredentials(next)
}

// Answers reports whether a node listens at an address: the other side shows a
// certificate that names it. Whether that certificate is still good does not matter:
// the other nodes may have replaced their authority since. It opens no Network and
// sends nothing after the handshake; the context bounds it.
func Answers(ctx context.Context, creds *Credentials, c clock.Clock, server wire.ServerID, address string) bool {
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	defer raw.Close() //nolint:errcheck // nothing was said that could be lost
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	if _, err := raw.Write([]byte{preambleMember}); err != nil {
		return false
	}
	there := false
	conn := tls.Client(raw, &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // nobody is trusted here: see above
		Time:               c.Now,
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &creds.chain, nil
		},
		VerifyConnection: func(cs tls.ConnectionState) error {
			id, err := serverOf(cs.PeerCertificates[0].URIs)
			there = err == nil && id == server
			return err
		},
	})
	_ = conn.HandshakeContext(ctx) // it may refuse us, and is there all the same
	return there
}
