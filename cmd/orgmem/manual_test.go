package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/config"
)

// Every command that a person may give stands in the manual, with its flags, and every setting.
func TestManualNamesEverything(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	commands, settings := m.run("man"), m.run("man", "orgmem.toml")
	plain := strings.NewReplacer(`\-`, "-", `\fB`, "", `\fR`, "").Replace
	text := plain(commands.out)
	count := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			if sub.Hidden || sub.Name() == "help" {
				continue
			}
			if sub.HasSubCommands() {
				look(sub)
				continue
			}
			if count++; !strings.Contains(text, ".SS \""+sub.UseLine()) {
				t.Errorf("orgmem(1) does not have %q", sub.UseLine())
			}
		}
	}
	look(newRoot(world{lookupEnv: func(string) (string, bool) { return "", false }}))
	if count < 30 {
		t.Errorf("%d commands", count)
	}
	for _, want := range []string{"--quickstart", "--owner-email", "ORGMEM_API_KEY", "--json"} {
		if !strings.Contains(text, want) {
			t.Errorf("orgmem(1) does not have %s", want)
		}
	}
	for _, s := range config.Settings {
		if !strings.Contains(plain(settings.out), ".TP\n"+s.Name+"\n") {
			t.Errorf("orgmem.toml(5) does not have %s", s.Name)
		}
	}
	if again := m.run("man"); again.out != commands.out {
		t.Error("the same program prints another page")
	}
	if r := m.run("man", "nothing"); r.status != exitUsage {
		t.Errorf("%+v", r)
	}
}

// The pages are roff that a reader of manuals takes without a word.
func TestManualIsRoff(t *testing.T) {
	t.Parallel()
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Skip("groff is not on this machine")
	}
	for _, page := range []string{"orgmem", "orgmem.toml"} {
		cmd := exec.CommandContext(t.Context(), groff, "-man", "-Tutf8", "-ww", "-rLL=100n")
		cmd.Stdin = strings.NewReader(newMachine(t).run("man", page).out)
		var said strings.Builder
		cmd.Stderr = &said
		shown, err := cmd.Output()
		if err != nil || said.Len() > 0 || len(shown) < 5_000 {
			t.Errorf("%s: %v, %d bytes, %s", page, err, len(shown), said.String())
		}
	}
}

func TestCompletionScriptsAreTakenByTheirShells(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, shell := range shells {
		r := m.run("completion", shell)
		if r.status != exitDone || !strings.Contains(r.out, "__complete") {
			t.Errorf("%s: %d %s", shell, r.status, r.err)
		}
		path, err := exec.LookPath(shell)
		if err != nil {
			t.Logf("%s is not on this machine", shell)
			continue
		}
		script := filepath.Join(t.TempDir(), "orgmem")
		if err := os.WriteFile(script, []byte(r.out), 0o600); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.CommandContext(t.Context(), path, "-n", script).CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v %s", shell, err, out)
		}
	}
	if r := m.run("completion", "tcsh"); r.status != exitUsage || !strings.Contains(r.err, "tcsh") {
		t.Errorf("%+v", r)
	}
	if r := m.run("__complete", "cluster", "to"); !strings.Contains(r.out, "token") {
		t.Errorf("%+v", r)
	}
}

func TestConfigIsPrintedAndChecked(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.env["ORGMEM_LISTEN"] = "nowhere" // a file is judged alone
	file := filepath.Join(t.TempDir(), "orgmem.toml")
	r := m.run("config", "print", "--data", "/var/lib/orgmem")
	if r.status != exitDone || !strings.Contains(r.out, "\ndata = \"/var/lib/orgmem\"\n") ||
		!strings.Contains(r.out, "\n#listen = ") {
		t.Fatalf("%d %s", r.status, r.err)
	}
	if err := os.WriteFile(file, []byte(r.out), 0o600); err != nil {
		t.Fatal(err)
	}
	if set, _ := m.ok("config", "check", file)["settings"].([]any); len(set) != 1 {
		t.Errorf("settings: %v", set)
	}
	if err := os.WriteFile(file, []byte("lissten = \"x\"\nmax-batch-items = 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := m.run("config", "check", file); r.status != exitFailed || !strings.Contains(r.err, "lissten") {
		t.Errorf("%+v", r)
	}
	if r := m.run("config", "print", "--listen", "nowhere"); r.status != exitFailed {
		t.Errorf("%+v", r)
	}
}

func TestServiceManagerIsTold(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	var out, errs strings.Builder
	w := world{out: &out, err: &errs, lookupEnv: func(name string) (string, bool) {
		return path, name == config.EnvNotify
	}}
	notify(t.Context(), w, newLogger(w, config.Server{}), notifyReady)
	buffer := make([]byte, 64)
	n, err := socket.Read(buffer)
	if err != nil || string(buffer[:n]) != "READY=1" {
		t.Errorf("%q, %v", buffer[:n], err)
	}
	path += "-absent"
	notify(t.Context(), w, newLogger(w, config.Server{}), notifyStopping)
	if !strings.Contains(errs.String(), "not told") {
		t.Errorf("nothing is said of a manager that is not there: %q", errs.String())
	}
}
