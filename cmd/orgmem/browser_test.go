package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orgmem/cmd/orgmem/process"
	"orgmem/proto/clock"
)

// browser is headless Chromium, driven over the W3C WebDriver protocol
// (https://www.w3.org/TR/webdriver2/) by its own driver.
type browser struct {
	t       *testing.T
	session string // its address at the driver
}

// startBrowser runs the two until the test ends, and skips the test where they are
// not installed. Nothing but 127.0.0.1 exists for the browser.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	for _, name := range []string{"chromium", "chromedriver"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not on this machine (make browser installs it as root)", name)
		}
	}
	home := t.TempDir()
	driver := exec.CommandContext(t.Context(), "chromedriver", "--port=0")
	// What either writes goes where the test's files go.
	driver.Env = append(os.Environ(), "HOME="+home, "TMPDIR="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home)
	driver.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	said, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	b := &browser{t: t}
	// Chromium's processes all name the folder that this one has its data in.
	profile := filepath.Join(home, "profile")
	t.Cleanup(func() {
		if b.session != "" {
			_ = b.call(context.Background(), http.MethodDelete, "", nil, nil) // what is left is killed
		}
		_ = driver.Process.Kill()
		_ = driver.Wait()
		ended(t, profile)
	})
	port := ""
	for lines := bufio.NewScanner(said); port == ""; {
		if !lines.Scan() {
			t.Fatalf("chromedriver has ended: %v", lines.Err())
		}
		if _, rest, ok := strings.Cut(lines.Text(), "started successfully on port "); ok {
			port = strings.TrimSuffix(rest, ".")
		}
	}
	go func() { _, _ = io.Copy(io.Discard, said) }() // ends with the driver
	address := "http://127.0.0.1:" + port + "/session"
	b.session = address
	var made struct{ SessionID string }
	err = b.call(t.Context(), http.MethodPost, "",
		map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
			"goog:chromeOptions": map[string]any{"args": []string{
				// Over a pipe, so that the browser ends with its driver.
				"--remote-debugging-pipe", "--user-data-dir=" + profile, "--headless", "--no-sandbox", "--disable-gpu",
				"--disable-dev-shm-usage",
				"--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
				"--disable-sync",
				"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
			}},
			"timeouts": map[string]any{
				"script":   process.ReadyWithin.Milliseconds(),
				"pageLoad": process.ReadyWithin.Milliseconds(),
			},
		}}}, &made)
	b.session = ""
	if err != nil || made.SessionID == "" {
		t.Fatalf("no browser: %v", err)
	}
	b.session = address + "/" + made.SessionID
	return b
}

// call sends a command of the session. Its value goes to out, unless that is nil.
func (b *browser) call(ctx context.Context, method, path string, body, out any) error {
	ctx, cancel := context.WithTimeout(ctx, process.ReadyWithin)
	defer cancel()
	var raw []byte
	if method == http.MethodPost {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, b.session+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var reply struct{ Value json.RawMessage }
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %.2000s", response.Status, reply.Value)
	}
	if out == nil {
		return nil
	}
	return json.Unmarshal(reply.Value, out)
}

func (b *browser) open(url string) {
	b.t.Helper()
	if err := b.call(b.t.Context(), http.MethodPost, "/url", map[string]any{"url": url}, nil); err != nil {
		b.t.Fatalf("%s: %v", url, err)
	}
}

// run runs a script in the page: a function's body, whose promise is waited for.
func (b *browser) run(out any, script string, args ...any) {
	b.t.Helper()
	if args == nil {
		args = []any{}
	}
	if err := b.call(b.t.Context(), http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": args},
		out); err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
}

// ended waits until no process names the folder, and kills what does not end by
// itself.
func ended(t *testing.T, folder string) {
	t.Helper()
	const patience = 20 // looks, of a tenth of a second
	for look := 0; ; look++ {
		files, err := filepath.Glob("/proc/[0-9]*/cmdline")
		if err != nil {
			t.Fatal(err)
		}
		left := false
		for _, file := range files {
			line, err := os.ReadFile(file)
			if err != nil || !bytes.Contains(line, []byte(folder)) {
				continue // it has ended meanwhile, or is not ours
			}
			left = true
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && look >= patience {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		if !left {
			return
		}
		if look > 10*patience {
			t.Errorf("processes of %s do not end", folder)
			return
		}
		if err := clock.Wait(context.Background(), clock.Real(), 100*time.Millisecond); err != nil {
			t.Fatal(err)
		}
	}
}
