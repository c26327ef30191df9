package tenant

import (
	"context"
	"sync"
	"time"

	"orgmem/proto/clock"
)

// lifecycle is the time that a System lives, for what works beside its actors.
type lifecycle struct {
	Clock           clock.Clock
	BaseContext     context.Context //nolint:containedctx // it never ends
	Lifetime        context.Context //nolint:containedctx // it ends when Close begins; for background work only
	EndLifetime     context.CancelFunc
	BackgroundTasks sync.WaitGroup
}

func newLifecycle(c clock.Clock) lifecycle {
	base := context.Background() //nolint:forbidigo // work that outlives the request that began it has no other parent
	lifetime, end := context.WithCancel(base)
	return lifecycle{Clock: c, BaseContext: base, Lifetime: lifetime, EndLifetime: end}
}

// Sleep waits, and reports false when Close began meanwhile.
func (l *lifecycle) Sleep(d time.Duration) bool {
	return clock.Wait(l.Lifetime, l.Clock, d) == nil
}

// RunInBackground runs f beside the actors. Its number is bounded by node.MaxCalls: each
// serves a call or an actor that waits for it.
func (l *lifecycle) RunInBackground(f func(context.Context)) {
	l.BackgroundTasks.Go(func() {
		ctx, cancel := context.WithTimeout(l.BaseContext, openTimeout)
		defer cancel()
		f(ctx)
	})
}
