package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/storage/disk"
)

// Check is the outcome of one look.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

// Patient is what is examined.
type Patient struct {
	Server  config.Server
	Invalid error    // of config.Load; nil: valid
	Environ []string // to find misspelt variables
	Kernel  string   // name of the embedding kernel in use; empty: not known
	Now     time.Time
	Running bool // asked by the server itself: its own locks and ports are no finding
}

// maxLook bounds the one check that waits for somebody else.
const maxLook = 2 * time.Second

// Examine carries out all checks in a fixed order, and tells whether a server
// answers at the operator's address; that none does is no fault.
func Examine(ctx context.Context, p Patient) (checks []Check, serverAnswers bool) {
	checks = []Check{
		configuration(p), environment(p), directory(p), format(p), diskSpace(p), descriptors(p), processor(p), clockCheck(p),
		egressCheck(p),
	}
	if p.Running {
		return checks, true
	}
	operator, serverAnswers := operatorInterface(ctx, p.Server.OperatorListen)
	return append(checks,
		port("listen", p.Server.Listen, serverAnswers),
		port("operator-listen", p.Server.OperatorListen, serverAnswers),
		operator), serverAnswers
}

func configuration(p Patient) Check {
	if p.Invalid != nil {
		return Check{"configuration", false, strings.ReplaceAll(p.Invalid.Error(), "\n", "; ")}
	}
	return Check{"configuration", true, "valid"}
}

func environment(p Patient) Check {
	if unknown := config.UnknownEnv(p.Environ); len(unknown) > 0 {
		return Check{"environment", false, "no setting belongs to " + strings.Join(unknown, ", ")}
	}
	return Check{"environment", true, "no unknown ORGMEM_ variable"}
}

// egressCheck warns of exemptions from the rules of outbound addresses: they are
// right in a private deployment and a hole in a public one.
func egressCheck(p Patient) Check {
	const name = "egress"
	var exempt []string
	for _, c := range p.Server.EgressCIDRs {
		exempt = append(exempt, c.String())
	}
	for _, port := range p.Server.EgressPorts {
		exempt = append(exempt, fmt.Sprintf("port %d", port))
	}
	if p.Server.EgressCAFile != "" {
		if _, err := os.Stat(p.Server.EgressCAFile); err != nil {
			return Check{name, false, err.Error()}
		}
		exempt = append(exempt, "a certificate authority of your own")
	}
	if len(exempt) > 0 {
		return Check{name, false, "webhooks and connectors may also reach " + strings.Join(exempt, ", ") +
			": whoever may register one reaches it too"}
	}
	return Check{name, true, "webhooks and connectors reach public addresses only"}
}

func directory(p Patient) Check {
	const name = "data directory"
	info, err := os.Stat(p.Server.Data)
	if errors.Is(err, fs.ErrNotExist) {
		parent := filepath.Dir(filepath.Clean(p.Server.Data))
		if err := unix.Access(parent, unix.W_OK|unix.X_OK); err != nil {
			return Check{name, false, fmt.Sprintf("%s does not exist and cannot be made: %s: %v", p.Server.Data, parent, err)}
		}
		return Check{name, true, p.Server.Data + " does not exist yet; it will be made"}
	}
	if err != nil {
		return Check{name, false, err.Error()}
	}
	if !info.IsDir() {
		return Check{name, false, p.Server.Data + " is not a directory"}
	}
	if err := unix.Access(p.Server.Data, unix.R_OK|unix.W_OK|unix.X_OK); err != nil {
		return Check{name, false, fmt.Sprintf("%s: %v", p.Server.Data, err)}
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return Check{name, false, fmt.Sprintf("%s has mode %#o, others can look into it: chmod 700", p.Server.Data, mode)}
	}
	for _, secret := range []string{config.OperatorToken, "quickstart.key"} {
		if info, err := os.Stat(filepath.Join(p.Server.Data, secret)); err == nil && info.Mode().Perm()&0o077 != 0 {
			return Check{name, false, fmt.Sprintf("%s has mode %#o, others can read it: chmod 600", secret, info.Mode().Perm())}
		}
	}
	return Check{name, true, p.Server.Data + ", readable and writable by its owner only"}
}

// knownFormat is the newest format of the data directory this binary writes;
// storage refuses a newer one.
const knownFormat = "orgmem data format 1"

func format(p Patient) Check {
	raw, err := os.ReadFile(filepath.Join(p.Server.Data, "VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return Check{"data format", true, "no data yet"}
	}
	if err != nil {
		return Check{"data format", false, err.Error()}
	}
	if got := strings.TrimSpace(string(raw)); got != knownFormat {
		return Check{"data format", false, fmt.Sprintf("%q, this version knows %q", got, knownFormat)}
	}
	return Check{"data format", true, knownFormat}
}

func diskSpace(p Patient) Check {
	var stat unix.Statfs_t
	at := p.Server.Data
	for { // the directory may not exist yet
		err := unix.Statfs(at, &stat)
		if err == nil {
			break
		}
		parent := filepath.Dir(at)
		if !errors.Is(err, fs.ErrNotExist) || parent == at {
			return Check{"disk space", false, fmt.Sprintf("%s: %v", at, err)}
		}
		at = parent
	}
	free := int64(stat.Bavail) * int64(stat.Bsize) // of another type on each system
	detail := fmt.Sprintf("%d MiB free, writes stop below %d MiB", free>>20, p.Server.MinFreeBytes>>20)
	return Check{"disk space", free > p.Server.MinFreeBytes+p.Server.BallastBytes, detail}
}

func descriptors(p Patient) Check {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return Check{"open files", false, err.Error()}
	}
	// The server raises the soft limit to the hard one itself.
	if err := disk.CheckFiles(limit.Max); err != nil {
		return Check{"open files", false, err.Error()}
	}
	serves := fmt.Sprintf("%d connections may be open at a time", disk.Connections(limit.Max, p.Server.MaxOpenStores))
	need := disk.Descriptors(p.Server.MaxOpenStores)
	if limit.Max < need {
		return Check{
			"open files", false,
			fmt.Sprintf("the limit is %d, %d open stores want %d, and %s: raise it (ulimit -n, LimitNOFILE) or lower "+
				"max-open-stores", limit.Max, p.Server.MaxOpenStores, need, serves),
		}
	}
	return Check{"open files", true, fmt.Sprintf("limit %d, wanted %d; %s", limit.Max, need, serves)}
}

func processor(p Patient) Check {
	if p.Kernel == "" {
		return Check{"processor", false, "the embedding model could not be loaded"}
	}
	if p.Kernel == "portable" {
		return Check{"processor", true, "no AVX2: embedding runs the portable kernel, several times slower"}
	}
	return Check{"processor", true, "embedding kernel " + p.Kernel}
}

// epoch is before any build of this program: a clock that shows less was never
// set, and every record would bear a wrong date for ever.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func clockCheck(p Patient) Check {
	if p.Now.Before(epoch) {
		return Check{"clock", false, "shows " + p.Now.UTC().Format(time.RFC3339) + ", which is in the past: set it"}
	}
	synchronised, known := clockSynchronised()
	if !known {
		return Check{"clock", true, "plausible; whether it is synchronised cannot be seen here"}
	}
	if !synchronised {
		return Check{"clock", true, "plausible, but the kernel does not know it as synchronised (no time service?)"}
	}
	return Check{"clock", true, "synchronised"}
}

func port(name, address string, alive bool) Check {
	listener, err := net.Listen("tcp", address) //nolint:noctx // binding waits for nothing
	if err == nil {
		return Check{name, listener.Close() == nil, address + " is free"}
	}
	if alive && errors.Is(err, syscall.EADDRINUSE) {
		return Check{name, true, address + " is in use, and a server is running"}
	}
	return Check{name, false, fmt.Sprintf("%s: %v", address, err)}
}

// operatorInterface asks whether a server is running.
func operatorInterface(ctx context.Context, address string) (Check, bool) {
	ctx, cancel := context.WithTimeout(ctx, maxLook)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return Check{"operator interface", false, err.Error()}, false
	}
	response, err := http.DefaultClient.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return Check{"operator interface", true, "no server is running at " + address}, false
	}
	if err != nil {
		return Check{"operator interface", false, err.Error()}, false
	}
	response.Body.Close() //nolint:errcheck // nothing was written
	if response.StatusCode != http.StatusOK {
		return Check{"operator interface", false, fmt.Sprintf("%s answers %s", address, response.Status)}, false
	}
	return Check{"operator interface", true, "a server answers at " + address}, true
}
