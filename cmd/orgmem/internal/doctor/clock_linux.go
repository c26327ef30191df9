package doctor

import "golang.org/x/sys/unix"

// unsynchronised is STA_UNSYNC of adjtimex(2).
const unsynchronised = 0x40

// clockSynchronised asks the kernel whether a time service keeps its clock right; known is
// false where it does not tell.
func clockSynchronised() (synchronised, known bool) {
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil {
		return false, false
	}
	return t.Status&unsynchronised == 0, true
}
