package subject

import "time"

// IsDue reports whether what was put off until a time, in Unix milliseconds, is to be done now. It was put off for no
// longer than longest. A time that is more than twice that far ahead means that the clock was put back since, or that
// the wait was made shorter; waiting for it could take hours, so it counts as due. Twice, because another node may have
// put it off by its own clock.
func IsDue(at, now int64, longest time.Duration) bool {
	return at <= now || at-now > 2*longest.Milliseconds()
}
