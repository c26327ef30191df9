package config_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"orgmem/cmd/orgmem/internal/config"
)

var update = flag.Bool("update", false, "rewrite docs/configuration.md")

func noEnv(string) (string, bool) { return "", false }

func TestDefaultsAreValid(t *testing.T) {
	server, values, err := config.Load(config.Sources{Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	if server.Listen != "127.0.0.1:8080" || server.OperatorListen != "127.0.0.1:8081" || server.Data != "./data" {
		t.Errorf("not the addresses and the folder that README.md promises: %+v", server)
	}
	for _, v := range values {
		if v.Origin != config.FromDefault {
			t.Errorf("%s comes from %s", v.Name, v.Origin)
		}
	}
}

// TestDefaultsAreTheDocuments repeats, by hand and once, the figures of
// docs/interface.md that an operator may change: the service runs with these, whatever
// the packages below would do by themselves.
//
// interface: Limits/Tombstone retention
// interface: Limits/Webhook attempts and time-out
func TestDefaultsAreTheDocuments(t *testing.T) {
	server, _, err := config.Load(config.Sources{Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	for _, f := range []struct {
		words     string // the document's
		got, want any
	}{
		{"Tombstone retention for forgotten nodes | 30 days", server.TombstoneRetention, 30 * day},
		{"retry delays of about 30 s then about 120 s", fmt.Sprint(server.WebhookRetryDelays), "[30s 2m0s]"},
		{"JSON bodies 1 MiB", server.MaxBody, int64(1 << 20)},
		{"ingest, batches and session batches 10 MiB", server.MaxIngestBody, int64(10 << 20)},
		{"uploads 64 MiB", server.MaxUpload, int64(64 << 20)},
		{"one content at most 5,000,000 characters", server.MaxContent, 5_000_000},
		{"a batch at most 1,000 items", server.MaxBatch, 1_000},
		{"lifetime 7 days (of a sandbox key)", server.SandboxKeyLife, 7 * day},
		{"expired (after 7 days)", server.ExportRetention, 7 * day},
	} {
		if f.got != f.want {
			t.Errorf("%q: %v, want %v", f.words, f.got, f.want)
		}
	}
}

func TestFlagBeatsEnvironmentBeatsFile(t *testing.T) {
	file := write(t, "listen = \"127.0.0.1:1\"\noperator-listen = \"127.0.0.1:2\"\nshutdown-grace = "+
		"\"5s\"\nmax-open-stores = 7\n")
	env := map[string]string{"ORGMEM_LISTEN": "127.0.0.1:3", "ORGMEM_OPERATOR_LISTEN": "127.0.0.1:4"}
	server, values, err := config.Load(config.Sources{
		File:   file,
		Getenv: func(n string) (string, bool) { v, ok := env[n]; return v, ok },
		Flags:  map[string]string{"listen": "127.0.0.1:5"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if server.Listen != "127.0.0.1:5" || server.OperatorListen != "127.0.0.1:4" ||
		server.ShutdownGrace != 5*time.Second || server.MaxOpenStores != 7 {
		t.Errorf("got %+v", server)
	}
	want := map[string]config.Origin{
		"listen": config.FromFlag, "operator-listen": config.FromEnv,
		"shutdown-grace": config.FromFile, "data": config.FromDefault,
	}
	for _, v := range values {
		if o, ok := want[v.Name]; ok && o != v.Origin {
			t.Errorf("%s comes from %s, want %s", v.Name, v.Origin, o)
		}
	}
}

func TestEveryProblemIsListed(t *testing.T) {
	file := write(t, "lissten = \"x\"\n[listen]\ndeep = 1\n")
	_, _, err := config.Load(config.Sources{
		File: file, Getenv: noEnv,
		Flags: map[string]string{"listen": "nowhere", "cache-bytes": "1KiB", "log-level": "loud", "max-open-stores": "0"},
	})
	if !errors.Is(err, config.ErrInvalid) {
		t.Fatalf("got %v", err)
	}
	for _, part := range []string{"lissten", "listen.deep", `"nowhere"`, "cache-bytes", "log-level", "max-open-stores"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in: %v", part, err)
		}
	}
}

func TestMissingAndMalformedFilesAreProblems(t *testing.T) {
	for _, file := range []string{
		filepath.Join(t.TempDir(), "absent.toml"), write(t, "listen = "),
		write(t, "listen = [1]\n"),
	} {
		if _, _, err := config.Load(config.Sources{File: file, Getenv: noEnv}); !errors.Is(err, config.ErrInvalid) {
			t.Errorf("%s: got %v", file, err)
		}
	}
}

func TestUnknownEnvironmentIsNamed(t *testing.T) {
	got := config.UnknownEnv([]string{"ORGMEM_LISTEN=x", "ORGMEM_BASE_URL=y", "ORGMEM_LISSTEN=z", "HOME=h"})
	if len(got) != 1 || got[0] != "ORGMEM_LISSTEN" {
		t.Errorf("got %v", got)
	}
}

func TestBytesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 1<<50).Draw(t, "n")
		got, err := config.ParseBytes(config.FormatBytes(n))
		if err != nil || got != n {
			t.Fatalf("%d became %q became %d, %v", n, config.FormatBytes(n), got, err)
		}
	})
	for _, bad := range []string{"", "MiB", "-1", "1.5GiB", "9999999999TiB", "ten"} {
		if n, err := config.ParseBytes(bad); err == nil {
			t.Errorf("%q was read as %d", bad, n)
		}
	}
}

// The page in docs/ is made from the table; `make docs` writes it.
func TestConfigurationPageIsFresh(t *testing.T) {
	page := filepath.Join("..", "..", "..", "..", "docs", "configuration.md")
	if *update {
		if err := os.WriteFile(page, []byte(config.Page()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != config.Page() {
		t.Error("docs/configuration.md is stale: run make docs")
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "orgmem.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
