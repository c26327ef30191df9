package tenant

import "orgmem/actors/commit"

// Continue resumes a call in the organization's mailbox, soon, once something that was done beside it is finished.
// The call fails where the activation has ended meanwhile. It may be called from any goroutine.
func Continue(o *Org, c *Call, f func()) {
	o.InMailbox(func() {
		if o.Retired {
			c.Fail(commit.ErrLost)
			return
		}
		f()
	})
}
