package actors

import (
	"context"
	"errors"
	"slices"

	"orgmem/actors/llm"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Where a language model is configured, it words what a cycle has found. What it
// does not answer, or not in the form that it was asked for, stays as it is.

const (
	// maxRefined bounds the domains that one cycle has worded, the largest.
	maxRefined = 40
	// maxTopicTitles bounds the titles by which the model learns of one.
	maxTopicTitles = 8
	// maxReworded bounds the contradictions that one cycle has worded: a call each.
	maxReworded = 10
)

// asking is the context of a question to the model, which ends with the node.
func (c *cycle) asking() context.Context { return c.org.sys.ctx }

// unanswered notes why the model did not help, where that is not by design.
func (c *cycle) unanswered(what string, err error) {
	if !errors.Is(err, llm.ErrBudget) && !errors.Is(err, llm.ErrOpen) {
		c.org.sys.log.Warn("the language model did not answer; its help is done without", "org", c.org.id.String(), "for", what, "err", err)
	}
}

// refineLabels has the labels of domains worded whose keywords are new.
func (c *cycle) refineLabels(old map[string]*pb.Domain) {
	if c.org.sys.cfg.LLM == nil {
		return
	}
	var topics []llm.Topic
	var of []*namedDomain
	for i := range c.found {
		d := &c.found[i]
		if was := old[d.id.String()]; was.GetRefined() && slices.Equal(was.GetKeywords(), d.keywords) {
			d.label, d.refined = was.GetLabel(), true
			continue
		}
		if len(d.keywords) == 0 || len(topics) == maxRefined {
			continue
		}
		t := llm.Topic{Keywords: d.keywords}
		for _, i := range d.top[:min(len(d.top), maxTopicTitles)] {
			t.Titles = append(t.Titles, oneLine(c.nodes[i].title))
		}
		topics, of = append(topics, t), append(of, d)
	}
	if len(topics) == 0 {
		return
	}
	labels, err := c.org.sys.cfg.LLM.Labels(c.asking(), c.org.id, topics)
	if err != nil {
		c.unanswered("labels", err)
		return
	}
	for i, label := range labels {
		of[i].label, of[i].refined = label, true
	}
}

// reworded has the explanation of a contradiction worded that is not on record.
func (c *cycle) reworded(x clash) clash {
	if c.org.sys.cfg.LLM == nil || c.worded == maxReworded {
		return x
	}
	a, b := c.nodes[x.a.node].id, c.nodes[x.b.node].id
	id := c.part.derivedID("contradiction", string(min(a, b)), string(max(a, b)))
	known := false
	texts := map[uint64]string{x.a.seq: "", x.b.seq: ""}
	err := c.org.withStore(func(st *storage.Store) (err error) {
		if _, known, err = st.GetRaw(c.part.space.Key(storage.TableDerivedByNode, storage.Str(a), storage.ID16(id))); err != nil {
			return err
		}
		for seq := range texts {
			chunk := &pb.Chunk{}
			if _, err := st.Get(c.part.space.Key(storage.TableChunk, storage.U64(seq)), chunk); err != nil {
				return err
			}
			texts[seq] = chunk.GetText()
		}
		return nil
	})
	if err != nil || known || texts[x.a.seq] == "" || texts[x.b.seq] == "" {
		return x // an error will come again where it matters
	}
	c.worded++
	said, err := c.org.sys.cfg.LLM.Explain(c.asking(), c.org.id, texts[x.a.seq], texts[x.b.seq], string(x.finding.Kind)+": "+x.finding.Explanation)
	if err != nil {
		c.unanswered("an explanation", err)
		return x
	}
	x.finding.Explanation = said
	return x
}
