package search

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"orgmem/actors/graph"
	"orgmem/actors/llm"
	"orgmem/actors/node"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/answer"
	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
	"orgmem/storage"
)

// Where a language model is configured, it words the answers of the brain out of the
// passages that they cite. The answer in the passages' own words is there before, and
// is what goes out where the model does not help in time. What it says is taken
// sentence by sentence, each only as far as the passages that it names say it
// (brain/grounding): neither what the model knows otherwise nor what a passage talks it
// into stands in an answer.

const (
	// PhraseTimeout is how long an answer waits for the model: somebody waits for the
	// answer.
	PhraseTimeout = 10 * time.Second
	// PhraseReserve is what is left of a request's time for what comes behind.
	PhraseReserve = 2 * time.Second
	// MaxConcurrentPhrasings bounds the answers of a node that wait for the model at a time;
	// others go out in the passages' words. Each is a request under way, of which
	// node.PressureFrom hold ingestion back though none of them works.
	MaxConcurrentPhrasings = node.PressureFrom / 2
)

// draft is an answer in the passages' own words, and what it takes to say it in others.
type draft struct {
	*pb.BrainAnswered

	query  string
	hits   []*pb.Hit
	parts  []*partition.Ref
	manner *voice.Profile // nil: it is not known
	words  int            // the most that the answer may have
}

// reply answers with the draft, and says of it and of its citations what does not stand.
func (d *draft) reply(st *storage.Store) (*pb.Reply, error) {
	if err := d.markStale(st); err != nil {
		return nil, err
	}
	return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Answered{Answered: d.BrainAnswered}}), nil
}

// phrase has a draft worded and then answers the call; false: it does not, since there
// is no model or nothing to word, nobody has the time, or quality mode fast declines
// to wait.
func (o *Module) phrase(c *tenant.Call, st *storage.Store, op *pb.BrainAnswer, d *draft) (bool, error) {
	sys := o.System
	if sys.Config.LLM == nil || len(d.GetCitations()) == 0 {
		return false, nil
	}
	if s, err := c.Org.Residents.Settings(st, c.Part); err != nil || s.Quality == partition.QualityFast {
		return false, err
	}
	wait := PhraseTimeout
	if until := c.Env.GetDeadlineMs(); until > 0 {
		wait = min(wait, time.Duration(until-clock.Millis(sys.Clock.Now()))*time.Millisecond-PhraseReserve)
	}
	if wait <= 0 {
		return false, nil
	}
	select {
	case o.Node.Phrasing <- struct{}{}:
	default:
		return false, nil
	}
	sys.BackgroundTasks.Go(func() { // ends with the wait, or with the node
		defer func() {
			if r := recover(); r != nil {
				c.Fail(node.PanicError("phrasing", r))
			}
		}()
		said := o.phrasing(d, wait, c.Trace())
		tenant.Continue(o.Org, c, func() {
			o.ReadWide(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
				stands, err := d.stands(st)
				if err != nil {
					return nil, err
				}
				if !stands { // what it rests on has been forgotten, or edited, meanwhile
					c.ReadUnits, c.EmbedTokens = 0, 0
					again, err := o.draftAnswer(c, st, op, worker)
					if err != nil {
						return nil, err
					}
					return again.reply(st)
				}
				rd := &o.Node.Workers[worker]
				d.take(said, rd.Reader, o.follows(c, rd))
				return d.reply(st)
			})
		})
	})
	return true, nil
}

// phrasing asks the model, in whose place it gives nothing where that does not answer.
func (o *Module) phrasing(d *draft, wait time.Duration, trace *pb.TraceContext) []llm.Sentence {
	defer func() { <-o.Node.Phrasing }()
	ctx, cancel := context.WithCancelCause(tracing.Into(o.System.Lifetime, trace))
	defer cancel(nil)
	late := context.Canceled
	if wait == PhraseTimeout { // a request in a hurry says nothing of the endpoint
		late = llm.ErrSlow
	}
	defer o.System.Clock.AfterFunc(wait, func() { cancel(late) }).Stop()
	q := llm.Question{Text: d.query, Words: d.words}
	for i, h := range d.hits {
		p := llm.Passage{Number: i + 1, Title: text.OneLine(h.GetTitle()), Text: h.GetChunk()}
		if strings.HasPrefix(p.Text, strings.TrimSuffix(p.Title, "…")) { // its own beginning, for want of a title
			p.Title = ""
		}
		q.Passages = append(q.Passages, p)
	}
	if d.manner != nil {
		q.Style = voice.Hint(*d.manner)
	}
	said, err := o.System.Config.LLM.Answer(ctx, o.ID, q)
	if err != nil && !errors.Is(err, llm.ErrBudget) && !errors.Is(err, llm.ErrOpen) && o.System.Lifetime.Err() == nil {
		o.System.Log.Warn("the language model did not answer; its help is done without", "org", o.ID.String(), "for",
			"an answer", "err", err)
	}
	return said
}

// stands reports whether all passages of a draft still are what they were.
func (d *draft) stands(r storage.Reader) (bool, error) {
	for _, h := range d.hits {
		part := tenant.OwnerOf(d.parts, pb.NodeID(h.GetNode()))
		if part == nil {
			return false, nil
		}
		n := &pb.Node{}
		if _, err := r.Get(part.Space.Key(storage.TableNode, storage.Str(h.GetNode())), n); err != nil {
			return false, err
		}
		at, err := chunkPlace(h)
		if err != nil {
			return false, err
		}
		if !graph.Holds(n, 0) || at >= len(n.GetChunks()) {
			return false, nil
		}
		chunk := &pb.Chunk{}
		if _, err := r.Get(part.Space.Key(storage.TableChunk, storage.U64(n.GetChunks()[at])), chunk); err != nil ||
			chunk.GetText() != h.GetChunk() {
			return false, err
		}
	}
	return true, nil
}

// chunkPlace is the place of a hit's passage among those of its node, in which the name of its chunk ends.
func chunkPlace(h *pb.Hit) (int, error) {
	at, err := strconv.Atoi(h.GetChunkId()[strings.LastIndexByte(h.GetChunkId(), ':')+1:])
	if err != nil {
		return 0, fmt.Errorf("chunk id: %w", err)
	}
	return at, nil
}

// take puts what a model has said into the place of the draft's words, as far as the
// passages say it, and it follows from them (nil: no reader can say).
func (d *draft) take(said []llm.Sentence, rd *tenant.Reader, follows func(string, []string) bool) {
	worded := make([]answer.Worded, len(said))
	for i, s := range said {
		worded[i].Text = s.Text
		for _, number := range s.Passages {
			worded[i].Hits = append(worded[i].Hits, number-1)
		}
	}
	answer.Reword(d.BrainAnswered, worded, &answer.Wording{
		Hits: d.hits, MaxWords: d.words, Manner: d.manner, Analyzer: &rd.Analyzer, Follows: follows,
	})
}
