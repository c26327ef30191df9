package process

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// ReadyWithin is how long a start may take before it counts as failed: far
	// more than the two seconds promised, since tests share the machine.
	ReadyWithin = 2 * time.Minute
	// StopWithin is how long a clean end may take before the child is killed.
	StopWithin = time.Minute
	// maxLog bounds what is kept of a child's standard error.
	maxLog = 1 << 20
)

// Build compiles the binary into dir, below the module's root, with the tags of the one that is shipped (Makefile).
func Build(ctx context.Context, dir string) (string, error) {
	path := filepath.Join(dir, "orgmem")
	//nolint:gosec // a test's own folder
	cmd := exec.CommandContext(ctx, "go", "build", "-tags", "nomsgpack", "-trimpath", "-o", path,
		"orgmem/cmd/orgmem")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// Options say what to start. Data is required.
type Options struct {
	Binary string
	Data   string
	Args   []string // further flags of serve
	Env    []string // further variables, NAME=value
	Prefix []string // a command that runs the binary, such as strace and its flags
}

// Greeting is what the child says once it is ready.
type Greeting struct {
	BaseURL     string `json:"baseUrl"`
	OperatorURL string `json:"operatorUrl"`
	OrgID       string `json:"orgId"`
	UserID      string `json:"userId"`
	APIKey      string `json:"apiKey"`
}

// Process is a running child. Its methods may be called from any goroutine.
type Process struct {
	Greeting
	// ReadyAfter is the time from the start to the greeting.
	ReadyAfter time.Duration

	cmd  *exec.Cmd
	log  *tail
	done chan struct{} // closed once the child has ended
	err  error         // set before done is closed
}

// ErrEnded says that the child ended before it was ready; the text holds its
// last words.
var ErrEnded = errors.New("orgmem ended")

// Start runs `serve --quickstart --json` and waits until it is ready. On an
// empty data directory the greeting holds the first key.
func Start(ctx context.Context, o Options) (*Process, error) {
	args := append([]string{}, o.Prefix...)
	args = append(args, o.Binary, "serve", "--json", "--quickstart", "--data", o.Data,
		"--listen", "127.0.0.1:0", "--operator-listen", "127.0.0.1:0")
	args = append(args, o.Args...)
	p := &Process{log: &tail{}, done: make(chan struct{})}
	//nolint:gosec // the binary under test and its arguments
	p.cmd = exec.CommandContext(ctx, args[0], args[1:]...)
	p.cmd.Env = append(cleanEnv(), o.Env...)
	p.cmd.Stderr = p.log
	p.cmd.WaitDelay = StopWithin // a grandchild must not hold us by an open pipe
	// A group of its own, so that a Prefix and what it runs die together; and
	// death with the parent, so that a test that is killed leaves nothing behind.
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start orgmem: %w", err)
	}
	greeted := make(chan error, 1)
	go func() { // ends with the child
		err := json.NewDecoder(out).Decode(&p.Greeting)
		p.ReadyAfter = time.Since(began)
		greeted <- err
		io.Copy(io.Discard, out) //nolint:errcheck // only keeps the pipe from filling
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	deadline := time.NewTimer(ReadyWithin)
	defer deadline.Stop()
	select {
	case err := <-greeted:
		if err != nil {
			<-p.done
			return p, fmt.Errorf("%w before it was ready: %w\n%s", ErrEnded, p.err, p.log)
		}
		return p, nil
	case <-deadline.C:
		p.Kill()
		return p, fmt.Errorf("orgmem was not ready within %v\n%s", ReadyWithin, p.log)
	}
}

// cleanEnv is the environment without the orgmem settings of the person who runs the tests.
func cleanEnv() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "ORGMEM_") {
			env = append(env, pair)
		}
	}
	return env
}

// Kill ends the child at once, as a power cut of the process would (kill -9),
// and waits.
func (p *Process) Kill() {
	select {
	case <-p.done:
		return // its number may be somebody else's by now
	default:
	}
	syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) //nolint:errcheck // it has ended already, then
	<-p.done
}

// Stop asks for a clean end and waits for it; the error says when it was none.
func (p *Process) Stop() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	deadline := time.NewTimer(StopWithin)
	defer deadline.Stop()
	select {
	case <-p.done:
		return p.exit()
	case <-deadline.C:
		p.Kill()
		return fmt.Errorf("orgmem did not stop within %v\n%s", StopWithin, p.log)
	}
}

// Done is closed once the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for the child's own end, and says how it ended.
func (p *Process) Wait() error {
	<-p.done
	return p.exit()
}

func (p *Process) exit() error {
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("orgmem ended: %w\n%s", p.err, p.log)
}

// Pid is the child's process id.
func (p *Process) Pid() int { return p.cmd.Process.Pid }

// Log is the last of what the child wrote to standard error.
func (p *Process) Log() string { return p.log.String() }

// Usage is what a process has used and holds.
type Usage struct {
	CPU time.Duration // user and system, of all threads, since it began
	RSS int64         // resident bytes
	// Peak is the most that was ever resident, or was since clear_refs of proc(5) was told
	// to forget it.
	Peak int64
}

// clockTick is USER_HZ, which is 100 on every Linux this runs on.
const clockTick = time.Second / 100

// Usage reads the child's figures from /proc.
func (p *Process) Usage() (Usage, error) {
	var u Usage
	dir := filepath.Join("/proc", strconv.Itoa(p.Pid()))
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return u, err
	}
	// The command's name stands in parentheses and may hold blanks.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const user, system = 11, 12 // fields 14 and 15 of proc(5), less the two before
	if len(fields) <= system {
		return u, fmt.Errorf("%s/stat has %d fields", dir, len(fields))
	}
	for _, i := range []int{user, system} {
		ticks, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return u, err
		}
		u.CPU += time.Duration(ticks) * clockTick
	}
	status, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return u, err
	}
	for line := range strings.Lines(string(status)) {
		name, rest, _ := strings.Cut(line, ":")
		bytes, wanted := map[string]*int64{"VmRSS": &u.RSS, "VmHWM": &u.Peak}[name]
		if !wanted {
			continue
		}
		kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
		if err != nil {
			return u, err
		}
		*bytes = kib << 10
	}
	return u, nil
}

// tail keeps the last maxLog bytes that were written.
type tail struct {
	mu  sync.Mutex
	buf []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = append(t.buf, p...)
	if len(t.buf) > 2*maxLog {
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-maxLog:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.buf)
}
