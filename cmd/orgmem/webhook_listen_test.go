package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// TestWebhookListen does what docs/webhooks.md tells a developer to do on their own
// machine: the command, refused for the service does not deliver to loopback; the
// service with the exemption; the command again.
func TestWebhookListen(t *testing.T) {
	dir := t.TempDir()
	data, certificate, port := filepath.Join(dir, "data"), filepath.Join(dir, "listen.pem"), freePort(t)
	p := start(t, data, process.Options{})
	c := caller{base: p.BaseURL, key: p.APIKey}
	listen := func() *listener {
		return startListener(t, []string{"ORGMEM_API_KEY=" + c.key}, "--base", c.base, "--listen", "127.0.0.1:"+port,
			"--certificate", certificate)
	}

	refused := listen()
	exemption := "ORGMEM_EGRESS_ALLOW_CIDRS=127.0.0.0/8,::1/128 ORGMEM_EGRESS_ALLOW_PORTS=" + port +
		" ORGMEM_EGRESS_CA_FILE=" + certificate
	for !strings.Contains(refused.line(), exemption) { // fails when there is no more
	}
	if err := refused.cmd.Wait(); err == nil {
		t.Error("it was refused and ended well")
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	p = start(t, data, process.Options{Env: strings.Fields(exemption)})
	c.base = p.BaseURL

	l := listen()
	if got := l.line(); !strings.HasPrefix(got, "Listening on 127.0.0.1:"+port) {
		t.Fatal(got)
	}
	hooks := c.must(t, http.StatusOK, http.MethodGet, "/v1/webhooks", nil)["data"].([]any)
	if len(hooks) != 1 {
		t.Fatalf("endpoints %v", hooks)
	}
	hook := "/v1/webhooks/" + hooks[0].(map[string]any)["id"].(string)

	// A delivery that was asked for, and one that something caused.
	if outcome := c.must(t, http.StatusOK, http.MethodPost, hook+"/test", nil); outcome["ok"] != true {
		t.Errorf("the test delivery: %v", outcome)
	}
	if got := l.delivery(); got.Type != "webhook.test" || got.Delivery == "" {
		t.Errorf("printed %+v", got)
	}
	job := c.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
		map[string]any{"content": "The boiler was serviced in May."})["jobId"]
	for {
		if got := l.delivery(); got.Type == "job.completed" {
			if got.Envelope.Data["jobId"] != job {
				t.Errorf("printed %+v, not job %v", got, job)
			}
			break
		}
	}

	// What somebody else made up is refused, and not printed as a delivery.
	raw, err := os.ReadFile(certificate)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(raw)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	defer transport.CloseIdleConnections()
	forged, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://127.0.0.1:"+port+"/",
		strings.NewReader(`{"id":"1","type":"job.completed"}`))
	if err != nil {
		t.Fatal(err)
	}
	forged.Header.Set("X-Svc-Signature",
		"t=1700000000,v1=c7ac13b57a8d16147c9757c695353f4addfb92d54e2585d0ada5784333af2450")
	response, err := transport.RoundTrip(forged)
	if err != nil {
		t.Fatal(err)
	}
	if err := response.Body.Close(); err != nil {
		t.Error(err)
	}
	if response.StatusCode != http.StatusBadRequest {
		t.Errorf("a forged delivery: %s", response.Status)
	}
	for {
		got := l.line()
		if strings.Contains(got, "no delivery of this endpoint") {
			break
		}
		if !strings.HasPrefix(got, "{") || strings.Contains(got, `"id":"1"`) {
			t.Fatalf("printed %s", got)
		}
	}

	// Interrupted, it takes its endpoint away.
	if err := l.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for l.lines.Scan() { // what was delivered meanwhile
	}
	_ = l.cmd.Wait() // its status says that it was interrupted
	if left := c.must(t, http.StatusOK, http.MethodGet, "/v1/webhooks", nil)["data"].([]any); len(left) != 0 {
		t.Errorf("endpoints left: %v", left)
	}
}

// listener is a running orgmem webhook listen.
type listener struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner // of all that it prints
}

func startListener(t *testing.T, env []string, args ...string) *listener {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), process.ReadyWithin)
	t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, binary(t), append([]string{"webhook", "listen", "--json"}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = in, in
	err = cmd.Start()
	_ = in.Close() // the child's copy is what counts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait(); _ = out.Close() })
	return &listener{t, cmd, bufio.NewScanner(out)}
}

func (l *listener) line() string {
	l.t.Helper()
	if !l.lines.Scan() {
		l.t.Fatalf("it has ended: %v", l.lines.Err())
	}
	return l.lines.Text()
}

// printed is what the command prints of a delivery.
type printed struct {
	Type, Delivery string
	Envelope       struct {
		Data map[string]any
	}
}

func (l *listener) delivery() (p printed) {
	l.t.Helper()
	line := l.line()
	if err := json.Unmarshal([]byte(line), &p); err != nil {
		l.t.Fatalf("printed %q: %v", line, err)
	}
	return p
}
