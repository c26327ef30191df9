package config_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/config"
)

// The file as it is printed changes nothing, and each of its lines is valid once the # is
// taken away.
func TestPrintedFileIsTheDefaults(t *testing.T) {
	text := config.File(nil)
	if _, _, err := config.Load(config.Sources{Getenv: noEnv, File: write(t, text)}); err != nil {
		t.Errorf("as printed: %v", err)
	}
	var active strings.Builder
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, "#"); ok && !strings.HasPrefix(rest, " ") {
			active.WriteString(rest)
		}
		if len(line) > 100 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
	_, values, err := config.Load(config.Sources{Getenv: noEnv, File: write(t, active.String())})
	if err != nil {
		t.Fatalf("with every # taken away: %v", err)
	}
	for i, v := range values {
		if v.Origin != config.FromFile || v.Value != config.Settings[i].Default {
			t.Errorf("%s is %q from %s, want the default %q", v.Name, v.Value, v.Origin, config.Settings[i].Default)
		}
	}
}

func TestPrintedFileHasWhatIsGiven(t *testing.T) {
	const odd = "/srv/\"memory\" \\ <ä>\t&"
	text := config.File(map[string]string{"data": odd})
	_, values, err := config.Load(config.Sources{Getenv: noEnv, File: write(t, text)})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range values {
		if want := v.Name == "data"; want != (v.Origin == config.FromFile) || want && v.Value != odd {
			t.Errorf("%s is %q from %s", v.Name, v.Value, v.Origin)
		}
	}
	if strings.Contains(text, "](") {
		t.Error("a link to a page that is not beside the file")
	}
}

// A credential of systemd is weaker than all that somebody has written, and is taken only for
// settings that name a file.
func TestCredentialsAreFound(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"tls-cert", "tls-key", "secrets-key-file", "listen", "unknown"} {
		if err := os.WriteFile(filepath.Join(dir, config.CredentialPrefix+name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server, values, err := config.Load(config.Sources{
		Getenv: noEnv, Credentials: dir, Flags: map[string]string{"secrets-key-file": "/elsewhere"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if server.TLSCert != filepath.Join(dir, "orgmem.tls-cert") || server.TLSKey != filepath.Join(dir, "orgmem.tls-key") {
		t.Errorf("certificate %q, key %q", server.TLSCert, server.TLSKey)
	}
	if server.SecretsKeyFile != "/elsewhere" || server.Listen != "127.0.0.1:8080" || server.BackupKeyFile != "" {
		t.Errorf("%+v", server)
	}
	for _, v := range values {
		if v.Name == "tls-cert" && v.Origin != config.FromCredential {
			t.Errorf("tls-cert comes from %s", v.Origin)
		}
	}
}

// The unit that is shipped belongs to this table: what it loads is what the service looks for,
// and a stop has the time that it may take.
func TestUnitFitsTheTable(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "deploy", "package", "orgmem.service"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	loaded := map[string]bool{}
	lines := map[string][]string{}
	for scanner := bufio.NewScanner(file); scanner.Scan(); {
		if key, value, ok := strings.Cut(scanner.Text(), "="); ok && !strings.HasPrefix(key, "#") {
			lines[key] = append(lines[key], value)
		}
	}
	for _, id := range lines["LoadCredential"] {
		name, ok := strings.CutPrefix(id, config.CredentialPrefix)
		if !ok {
			t.Errorf("nobody looks for the credential %s", id)
		}
		loaded[name] = true
	}
	for _, s := range config.Settings {
		// A model is larger than a credential may be.
		want := s.Form == config.FormFile && !strings.Contains(s.Name, "model-file")
		if want != loaded[s.Name] {
			t.Errorf("%s is loaded: %t, want %t", s.Name, loaded[s.Name], want)
		}
		delete(loaded, s.Name)
	}
	for name := range loaded {
		t.Errorf("%s is no setting", name)
	}
	server, _, err := config.Load(config.Sources{Getenv: noEnv})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines["TimeoutStopSec"]) != 1 {
		t.Fatalf("TimeoutStopSec: %v", lines["TimeoutStopSec"])
	}
	stop, err := time.ParseDuration(lines["TimeoutStopSec"][0])
	// A stop hands over for as long as the grace, waits for requests as long again, and closes
	// the stores.
	if least := 2*server.ShutdownGrace + 30*time.Second; err != nil || stop < least {
		t.Errorf("TimeoutStopSec is %v (%v), a stop may take %v", stop, err, least)
	}
	if got := lines["ExecStart"]; len(got) != 1 || got[0] != "/usr/bin/orgmem serve --config /etc/orgmem/orgmem.toml" {
		t.Errorf("ExecStart: %v", got)
	}
}
