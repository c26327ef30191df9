package api

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"orgmem/api/web"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// live is a server with listeners on loopback.
type live struct {
	*harness
	public, operator string
	done             chan error
}

func startLive(t *testing.T, change ...func(*Config)) *live {
	t.Helper()
	l := &live{harness: newHarness(t, change...), done: make(chan error, 1)}
	public, operator := listen(t), listen(t)
	l.public, l.operator = public.Addr().String(), operator.Addr().String()
	go func() { l.done <- l.s.Serve(public, operator) }()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		// Not t.Context: it has ended by now.
		if err := l.s.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-l.done; err != nil {
			t.Error(err)
		}
	})
	return l
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// raw sends bytes as they are and reads one answer.
func (l *live) raw(t *testing.T, request string) response {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.public)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, request); err != nil {
		t.Fatal(err)
	}
	return readAnswer(t, bufio.NewReader(c))
}

func readAnswer(t *testing.T, r *bufio.Reader) response {
	t.Helper()
	res, err := http.ReadResponse(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response{res, body}
}

// TestWhatNetHTTPRefuses holds that requests which no handler sees get a problem
// like all others, and that framing that could be read in two ways is refused.
func TestWhatNetHTTPRefuses(t *testing.T) {
	l := startLive(t)
	auth := "Host: x\r\nX-Svc-API-Key: " + goodKey + "\r\n"
	cases := map[string]struct{ request, code string }{
		"escape in path":         {"GET /v1/subjects/%zz HTTP/1.1\r\n" + auth + "\r\n", pb.CodeMalformed},
		"half an escape":         {"GET /v1/subjects/%4 HTTP/1.1\r\n" + auth + "\r\n", pb.CodeMalformed},
		"no host":                {"GET /v1/me HTTP/1.1\r\n\r\n", pb.CodeMalformed},
		"two hosts":              {"GET /v1/me HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", pb.CodeMalformed},
		"no HTTP":                {"HELLO\r\n\r\n", pb.CodeMalformed},
		"header without a name":  {"GET /v1/me HTTP/1.1\r\n" + auth + ": x\r\n\r\n", pb.CodeMalformed},
		"space before the colon": {"GET /v1/me HTTP/1.1\r\n" + auth + "X-A : b\r\n\r\n", pb.CodeMalformed},
		"headers too large": {
			"GET /v1/me HTTP/1.1\r\n" + auth + "X-A: " + strings.Repeat("a", web.MaxHeaderBytes+5000) + "\r\n\r\n",
			pb.CodeHeadersTooLarge,
		},
		"two lengths": {
			"POST /v1/ingest HTTP/1.1\r\n" + auth + "Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x", pb.CodeMalformed,
		},
		"signed length": {"POST /v1/ingest HTTP/1.1\r\n" + auth + "Content-Length: +2\r\n\r\n{}", pb.CodeMalformed},
		"unknown encoding": {
			"POST /v1/ingest HTTP/1.1\r\n" + auth + "Transfer-Encoding: xchunked\r\n\r\n{}", pb.CodeMalformed,
		},
		"chunked, but not really": {
			"POST /v1/ingest HTTP/1.1\r\n" + auth +
				"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n{}\r\n0\r\n\r\n",
			pb.CodeMalformed,
		},
	}
	for name, c := range cases {
		res := l.raw(t, c.request)
		l.checkGeneral(res)
		if res.code(t) != c.code {
			t.Errorf("%s: %d %s", name, res.StatusCode, res.body)
		}
	}
	// Transfer-Encoding beside Content-Length: the connection must not survive it.
	res := l.raw(t, "POST /v1/ingest HTTP/1.1\r\n"+auth+
		"Content-Type: application/json\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n15\r\n"+
		`{"content":"figs  "} `+"\r\n0\r\n\r\nGET /v1/keys HTTP/1.1\r\n"+auth+"\r\n")
	if res.StatusCode != http.StatusAccepted && res.StatusCode != http.StatusBadRequest {
		t.Errorf("both framings: %d %s", res.StatusCode, res.body)
	}
	res = l.raw(t, "OPTIONS * HTTP/1.1\r\n"+auth+"\r\n")
	if res.code(t) != pb.CodeNotFound {
		t.Errorf("OPTIONS *: %d %s", res.StatusCode, res.body)
	}
	res = l.raw(t, "GET /v1/subjects/a%2Fb HTTP/1.1\r\n"+auth+"\r\n")
	if res.StatusCode != http.StatusOK || res.json(t)["id"] != "a/b" {
		t.Errorf("an escaped slash: %d %s", res.StatusCode, res.body)
	}
}

// TestHeaderNamesOnTheWire reads the bytes: the interface's own spelling.
func TestHeaderNamesOnTheWire(t *testing.T) {
	l := startLive(t)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.public)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "GET /v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Svc-API-Key: "+goodKey+
		"\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\r\nRateLimit: default;r=29;t=2\r\n", "\r\nRateLimit-Policy: default;q=120;w=60;pk=c2VjcmV0\r\n",
		"\r\nX-Request-Id: ", "\r\nCache-Control: no-store\r\n",
	} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("no %q in %s", want, all)
		}
	}
	if bytes.Contains(all, []byte("\r\nServer:")) {
		t.Error("the answer names its software")
	}
}

// TestSlowBody holds that a body that stops arriving ends in 408 once the
// (injected) clock says so, and gives its bytes back.
func TestSlowBody(t *testing.T) {
	l := startLive(t)
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.public)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST /v1/ingest HTTP/1.1\r\nHost: x\r\nX-Svc-API-Key: "+goodKey+
		"\r\nContent-Type: application/json\r\nContent-Length: 300000\r\nExpect: 100-continue\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	r := bufio.NewReader(c)
	if line, err := r.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 100") {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	// The handler is reading now. What was announced is not booked, what could
	// have arrived by now is.
	if held := l.s.edge.Bodies.Held(); held > web.FirstBodyStep {
		t.Errorf("an empty body holds %d bytes", held)
	}
	l.clock.Advance(l.s.cfg.BodyTimeout)
	res := readAnswer(t, r)
	if res.code(t) != pb.CodeRequestTimeout || !res.Close {
		t.Errorf("%d %s, close %v", res.StatusCode, res.body, res.Close)
	}
	if env := l.asker.last(); env.GetRejected().GetProblem().GetCode() != pb.CodeRequestTimeout {
		t.Errorf("%v", env)
	}
}

// TestHalfClosedConnections holds what a client reads that has closed its own side:
// of half a body, what is wrong with it; while it is waited for an actor, nothing at
// all. Neither is the empty 200 that net/http gives where nothing was written.
func TestHalfClosedConnections(t *testing.T) {
	l := startLive(t)
	send := func(request string) *bufio.Reader {
		t.Helper()
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.public)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := io.WriteString(c, strings.ReplaceAll(request, "\n", "\r\n")); err != nil {
			t.Fatal(err)
		}
		if err := c.(*net.TCPConn).CloseWrite(); err != nil {
			t.Fatal(err)
		}
		return bufio.NewReader(c)
	}
	res := readAnswer(t, send("POST /v1/ingest HTTP/1.1\nHost: x\nX-Svc-API-Key: "+goodKey+
		"\nContent-Type: application/json\nContent-Length: 300\n\n{"))
	if res.code(t) != pb.CodeMalformed {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	l.asker.answer = func(ctx context.Context, _ *pb.Envelope) (*pb.Reply, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	left, err := io.ReadAll(send("GET /v1/me HTTP/1.1\nHost: x\nX-Svc-API-Key: " + goodKey + "\n\n"))
	if len(left) > 0 || err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%q, %v", left, err)
	}
}

// TestConnectionSurvivesItsBodies holds that the timer of one body does not
// touch the next request on the connection.
func TestConnectionSurvivesItsBodies(t *testing.T) {
	l := startLive(t)
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	for range 3 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+l.public+"/v1/ingest",
			strings.NewReader(`{"content":"Figs."}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Svc-API-Key", goodKey)
		req.Header.Set("Content-Type", "application/json")
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		if res.StatusCode != http.StatusAccepted {
			t.Errorf("%d", res.StatusCode)
		}
		l.clock.Advance(l.s.cfg.BodyTimeout + time.Second)
	}
}

// TestBodyBudget holds that bodies beyond the node's budget are shed at once,
// before any actor hears of them, and that the budget recovers.
func TestBodyBudget(t *testing.T) {
	h := newHarness(t, func(c *Config) { c.MaxBodiesInFlight = 1 << 20 })
	h.s.edge.Bodies.Take(1 << 20)
	res := h.do("POST", "/v1/ingest", `{"content":"Figs."}`)
	if res.code(t) != pb.CodeServiceDegraded || res.Header.Get("Retry-After") == "" || h.asker.last() != nil {
		t.Errorf("%d %s", res.StatusCode, res.body)
	}
	if res := h.do("GET", "/v1/me", ""); res.StatusCode != http.StatusOK {
		t.Errorf("a read without a body: %d", res.StatusCode)
	}
	h.s.edge.Bodies.Give(1 << 20)
	if res := h.do("POST", "/v1/ingest", `{"content":"`+strings.Repeat("x", 2<<20)+`"}`); res.code(t) !=
		pb.CodeServiceDegraded {
		t.Errorf("more than the whole budget: %d", res.StatusCode)
	}
	if used := h.s.edge.Bodies.Held(); used != 0 {
		t.Errorf("%d bytes are lost", used)
	}
	if res := h.do("POST", "/v1/ingest", `{"content":"`+strings.Repeat("x", 200_000)+`"}`); res.StatusCode !=
		http.StatusAccepted {
		t.Errorf("after: %d %s", res.StatusCode, res.body)
	}
}

// TestShutdown holds that a request under way is answered, later ones are
// refused, and Serve then returns nil.
func TestShutdown(t *testing.T) {
	l := startLive(t)
	entered, release := make(chan struct{}), make(chan struct{})
	l.asker.answer = func(_ context.Context, env *pb.Envelope) (*pb.Reply, error) {
		close(entered)
		<-release
		return fakeAnswer(env), nil
	}
	status := make(chan int, 1)
	go func() {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.public+"/v1/me", nil)
		if err != nil {
			status <- 0
			return
		}
		req.Header.Set("X-Svc-API-Key", goodKey)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			status <- 0
			return
		}
		res.Body.Close()
		status <- res.StatusCode
	}()
	<-entered
	down := make(chan error, 1)
	go func() { down <- l.s.Shutdown(t.Context()) }()
	for !l.s.edge.IsDraining() { // set before the listeners close
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-down:
		t.Fatalf("shut down with a request under way: %v", err)
	default:
	}
	close(release)
	if got := <-status; got != http.StatusOK {
		t.Errorf("the request under way: %d", got)
	}
	if err := <-down; err != nil {
		t.Error(err)
	}
	if _, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", l.public); err == nil {
		t.Error("the listener is still open")
	}
}

// TestServeFails holds that one broken listener brings Serve back with both
// closed.
func TestServeFails(t *testing.T) {
	h := newHarness(t)
	public, operator := listen(t), listen(t)
	if err := operator.Close(); err != nil {
		t.Fatal(err)
	}
	if err := h.s.Serve(public, operator); err == nil || errors.Is(err, http.ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	if _, err := public.Accept(); err == nil {
		t.Error("the other listener is still open")
	}
}

func TestConfigValidate(t *testing.T) {
	err := Config{TLS: web.TLSFiles{Cert: "x"}, AccessLog: "some", RequestTimeout: -1, MaxBody: -1}.Validate()
	if err == nil {
		t.Fatal("an empty configuration is valid")
	}
	for _, want := range []string{
		"Asker", "Operator", "Clock", "Logger", "OperatorToken", "TLS", "AccessLog", "time-out", "size",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %s", err, want)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("New took it")
	}
	if _, err := New(Config{
		Asker: &fakeAsker{}, Operator: fakeOperator{}, OperatorToken: testToken, Clock: clock.Real(),
		Logger: slog.New(slog.DiscardHandler),
		TLS:    web.TLSFiles{Cert: "no-such-file", Key: "no-such-file"},
	}); err == nil {
		t.Error("New took a missing certificate")
	}
}

// writeCertificate makes a self-signed certificate for loopback.
func writeCertificate(t *testing.T, dir, name string) web.TLSFiles {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	files := web.TLSFiles{Cert: filepath.Join(dir, "cert.pem"), Key: filepath.Join(dir, "key.pem")}
	for path, block := range map[string]*pem.Block{
		files.Cert: {Type: "CERTIFICATE", Bytes: der}, files.Key: {Type: "PRIVATE KEY", Bytes: keyDER},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestTLS holds that HTTPS speaks HTTP/2, and that a renewed certificate is
// taken into use without a restart, but half of one is not.
func TestTLS(t *testing.T) {
	dir := t.TempDir()
	files := writeCertificate(t, dir, "first")
	l := startLive(t, func(c *Config) { c.TLS = files })
	get := func() (*http.Response, string) {
		t.Helper()
		// the test looks at the certificate itself
		transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+l.public+"/v1/me", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("X-Svc-API-Key", goodKey)
		res, err := transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		_, _ = io.Copy(io.Discard, res.Body)
		return res, res.TLS.PeerCertificates[0].Subject.CommonName
	}
	res, name := get()
	if res.StatusCode != http.StatusOK || res.ProtoMajor != 2 || name != "first" || res.Header.Get("RateLimit") == "" {
		t.Errorf("%d HTTP/%d %s %v", res.StatusCode, res.ProtoMajor, name, res.Header)
	}
	writeCertificate(t, dir, "second")
	if _, name := get(); name != "first" {
		t.Error("the files are read at every handshake")
	}
	l.clock.Advance(web.RecheckCertificate)
	if _, name := get(); name != "second" {
		t.Errorf("the certificate is still the %s", name)
	}
	if err := os.WriteFile(files.Key, []byte("half a key"), 0o600); err != nil {
		t.Fatal(err)
	}
	l.clock.Advance(web.RecheckCertificate)
	if _, name := get(); name != "second" {
		t.Errorf("half a renewal: %s", name)
	}
	if !strings.Contains(l.logs.String(), "certificate not reloaded") {
		t.Error("nobody was told")
	}
}
