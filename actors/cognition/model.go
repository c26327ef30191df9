package cognition

import (
	"context"
	"errors"
	"sync"

	"orgmem/actors/llm"
)

// Where a language model is configured, it words what a cycle has found, and judges relations (relations.go). What it
// does not answer, or not in the form that it was asked for, stays as it is.

// ask puts a question to the model. Its context ends with the node, and when the cycle is cancelled: that does not wait
// for an answer.
func (m *cognitionActor) ask(question func(ctx context.Context, model *llm.Client) error) error {
	ctx, cancel := context.WithCancel(m.org.System.Lifetime)
	answered := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-m.stop:
		case <-m.current.quit:
		case <-answered:
		}
		cancel()
	})
	err := question(ctx, m.org.System.Config.LLM)
	close(answered)
	watch.Wait()
	return err
}

// unanswered logs why the model did not help, unless that is by design.
func (m *cognitionActor) unanswered(what string, err error) {
	if !errors.Is(err, llm.ErrBudget) && !errors.Is(err, llm.ErrOpen) && !errors.Is(err, context.Canceled) {
		m.org.System.Log.Warn("the language model did not answer; its help is done without", "org", m.org.ID.String(),
			"for", what, "err", err)
	}
}
