package subject

import (
	"errors"

	"orgmem/actors/graph"
	"orgmem/actors/node"
	"orgmem/actors/tenant"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// tagBytes is how many bytes of texts one CPU task tags, unless one stretch is longer: as long as embedding a batch
// takes.
const tagBytes = 6 << 10

// stretch is a part of an item's text that is tagged for itself.
type stretch struct {
	item int
	at   text.Span
}

// reads reports whether what an item's text says is to be read.
func (w *worker) reads(it *graph.Prepared) bool {
	return (!it.Known || it.Relearn) && !it.Unread && !w.org.System.Config.WithoutDerivation
}

// tag has the reader tag the texts that are to be read, once each, on the CPU workers. It calls goOn before each task
// and within, and ends with its error. A text that cannot be tagged is read by the rules alone.
func (w *worker) tag(items []graph.Prepared, goOn func() error) error {
	r := w.org.System.Config.Reader
	if r == nil || !r.CanTag() {
		return nil
	}
	var batches [][]stretch
	size := tagBytes
	for i := range items {
		if !w.reads(&items[i]) {
			continue
		}
		for _, at := range reader.Stretches(items[i].GetItem().GetContent()) {
			if size += at.End - at.Start; size > tagBytes {
				batches, size = append(batches, nil), at.End-at.Start
			}
			last := len(batches) - 1
			batches[last] = append(batches[last], stretch{i, at})
		}
	}
	tagged := make([][]reader.Tagged, len(batches))
	tasks := make([]func(int) error, len(batches))
	for b, batch := range batches {
		tasks[b] = func(worker int) (err error) {
			own := &w.org.System.Computers[worker].Comparer
			if own.Pairs == nil {
				own.Pairs = r.NewWorker()
			}
			texts := make([]string, len(batch))
			for i, x := range batch {
				texts[i] = items[x.item].GetItem().GetContent()[x.at.Start:x.at.End]
			}
			tagged[b], err = own.Pairs.Tags(texts, goOn)
			return err
		}
	}
	failed := map[int]bool{}
	for b, err := range w.org.System.CPU.Foreground(w.org.ID, tasks) {
		if errors.Is(err, tenant.ErrCancelled) || errors.Is(err, node.ErrClosing) {
			return err
		}
		for i, x := range batches[b] {
			it := &items[x.item]
			if err != nil && !failed[x.item] {
				failed[x.item] = true
				w.org.System.Log.Error("a text is read by the rules alone", "org", w.org.ID.String(),
					"job", pb.JobID(it.GetJob()).String(), "err", err)
			}
			if failed[x.item] {
				it.Tagged = nil
				continue
			}
			if it.Tagged == nil {
				it.Tagged = &reader.Tagged{}
			}
			it.Tagged.Append(tagged[b][i], x.at.Start)
		}
	}
	return nil
}
