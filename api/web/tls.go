package web

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"orgmem/proto/clock"
)

// TLSFiles names a PEM certificate chain and its key. Both empty: plain HTTP.
// Changed files are picked up without a restart.
type TLSFiles struct {
	Cert string
	Key  string
}

// RecheckCertificate is how often a handshake looks whether the certificate's
// files have changed: renewals are made days ahead, so half a minute is at once.
const RecheckCertificate = 30 * time.Second

// certificate is a key pair that follows its files.
type certificate struct {
	files TLSFiles
	clock clock.Clock
	log   *slog.Logger

	mu      sync.Mutex
	chain   []byte // of the files in use; guarded by mu
	key     []byte // guarded by mu
	pair    *tls.Certificate
	checked time.Time
}

// NewTLS returns a configuration with the certificate of the files, read anew when they change.
func NewTLS(files TLSFiles, c clock.Clock, log *slog.Logger) (*tls.Config, error) {
	cert := &certificate{files: files, clock: c, log: log}
	if err := cert.load(); err != nil {
		return nil, err
	}
	cert.checked = c.Now()
	return &tls.Config{
		MinVersion:     tls.VersionTLS12,
		NextProtos:     []string{"h2", "http/1.1"},
		GetCertificate: cert.get,
	}, nil
}

// get returns the certificate for a handshake. Files that cannot be read or do
// not fit together leave the old one in service: half of a renewal must not take
// the node down.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.clock.Now(); now.Sub(c.checked) >= RecheckCertificate {
		c.checked = now
		if err := c.load(); err != nil {
			c.log.Warn("certificate not reloaded", "err", err)
		}
	}
	return c.pair, nil
}

// load reads the files and, where they changed, takes them into use. c.mu is
// held, but for the first call.
func (c *certificate) load() error {
	chain, err := os.ReadFile(c.files.Cert)
	if err != nil {
		return fmt.Errorf("read certificate: %w", err)
	}
	key, err := os.ReadFile(c.files.Key)
	if err != nil {
		return fmt.Errorf("read certificate key: %w", err)
	}
	if c.pair != nil && bytes.Equal(chain, c.chain) && bytes.Equal(key, c.key) {
		return nil
	}
	pair, err := tls.X509KeyPair(chain, key)
	if err != nil {
		return fmt.Errorf("certificate and key: %w", err)
	}
	c.chain, c.key, c.pair = chain, key, &pair
	return nil
}
