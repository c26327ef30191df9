package subject

import "time"

// IsDue reports whether what was put off until a time, in Unix milliseconds, is to be
// done now. It was put off for no longer than longest. Where it seems to be twice as
// far ahead the clock was put back since (or the wait made shorter): how much of it is
// over nobody knows, and to wait for that time again would be to wait for hours. Twice,
// because it may have been another node that put it off, by a clock of its own.
func IsDue(at, now int64, longest time.Duration) bool {
	return at <= now || at-now > 2*longest.Milliseconds()
}
