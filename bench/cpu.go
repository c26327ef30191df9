package main

import (
	"io"
	"syscall"
	"time"
)

// ownCPU is the processor time of this process so far.
func ownCPU() (time.Duration, error) {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0, err
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), nil
}

// maxText bounds the one page that is read as text.
const maxText = 4 << 20

func copyText(into io.Writer, from io.Reader) (int64, error) {
	return io.Copy(into, io.LimitReader(from, maxText))
}
