package importer

import (
	"context"
	"crypto/rand"
	"errors"

	"orgmem/cmd/orgmem/internal/client"
	pb "orgmem/proto"
)

// Bounds of a batch, for who makes one.
const (
	BatchItems = batchItems
	BatchBytes = batchBytes
	InFlight   = inFlight
	MaxItem    = maxItemBytes
)

// Outcome is what became of an item: its node and a status (proto.ItemCreated and others),
// or the reason why the service did not take it.
type Outcome struct {
	Node, Status, Reason string
}

// Deliver sends items as one batch, waits until the service has worked them off, and says
// what became of each. A batch that is refused for its content is halved until the item at
// fault is alone. It uses the service, the clock and the source of chance of the options.
func Deliver(ctx context.Context, o Options, items []client.Item) ([]Outcome, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	key, err := newKey(o.Random)
	if err != nil {
		return nil, err
	}
	job, err := o.Service.IngestBatch(ctx, items, key)
	if p, refused := refusal(err); refused {
		if len(items) == 1 {
			return []Outcome{{Reason: p.Error()}}, nil
		}
		half := len(items) / 2
		first, err := Deliver(ctx, o, items[:half])
		if err != nil {
			return nil, err
		}
		second, err := Deliver(ctx, o, items[half:])
		return append(first, second...), err
	}
	if err != nil {
		return nil, err
	}
	done, err := waitFor(ctx, o, job, func(int) {})
	if err != nil {
		return nil, err
	}
	all := make([]Outcome, len(items))
	by := outcomes(done)
	for i := range all {
		item, ok := by[i]
		switch {
		case !ok:
			all[i].Reason = endOf(done)
		case item.Status == pb.ItemFailed:
			all[i].Reason = itemError(item.Error)
		default:
			all[i] = Outcome{Node: item.NodeID, Status: item.Status}
		}
	}
	return all, nil
}

// refusal is the service's word that it does not take what a batch holds.
func refusal(err error) (*client.Problem, bool) {
	p, ok := errors.AsType[*client.Problem](err)
	return p, ok && (p.Status == 422 || p.Status == 413 || p.Status == 400)
}

// endOf says how a job ended that says nothing of an item.
func endOf(job client.Job) string {
	end := "the job ended as " + job.Status
	if job.Error != nil {
		end += ": " + job.Error.Detail
	}
	return end
}
