package doctor_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/doctor"
)

// healthy is a patient with nothing wrong.
func healthy(t *testing.T) doctor.Patient {
	t.Helper()
	server, _, err := config.Load(config.Sources{
		Getenv: func(string) (string, bool) { return "", false },
		Flags: map[string]string{
			"data": filepath.Join(t.TempDir(), "data"), "listen": "127.0.0.1:0", "operator-listen": "127.0.0.1:1",
			"min-free-bytes": "16MiB", "ballast-bytes": "0", "max-open-stores": "4",
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(server.Data, 0o700); err != nil {
		t.Fatal(err)
	}
	return doctor.Patient{Server: server, Kernel: "avx2", Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)}
}

// wrong returns the checks that failed, by name.
func wrong(t *testing.T, p doctor.Patient) map[string]string {
	t.Helper()
	found := map[string]string{}
	checks, _ := doctor.Examine(t.Context(), p)
	for _, check := range checks {
		if check.Detail == "" {
			t.Errorf("%s says nothing", check.Name)
		}
		if !check.OK {
			found[check.Name] = check.Detail
		}
	}
	return found
}

func TestEachFaultIsFoundAlone(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	cases := map[string]struct {
		spoil func(*doctor.Patient) error
		says  string
	}{
		"":              {func(*doctor.Patient) error { return nil }, ""},
		"configuration": {func(p *doctor.Patient) error { p.Invalid = errors.New("a\nb"); return nil }, "a; b"},
		"environment": {
			func(p *doctor.Patient) error { p.Environ = []string{"ORGMEM_LISSTEN=x"}; return nil },
			"ORGMEM_LISSTEN",
		},
		"data directory": {func(p *doctor.Patient) error {
			return os.WriteFile(filepath.Join(p.Server.Data, config.OperatorToken), []byte("t"), 0o644)
		}, "chmod 600"},
		"data format": {func(p *doctor.Patient) error {
			return os.WriteFile(filepath.Join(p.Server.Data, "VERSION"), []byte("orgmem data format 99\n"), 0o600)
		}, "99"},
		"disk space": {func(p *doctor.Patient) error { p.Server.MinFreeBytes = 1 << 60; return nil }, "free"},
		"open files": {func(p *doctor.Patient) error { p.Server.MaxOpenStores = 1 << 40; return nil }, "raise it"},
		"processor":  {func(p *doctor.Patient) error { p.Kernel = ""; return nil }, "model"},
		"clock":      {func(p *doctor.Patient) error { p.Now = time.Unix(0, 0); return nil }, "1970"},
		"listen":     {func(p *doctor.Patient) error { p.Server.Listen = taken.Addr().String(); return nil }, "in use"},
	}
	for name, c := range cases {
		p := healthy(t)
		if err := c.spoil(&p); err != nil {
			t.Fatal(err)
		}
		found := wrong(t, p)
		// Port 1 needs root, which a test may or may not have.
		delete(found, "operator-listen")
		if name == "" && len(found) == 0 {
			continue
		}
		if len(found) != 1 || !strings.Contains(found[name], c.says) {
			t.Errorf("%q: found %v", name, found)
		}
	}
}

func TestAMissingDirectoryIsNoFaultAndAnOpenOneIs(t *testing.T) {
	p := healthy(t)
	if err := os.Chmod(p.Server.Data, 0o755); err != nil {
		t.Fatal(err)
	}
	if found := wrong(t, p); !strings.Contains(found["data directory"], "chmod 700") {
		t.Errorf("found %v", found)
	}
	if err := os.Remove(p.Server.Data); err != nil {
		t.Fatal(err)
	}
	if found := wrong(t, p); found["data directory"] != "" || found["disk space"] != "" {
		t.Errorf("found %v", found)
	}
}
