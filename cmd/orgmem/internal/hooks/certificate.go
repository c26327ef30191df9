package hooks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"time"
)

// certificateLife is long enough that nobody has to give the service another one
// while they work on something.
const certificateLife = 365 * 24 * time.Hour

// Certificate reads the file with a certificate for localhost and its key, and
// makes it when there is none. The service is given the same file as
// ORGMEM_EGRESS_CA_FILE: it takes the certificate and leaves the key alone.
func Certificate(path string, now time.Time) (tls.Certificate, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if raw, err = newCertificate(now); err == nil {
			err = os.WriteFile(path, raw, 0o600)
		}
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(raw, raw)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("certificate: %s: %w", path, err)
	}
	if pair.Leaf != nil && now.After(pair.Leaf.NotAfter) {
		return tls.Certificate{}, fmt.Errorf("certificate: %s has expired; remove it, and give the service the new one", path)
	}
	return pair, nil
}

func newCertificate(now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "orgmem webhook listen"},
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certificateLife),
		// Its own authority, which may sign nothing else.
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...,
	), nil
}
