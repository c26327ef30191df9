package actors

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// TestReceivers runs the receivers of docs/webhooks as processes of their own,
// written with nothing but each language's standard library, and delivers to them.
//
// interface: Authentication/12 webhook signature
// interface: Events/Delivery signature
func TestReceivers(t *testing.T) {
	docs, err := filepath.Abs("../docs/webhooks")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range []struct {
		name  string
		build func(t *testing.T, dir string) []string // the command
	}{
		{"Go", func(t *testing.T, dir string) []string {
			out := filepath.Join(dir, "receiver")
			build(t, dir, "go", "build", "-o", out, filepath.Join(docs, "receiver.go"))
			return []string{out}
		}},
		{"Python", func(t *testing.T, _ string) []string {
			return []string{tool(t, "python3"), filepath.Join(docs, "receiver.py")}
		}},
		{"TypeScript", func(t *testing.T, dir string) []string {
			node, modules := tool(t, "node"), filepath.Join(filepath.Dir(docs), "node_modules")
			compiler := filepath.Join(modules, ".bin", "tsc")
			if _, err := os.Stat(compiler); err != nil {
				t.Skipf("no TypeScript compiler (make typescript installs it): its receiver is not tested here: %v", err)
			}
			build(t, dir, compiler, "--module", "nodenext", "--target", "es2022", "--types", "node", "--strict",
				"--typeRoots", filepath.Join(modules, "@types"), "--outDir", dir, filepath.Join(docs, "receiver.ts"))
			return []string{node, filepath.Join(dir, "receiver.js")}
		}},
	} {
		t.Run(language.name, func(t *testing.T) {
			t.Parallel() // each mostly waits for its process
			dir := t.TempDir()
			testReceiver(t, dir, language.build(t, dir))
		})
	}
}

// tool finds a program, and skips the test by saying that it is missing.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not on this machine: its receiver is not tested here", name)
	}
	return path
}

func build(t *testing.T, dir string, command ...string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), "GO111MODULE=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// certificate makes one for hooks.example.com and loopback, and writes it.
func certificate(t *testing.T, dir string) (roots *x509.CertPool, cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hooks.example.com"},
		DNSNames:  []string{"hooks.example.com"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	roots = x509.NewCertPool()
	roots.AddCert(parsed)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: raw}, key: {
		Type:  "PRIVATE KEY",
		Bytes: secret,
	}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return roots, cert, key
}

func testReceiver(t *testing.T, dir string, command []string) {
	roots, cert, key := certificate(t, dir)
	// A port that is free now: the address has to be registered before the secret is
	// known that the receiver begins with.
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := netip.MustParseAddrPort(listener.Addr().String())
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := egress.New(egress.Config{
		Rules: egress.Rules{
			AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			AllowPorts: []uint16{at.Port()},
		},
		Resolver: names{"hooks.example.com": "127.0.0.1"}, Dialer: &net.Dialer{}, Roots: roots,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := startNode(t, storagetest.NewDisk(), func(c *tenant.Config, _ *storage.Options) { c.Egress = out })
	n.clock.Set(time.Now()) // the receivers look at theirs
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	address := "https://hooks.example.com:" + netip.AddrPortFrom(at.Addr(), at.Port()).String()[len("127.0.0.1:"):] + "/in"
	hook := c.ok(newWebhook(address, "*")).GetLink().GetWebhook()

	process := exec.CommandContext(t.Context(), command[0], append(command[1:], cert, key, at.String())...)
	process.Env = append(os.Environ(), "WEBHOOK_SECRET="+hook.GetSecret())
	process.Stderr = io.Discard
	said, err := process.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Process.Kill(); _ = process.Wait() })
	lines := bufio.NewScanner(said)
	line := func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the receiver has ended: %v", lines.Err())
		}
		return lines.Text()
	}
	if got := line(); !strings.HasPrefix(got, "listening ") {
		t.Fatal(got)
	}
	const events = 10
	n.happen(org.Org, pb.EventInsightProposed, 0, events)
	seen := map[string]bool{}
	for range events {
		got := strings.Fields(line())
		if len(got) != 3 || got[0] != "verified" || got[2] != pb.EventInsightProposed || seen[got[1]] {
			t.Errorf("%v", got)
			continue
		}
		seen[got[1]] = true
	}
	n.quiet(org.Org)
	if got := c.webhook(hook.GetId()).GetWebhook(); got.GetFailures() != 0 || got.GetLastSuccessMs() == 0 {
		t.Errorf("%v", got)
	}
	refuses(t, roots, at, hook, line)
}

// refuses sends a receiver what it must not believe.
func refuses(t *testing.T, roots *x509.CertPool, at netip.AddrPort, hook *pb.Webhook, line func() string) {
	t.Helper()
	body := []byte(`{"id":"1","type":"webhook.test"}`)
	now := time.Now()
	transport := &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: "hooks.example.com",
		MinVersion: tls.VersionTLS12,
	}}
	defer transport.CloseIdleConnections()
	for name, c := range map[string]struct {
		signature string
		body      []byte
		believed  bool
	}{
		"as it was signed": {webhook.Signature(hook.GetSecret(), now, body), body, true},
		"another body": {webhook.Signature(hook.GetSecret(), now, body), bytes.Replace(body, []byte("1"), []byte("2"),
			1), false},
		"another secret":    {webhook.Signature("whsec_other", now, body), body, false},
		"an old delivery":   {webhook.Signature(hook.GetSecret(), now.Add(-time.Hour), body), body, false},
		"from the future":   {webhook.Signature(hook.GetSecret(), now.Add(time.Hour), body), body, false},
		"another time":      {strings.Replace(webhook.Signature(hook.GetSecret(), now, body), "t=1", "t=2", 1), body, false},
		"no signature":      {"", body, false},
		"nonsense":          {"t=x,v1=zz", body, false},
		"a cut signature":   {webhook.Signature(hook.GetSecret(), now, body)[:40], body, false},
		"only the time":     {"t=1700000000", body, false},
		"an empty one":      {"t=,v1=", body, false},
		"another algorithm": {strings.Replace(webhook.Signature(hook.GetSecret(), now, body), "v1=", "v0=", 1), body, false},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+at.String()+"/in",
			bytes.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Svc-Signature", c.signature)
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := response.Body.Close(); err != nil {
			t.Error(err)
		}
		if got := line(); response.StatusCode/100 == 2 != c.believed || strings.HasPrefix(got, "verified") != c.believed {
			t.Errorf("%s: %d, %s", name, response.StatusCode, got)
		}
	}
}
