package operator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/pprof"
	"runtime/trace"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"orgmem/actors/tenant"
	"orgmem/proto/clock"
)

// Profiles say where the time and the memory of this process go, as `go tool pprof` and
// `go tool trace` read them. They name functions of the program, and hold nothing of what
// is stored.

const (
	// profileSeconds is how long the processor is watched unless the query says otherwise,
	// and maxProfileSeconds how long it may be: the answer is still within the time of a request.
	profileSeconds, maxProfileSeconds = 5, 20
	// maxProfileBytes bounds an answer. The largest is a trace of a busy node: some
	// megabytes a second.
	maxProfileBytes = 32 << 20
)

// The profiles that take time, and those that tell of now or since the start.
const (
	profileCPU   = "profile"
	profileTrace = "trace"
)

var profilesOfNow = []string{"allocs", "goroutine", "heap", "threadcreate"}

// errProfiling refuses a second profile at the same time: the runtime takes one.
var errProfiling = fmt.Errorf("%w: another profile is being taken", tenant.ErrConflict)

// errProfileSize ends a profile that is larger than an answer may be.
var errProfileSize = errors.New("larger than an answer may be")

var profileRoutes = []Route{{
	Method: http.MethodGet, Path: "/debug/pprof/{profile}", status: http.StatusOK, query: []string{"seconds"},
	handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
		return s.profiler.take(ctx, s.edge.Cfg.Clock, path.ByName("profile"), path.ByName("seconds"))
	},
}}

// profiler takes one profile at a time of the process.
type profiler struct{ busy sync.Mutex }

// take returns a profile. seconds is how long the processor is watched, empty for the
// default; the profiles of now take none.
func (p *profiler) take(ctx context.Context, clk clock.Clock, name, seconds string) (file, error) {
	watched := name == profileCPU || name == profileTrace
	span := profileSeconds * time.Second
	switch {
	case !watched && !slices.Contains(profilesOfNow, name):
		return file{}, fmt.Errorf("%w: profile: there are %s, %s and %s", tenant.ErrInvalid,
			strings.Join(profilesOfNow, ", "), profileCPU, profileTrace)
	case !watched && seconds != "":
		return file{}, fmt.Errorf("%w: seconds: %s tells of now, and takes none", tenant.ErrInvalid, name)
	case seconds != "":
		n, err := strconv.Atoi(seconds)
		if err != nil || n < 1 || n > maxProfileSeconds {
			return file{}, fmt.Errorf("%w: seconds: must be 1 to %d", tenant.ErrInvalid, maxProfileSeconds)
		}
		span = time.Duration(n) * time.Second
	}
	if !p.busy.TryLock() {
		return file{}, errProfiling
	}
	defer p.busy.Unlock()
	out := &bounded{left: maxProfileBytes}
	var err error
	switch {
	case !watched:
		err = pprof.Lookup(name).WriteTo(out, 0)
	case name == profileCPU:
		err = watch(ctx, clk, span, out, pprof.StartCPUProfile, pprof.StopCPUProfile)
	default:
		err = watch(ctx, clk, span, out, trace.Start, trace.Stop)
	}
	if out.over {
		err = fmt.Errorf("%w: seconds: the %s is %w of %d MiB; ask for fewer", tenant.ErrInvalid, name, errProfileSize,
			maxProfileBytes>>20)
	}
	return file{media: "application/octet-stream", body: out.Bytes()}, err
}

// watch writes to out what the runtime tells for a while, or until ctx is over.
func watch(
	ctx context.Context, clk clock.Clock, span time.Duration, out io.Writer, start func(io.Writer) error, stop func(),
) error {
	if err := start(out); err != nil {
		return errors.Join(errProfiling, err) // somebody in the process takes one already
	}
	defer stop()
	return clock.Wait(ctx, clk, span)
}

// bounded takes bytes until it is full.
type bounded struct {
	bytes.Buffer
	left int
	over bool
}

// Write implements io.Writer.
func (b *bounded) Write(p []byte) (int, error) {
	if len(p) > b.left {
		b.over = true
		return 0, errProfileSize
	}
	b.left -= len(p)
	return b.Buffer.Write(p) //nolint:wrapcheck // a buffer does not fail
}

// file is an answer that is no JSON.
type file struct {
	media string
	body  []byte
}
