package cognition

import (
	"context"
	"errors"
	"slices"
	"sync"

	"orgmem/actors/llm"
	"orgmem/brain/cognition"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Where a language model is configured, it words what a cycle has found (and sees
// about relations, cycle_relations.go). What it does not answer, or not in the form
// that it was asked for, stays as it is.

const (
	// maxRefined bounds the domains that one cycle has worded, the largest.
	maxRefined = 40
	// maxTopicTitles bounds the titles by which the model learns of one.
	maxTopicTitles = 8
	// maxReworded bounds the contradictions that one cycle has worded: a call each.
	maxReworded = 10
)

// ask puts a question to the model. Its context ends with the node, and with the cycle:
// who cancels that does not wait for an answer.
func (c *cycle) ask(question func(ctx context.Context, model *llm.Client) error) error {
	ctx, cancel := context.WithCancel(c.org.System.Lifetime)
	answered := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-c.stop:
		case <-c.current.quit:
		case <-answered:
		}
		cancel()
	})
	err := question(ctx, c.org.System.Config.LLM)
	close(answered)
	watch.Wait()
	return err
}

// unanswered notes why the model did not help, where that is not by design.
func (c *cycle) unanswered(what string, err error) {
	if !errors.Is(err, llm.ErrBudget) && !errors.Is(err, llm.ErrOpen) && !errors.Is(err, context.Canceled) {
		c.org.System.Log.Warn("the language model did not answer; its help is done without", "org", c.org.ID.String(), "for",
			what, "err", err)
	}
}

// refineLabels has the labels of domains worded whose keywords are new.
func (c *cycle) refineLabels(old map[string]*pb.Domain) {
	if c.org.System.Config.LLM == nil {
		return
	}
	var topics []llm.Topic
	var of []*cognition.Domain
	for i := range c.found {
		d := &c.found[i]
		if was := old[d.ID.String()]; was.GetRefined() && slices.Equal(was.GetKeywords(), d.Keywords) {
			d.Label, d.Refined = was.GetLabel(), true
			continue
		}
		if len(d.Keywords) == 0 || len(topics) == maxRefined {
			continue
		}
		t := llm.Topic{Keywords: d.Keywords}
		for _, i := range d.Top[:min(len(d.Top), maxTopicTitles)] {
			t.Titles = append(t.Titles, text.OneLine(c.Nodes[i].Title))
		}
		topics, of = append(topics, t), append(of, d)
	}
	if len(topics) == 0 {
		return
	}
	var labels []string
	err := c.ask(func(ctx context.Context, model *llm.Client) (err error) {
		labels, err = model.Labels(ctx, c.org.ID, topics)
		return err
	})
	if err != nil {
		c.unanswered("labels", err)
		return
	}
	for i, label := range labels {
		of[i].Label, of[i].Refined = label, true
	}
}

// reworded has the explanation of a contradiction worded that is not on record.
func (c *cycle) reworded(x cognition.Clash) cognition.Clash {
	if c.org.System.Config.LLM == nil || c.worded == maxReworded {
		return x
	}
	a, b := c.Nodes[x.A.Node].ID, c.Nodes[x.B.Node].ID
	id := c.part.ContradictionID(a, b)
	known := false
	texts := map[uint64]string{x.A.Seq: "", x.B.Seq: ""}
	err := c.org.WithStore(func(st *storage.Store) (err error) {
		if _, known, err = st.GetRaw(c.part.Space.Key(storage.TableDerivedByNode, storage.Str(a),
			storage.ID16(id))); err != nil {
			return err
		}
		for seq := range texts {
			chunk := &pb.Chunk{}
			if _, err := st.Get(c.part.Space.Key(storage.TableChunk, storage.U64(seq)), chunk); err != nil {
				return err
			}
			texts[seq] = chunk.GetText()
		}
		return nil
	})
	if err != nil || known || texts[x.A.Seq] == "" || texts[x.B.Seq] == "" {
		return x // an error will come again where it matters
	}
	c.worded++
	said := ""
	err = c.ask(func(ctx context.Context, model *llm.Client) (err error) {
		said, err = model.Explain(ctx, c.org.ID, texts[x.A.Seq], texts[x.B.Seq], string(x.Finding.Kind)+": "+
			x.Finding.Explanation)
		return err
	})
	if err != nil {
		c.unanswered("an explanation", err)
		return x
	}
	x.Finding.Explanation = said
	return x
}
