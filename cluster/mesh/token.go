package mesh

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

const (
	// tokenPrefix tells people and secret scanners what a token is.
	tokenPrefix = "orgmem-join-1-"
	// tokenSecretBytes cannot be guessed.
	tokenSecretBytes = 32
	// maxTokenBytes bounds a token's text; ours have some 200 characters.
	maxTokenBytes = 4096
	// maxTokenAddresses are enough to find one node that is there.
	maxTokenAddresses = 5
	// MaxTokenLife bounds how long a token may wait to be used. It gives away all the
	// cluster's data, so it should not lie about.
	MaxTokenLife = 7 * 24 * time.Hour
)

// ErrBadToken means that a text is not a join token.
var ErrBadToken = errors.New("not a join token")

// Token lets one machine join. It carries where the cluster is, how to recognize
// it, and a secret of which the cluster keeps only the hash.
type Token struct{ pb *pb.Token }

// NewToken makes a token that one machine may use within a time, at most
// MaxTokenLife, and says when that ends. Errors are the proposal's; see
// Meta.PutJoinToken.
func (ad *admission) NewToken(ctx context.Context, life time.Duration) (Token, time.Time, error) {
	r := ad.meta()
	if r == nil {
		return Token{}, time.Time{}, wire.ErrNotReady
	}
	if life <= 0 || life > MaxTokenLife {
		return Token{}, time.Time{}, fmt.Errorf("join token for %v: want up to %v", life, MaxTokenLife)
	}
	a, err := openAuthority(r.Authority())
	if err != nil {
		return Token{}, time.Time{}, err
	}
	t := Token{&pb.Token{Secret: make([]byte, tokenSecretBytes), Addresses: []string{ad.Addr()}}}
	for _, g := range a.pb.GetGenerations() { // while they are being rotated it may meet either
		print := fingerprint(g.GetCertificate())
		t.pb.Fingerprints = append(t.pb.GetFingerprints(), print[:])
	}
	if _, err := io.ReadFull(ad.cfg.Random, t.pb.GetSecret()); err != nil {
		return Token{}, time.Time{}, fmt.Errorf("cluster: draw a token: %w", err)
	}
	for _, who := range ad.members.peers() {
		if len(t.pb.GetAddresses()) < maxTokenAddresses {
			t.pb.Addresses = append(t.pb.GetAddresses(), who.Address)
		}
	}
	expires := ad.cfg.Clock.Now().Add(life)
	if err := r.PutJoinToken(ctx, t.hash(), expires); err != nil {
		return Token{}, time.Time{}, err
	}
	return t, expires, nil
}

// String returns the token as text, secret included.
func (t Token) String() string {
	b, err := proto.Marshal(t.pb)
	if err != nil {
		return "" // bytes and addresses; nothing in it can fail
	}
	return tokenPrefix + base64.RawURLEncoding.EncodeToString(b)
}

// ParseToken reads what String wrote; ErrBadToken.
func ParseToken(text string) (Token, error) {
	text = strings.TrimSpace(text)
	code, ok := strings.CutPrefix(text, tokenPrefix)
	if !ok || len(text) > maxTokenBytes {
		return Token{}, fmt.Errorf("%w: want one line that begins with %s", ErrBadToken, tokenPrefix)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(code)
	if err != nil {
		return Token{}, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	t := Token{new(pb.Token)}
	if err := proto.Unmarshal(b, t.pb); err != nil {
		return Token{}, fmt.Errorf("%w: %w", ErrBadToken, err)
	}
	known := t.pb.GetFingerprints()
	short := func(print []byte) bool { return len(print) != sha256.Size }
	if len(known) == 0 || len(known) > maxGenerations || slices.ContainsFunc(known, short) ||
		len(t.pb.GetSecret()) != tokenSecretBytes {
		return Token{}, fmt.Errorf("%w: it is cut short", ErrBadToken)
	}
	return t, nil
}

// hash is what the cluster keeps of a token.
func (t Token) hash() [32]byte { return sha256.Sum256(t.pb.GetSecret()) }
