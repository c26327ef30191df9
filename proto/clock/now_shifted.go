//go:build shifted

package clock

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// ShiftEnv names a file of eight bytes, a signed number in the machine's order of
// bytes: by so many seconds the time of day is off. It may change at any moment.
const ShiftEnv = "ORGMEM_CLOCK_SHIFT_FILE"

// secondsAt is where package time keeps the seconds in the wall word of a time that
// has a monotonic reading, too (time.go: 1 bit, 33 bits of seconds, 30 of nanoseconds).
const secondsAt = 30

// now is the machine's time with another time of day, in a build that is never
// shipped. Nothing else lets a test set the clock of one process: the machine has one
// time of day, and a time namespace moves the monotonic clock only. Here it is the
// other way round, as where somebody sets the clock: what is measured between two
// times stays right. time.Time.Add would move both.
func now() time.Time {
	t := time.Now()
	seconds := shift().Load()
	(*struct{ wall uint64 })(unsafe.Pointer(&t)).wall += uint64(seconds) << secondsAt
	return t
}

// shift is the file, mapped for as long as the process lives.
var shift = sync.OnceValue(func() *atomic.Int64 {
	name := os.Getenv(ShiftEnv)
	if name == "" {
		return new(atomic.Int64)
	}
	f, err := os.Open(name)
	if err != nil {
		panic(fmt.Sprintf("clock: %s: %v", ShiftEnv, err))
	}
	defer f.Close()
	mapped, err := syscall.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(atomic.Int64{})), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		panic(fmt.Sprintf("clock: %s: %v", ShiftEnv, err))
	}
	return (*atomic.Int64)(unsafe.Pointer(unsafe.SliceData(mapped)))
})
