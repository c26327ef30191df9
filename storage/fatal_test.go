package storage_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// openBroken opens a node that is going to be stopped by Fatal. It is not
// closed: its goroutines are parked, as the process would be gone.
func openBroken(t *testing.T, disk *storagetest.Disk) (*storage.Node, <-chan string) {
	t.Helper()
	o, fatal := disk.Options()
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return n, fatal
}

// acks collects what was acknowledged, by group and index.
type acks struct {
	mu  sync.Mutex
	got map[uint32]uint64
}

func (a *acks) add(group uint32, index uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.got[group] = max(a.got[group], index)
}

// The Logger.Fatalf trap: after a failed fsync Pebble's commit returns nil. For
// a failure at each of many positions, with several groups appending at once,
// the node stops and everything that was acknowledged is on the disk that the
// power failure leaves.
func TestNothingIsAcknowledgedAfterAFailedSync(t *testing.T) {
	for position := 1; position <= 40; position++ {
		disk := storagetest.NewDisk()
		n, fatal := openBroken(t, disk)
		var left atomic.Int64
		left.Store(int64(position))
		disk.FailSync(func(path string) bool { return strings.HasSuffix(path, ".log") && left.Add(-1) < 0 })
		acked := acks{got: map[uint32]uint64{}}
		for g := range uint32(4) {
			go func() { // parked when the node stops
				for i := uint64(1); ; i++ {
					if err := n.Log().Append(g, []storage.LogEntry{{Index: i, Data: []byte("x")}}); err != nil {
						return
					}
					acked.add(g, i)
				}
			}()
		}
		if msg := <-fatal; !strings.Contains(msg, "sync failed") {
			t.Fatalf("position %d: stopped for %q", position, msg)
		}
		if !n.Stats().Stopping {
			t.Error("the metrics do not say that the process is stopping")
		}
		after := disk.Crash(0, 0).Node(t)
		acked.mu.Lock()
		for g, last := range acked.got {
			if _, have, err := after.Log().Bounds(g); err != nil || have < last {
				t.Errorf("position %d, group %d: acknowledged up to %d, on disk up to %d (%v)", position, g, last, have, err)
			}
		}
		acked.mu.Unlock()
	}
}

// A failed write of the log, not only a failed sync, stops the node.
func TestFailedLogWriteStops(t *testing.T) {
	disk := storagetest.NewDisk()
	n, fatal := openBroken(t, disk)
	disk.FailWrite(func(path string) bool { return strings.HasSuffix(path, ".log") })
	returned := make(chan error, 1)
	go func() { returned <- n.Log().Append(1, []storage.LogEntry{{Index: 1}}) }()
	select {
	case <-fatal:
	case err := <-returned:
		t.Fatalf("append returned %v", err)
	}
}

// A store's flush that cannot be synced must not be retried into a table that
// may lack bytes, and the log must not be truncated on its word.
func TestFailedFlushStops(t *testing.T) {
	for _, what := range []string{".sst", "MANIFEST", "sync of the directory"} {
		t.Run(what, func(t *testing.T) {
			disk := storagetest.NewDisk()
			n, fatal := openBroken(t, disk)
			h := acquire(t, n, store(1))
			put(t, h, 1, "a", "1")
			disk.FailSync(func(path string) bool {
				if !strings.Contains(path, "stores") {
					return false
				}
				base := filepath.Base(path)
				return strings.Contains(base, what) ||
					what == "sync of the directory" && !strings.Contains(base, ".") && !strings.Contains(base, "MANIFEST")
			})
			returned := make(chan error, 1)
			go func() { returned <- n.FlushStores(context.Background(), nil) }()
			select {
			case <-fatal:
			case err := <-returned:
				t.Fatalf("flush returned %v", err)
			}
		})
	}
	t.Run("write", func(t *testing.T) {
		disk := storagetest.NewDisk()
		n, fatal := openBroken(t, disk)
		h := acquire(t, n, store(1))
		put(t, h, 1, "a", "1")
		disk.FailWrite(func(path string) bool { return strings.HasSuffix(path, ".sst") })
		go func() { _ = n.FlushStores(context.Background(), nil) }()
		<-fatal
	})
}

// The real thing: a process whose disk fails leaves with code 70, in spite of a
// recover around every goroutine, and all it acknowledged is there afterwards.
func TestProcessExitsOnFailedSync(t *testing.T) {
	if dir := os.Getenv("ORGMEM_TEST_FSYNC_DIR"); dir != "" {
		failingProcess(dir)
		return
	}
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcessExitsOnFailedSync$")
	cmd.Env = append(os.Environ(), "ORGMEM_TEST_FSYNC_DIR="+dir)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 70 {
		t.Fatalf("child ended with %v, want exit code 70\n%s%s", err, out, stderr.Bytes())
	}
	last := uint64(0)
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "acknowledged %d", &last); err != nil {
			t.Fatalf("child said %q", lines.Text())
		}
	}
	n, err := storage.Open(storage.Options{Dir: dir, Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if _, have, err := n.Log().Bounds(1); err != nil || have < last || last < 5 {
		t.Errorf("acknowledged %d, on disk %d, %v", last, have, err)
	}
}

func failingProcess(dir string) {
	var armed atomic.Bool
	disk := errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if armed.Load() && strings.HasSuffix(op.Path, ".log") &&
			(op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData || op.Kind == errorfs.OpFileSyncTo) {
			return syscall.EIO
		}
		return nil
	}))
	n, err := storage.Open(storage.Options{Dir: dir, FS: disk, Clock: clock.Real(), MinFreeBytes: -1, BallastBytes: -1})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer func() { _ = recover() }() // what supervision does to a panic
	for i := uint64(1); i <= 300; i++ {
		armed.Store(i > 10)
		if err := n.Log().Append(1, []storage.LogEntry{{Index: i}}); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Printf("acknowledged %d\n", i)
	}
	os.Exit(0)
}

// A log that the disk has no place for, once the ballast is gone as well, stops the
// process: Pebble reports it by Logger.Fatalf, and one that returned would let Append
// acknowledge what is nowhere.
func TestALogWithoutPlaceStopsTheProcess(t *testing.T) {
	disk := storagetest.NewDisk()
	o, fatal := disk.Options()
	o.MinFreeBytes, o.BallastBytes = -1, -1
	n, err := storage.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	disk.Capacity(disk.Used() + 1000)
	appended := make(chan error, 1)
	go func() {
		appended <- n.Log().Append(1, []storage.LogEntry{{Index: 1, Data: randomBytes(1, 200_000)}})
	}()
	select {
	case why := <-fatal:
		if !strings.Contains(why, "no space left") {
			t.Errorf("stopped for %q", why)
		}
	case err := <-appended:
		t.Fatalf("the append returned %v", err)
	}
	select {
	case err := <-appended:
		t.Errorf("behind the stop the append returned %v", err)
	default:
	}
}
