package main

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// script runs deploy/cluster.sh, as make does.
type script struct {
	t                *testing.T
	binary, dir      string
	port             int // of the first node
	nodes            map[string]*exec.Cmd
	shell            *shell
	kill, look, make []string // the commands that it prints, by what they are for
	use, drain       []string
}

// portBase looks for a row of ports as the script wants it, below those that the
// kernel gives away.
func portBase(t *testing.T) int {
	t.Helper()
	free := func(port int) bool {
		var config net.ListenConfig
		l, err := config.Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		return err == nil && l.Close() == nil
	}
candidates:
	for base := 20000; base < 30000; base += 100 {
		for n := range 3 {
			for port := base + 10*n; port < base+10*n+3; port++ {
				if !free(port) {
					continue candidates
				}
			}
		}
		return base
	}
	t.Fatal("no row of free ports")
	return 0
}

// command runs the script; it does not outlive the test.
func (s *script) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(s.t.Context(), filepath.Join("..", "..", "deploy", "cluster.sh"),
		append([]string{s.binary, s.dir}, args...)...)
	cmd.Env = append(cmd.Environ(), "PORT="+strconv.Itoa(s.port))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = process.StopWithin
	return cmd
}

// read notes the commands until the end of what the script prints: they stand behind
// a word that says what they are for, before what is explained.
func (s *script) read(lines *bufio.Scanner) {
	s.t.Helper()
	what := ""
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, "Ctrl-C stops") {
			return
		}
		if len(line) < 11 || !strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "  Node") {
			continue
		}
		if word := strings.TrimSpace(line[:11]); word != "" {
			what = word
		}
		typed, _, _ := strings.Cut(line[11:], "  ")
		switch what {
		case "use":
			s.use = append(s.use, typed)
		case "look":
			s.look = append(s.look, typed)
		case "kill":
			s.kill = append(s.kill, typed)
		case "rejoin":
			s.make = append(s.make, typed)
		case "drain":
			s.drain = append(s.drain, typed)
		default:
			s.t.Errorf("what is %q for?", line)
		}
	}
	s.t.Fatalf("the script ended: %v", lines.Err())
}

// all types commands and returns what the last one printed.
func (s *script) all(lines []string) (out string) {
	s.t.Helper()
	for _, line := range lines {
		out = s.shell.run(s.t, line)
	}
	return out
}

// again types the command that runs a node once more, and waits until it serves.
func (s *script) again(node string) {
	s.t.Helper()
	if len(s.make) != 1 {
		s.t.Fatalf("rejoin: %q", s.make)
	}
	out := strings.TrimSpace(s.shell.run(s.t, strings.ReplaceAll(s.make[0], "N=2", "N="+node)))
	n, made := strings.CutPrefix(out, "--make-- cluster-node N=")
	if !made || n != node {
		s.t.Fatalf("%s: %s", s.make[0], out)
	}
	cmd := s.command(n)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.nodes[n] = cmd
	number, _ := strconv.Atoi(n)
	eventually(s.t, "that node "+n+" serves", func() bool {
		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet,
			fmt.Sprintf("http://127.0.0.1:%d/readyz", s.port+10*(number-1)+1), nil)
		if err != nil {
			s.t.Fatal(err)
		}
		response, err := http.DefaultClient.Do(request)
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	})
}

// remembers makes sure that a node answers, by what a person would ask it.
func (s *script) remembers() {
	s.t.Helper()
	eventually(s.t, "an answer", func() bool {
		out, status := s.shell.try(s.t, s.use[2])
		return status == "0" && strings.Contains(out, "boiler")
	})
}

// TestClusterScript types what `make cluster` prints: three nodes are used, one is
// killed, comes back, is killed once more by the same line, comes back; another one
// is drained and stopped.
func TestClusterScript(t *testing.T) {
	if os.Getenv(runbooksEnv) == "" {
		t.Skip("make runbooks")
	}
	dir := t.TempDir()
	s := &script{
		t: t, binary: binary(t), dir: filepath.Join(dir, "data-cluster"), port: portBase(t),
		nodes: map[string]*exec.Cmd{},
	}
	cluster := s.command()
	out, err := cluster.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cluster.Stderr = t.Output()
	if err := cluster.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	s.read(lines)
	if len(s.use) != 3 || len(s.look) != 1 || len(s.kill) != 1 || len(s.drain) != 2 {
		t.Fatalf("it prints %q, %q, %q, %q", s.use, s.look, s.kill, s.drain)
	}
	s.shell = newShell(t, dir, "")
	s.shell.run(t, `make() { echo "--make-- $*"; }`) // what serves does not return: the test starts it

	s.all(s.use[:2])
	s.remembers()
	if status := s.all(s.look); !strings.Contains(status, "n1") || !strings.Contains(status, "n2") ||
		!strings.Contains(status, "n3") {
		t.Errorf("status: %s", status)
	}
	wait := strings.Replace(s.look[0], "cluster status", "cluster wait", 1)
	s.shell.run(t, wait)

	s.all(s.kill)
	s.remembers()
	s.again("2")
	s.shell.run(t, wait)
	s.all(s.kill)
	if err := s.nodes["2"].Wait(); err == nil || s.nodes["2"].ProcessState.ExitCode() != -1 {
		t.Errorf("the node that came back was not killed: %v", err)
	}
	s.remembers()
	s.again("2")
	s.shell.run(t, wait)

	running := strings.TrimSpace(s.shell.run(t, "cat "+filepath.Join(s.dir, "n3", "PID")))
	s.all(s.drain)
	eventually(t, "the end of the drained node", func() bool {
		_, status := s.shell.try(t, "kill -0 "+running+" 2>/dev/null")
		return status != "0"
	})
	s.again("3")
	s.remembers()
	s.shell.run(t, wait)
	for n, cmd := range s.nodes {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("node %s: %v", n, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("node %s: %v", n, err)
		}
	}
	if err := cluster.Process.Signal(syscall.SIGINT); err != nil {
		t.Error(err)
	}
	stopped := false
	for lines.Scan() {
		stopped = stopped || lines.Text() == "stopped"
	}
	if err := cluster.Wait(); err != nil || !stopped {
		t.Errorf("the script ended with %v, and said it: %v", err, stopped)
	}
}
