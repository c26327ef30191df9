package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"orgmem/brain/embed"
	"orgmem/cmd/orgmem/pages"
)

const (
	chunkTokens  = 100 // with the two that every text gets
	queryTokens  = 16
	ownTokens    = 2 // [CLS] and [SEP]
	embedRounds  = 12
	embedChunks  = 16 // of a round
	embedQueries = 40
	// A search reads the index between two embeddings: vectors, postings and the
	// order of words of 10,000 chunks.
	searchReads = 8 << 20
)

// carried are the models that the service carries, the one that it embeds with unless told otherwise first, and what is
// promised of each: chunks per CPU-second, and a question's time.
var carried = []struct {
	name     string
	load     func(embed.Room) (*embed.Model, error)
	chunks   float64
	question time.Duration
}{
	{"multilingual-e5-small", embed.LoadMultilingual, 50, 4 * time.Millisecond},
	{"all-MiniLM-L6-v2", embed.Load, 60, 4 * time.Millisecond},
}

// embedder is a model that the service carries, on one thread.
type embedder struct {
	model   *embed.Model
	encoder *embed.Encoder
	other   []byte
}

func newEmbedder(load func(embed.Room) (*embed.Model, error)) (*embedder, error) {
	model, err := load(pages.Weights)
	if err != nil {
		return nil, err
	}
	return &embedder{model: model, encoder: model.NewEncoder(), other: make([]byte, searchReads)}, nil
}

// cut makes a text of so many tokens of a longer one.
func (e *embedder) cut(text string, tokens int) (string, error) {
	for e.model.CountTokens(text)+ownTokens > tokens {
		at := strings.LastIndexByte(text, ' ')
		if at < 0 {
			return "", fmt.Errorf("%q has too many tokens", text)
		}
		text = text[:at]
	}
	for e.model.CountTokens(text)+ownTokens < tokens { // the last word had several
		text += " the"
	}
	return text, nil
}

// cost is the processor time of one of n pieces of work on this thread, in the
// cheapest and the median of all rounds: other programs that use the machine's
// caches can only add to it.
func cost(n int, work func()) (least, median time.Duration, err error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var rounds []time.Duration
	for range embedRounds {
		before, err := threadCPU()
		if err != nil {
			return 0, 0, err
		}
		work()
		after, err := threadCPU()
		if err != nil {
			return 0, 0, err
		}
		rounds = append(rounds, (after-before)/time.Duration(n))
	}
	slices.Sort(rounds)
	return rounds[0], rounds[len(rounds)/2], nil
}

func threadCPU() (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t)
	return time.Duration(t.Nano()), err
}

func measureEmbed(_ context.Context, b *bench) error {
	for _, m := range carried {
		e, err := newEmbedder(m.load)
		if err != nil {
			return err
		}
		if err := e.chunks(b, m.name, m.chunks); err != nil {
			return err
		}
		if err := e.question(b, m.name, m.question); err != nil {
			return err
		}
	}
	return nil
}

// chunks measures how many passages a second of processor time embeds.
func (e *embedder) chunks(b *bench, model string, promised float64) error {
	words, texts := newCorpus(5), make([]string, embedChunks)
	for i := range texts {
		var err error
		// A passage has up to 103 tokens; two have enough for all.
		if texts[i], err = e.cut(words.passage(i)+" "+words.passage(i), chunkTokens); err != nil {
			return err
		}
	}
	out := make([][]float32, len(texts))
	least, median, err := cost(len(texts), func() { e.encoder.Passages(out, texts) })
	if err != nil {
		return err
	}
	perSecond := func(each time.Duration) float64 { return float64(time.Second) / float64(each) }
	b.report.add(fmt.Sprintf("%s, chunks of %d tokens per CPU-second", model, chunkTokens),
		fmt.Sprintf(">= %.0f", promised), perSecond(median) >= promised,
		"%.1f, the median of the rounds (best %.1f; %s)", perSecond(median), perSecond(least), e.model.Kernel())
	return nil
}

// question measures the processor time of a query.
func (e *embedder) question(b *bench, model string, promised time.Duration) error {
	words := newCorpus(5)
	query, err := e.cut(words.query()+" "+words.query(), queryTokens)
	if err != nil {
		return err
	}
	least, median, err := cost(embedQueries, func() {
		for range embedQueries {
			e.encoder.Query(query)
		}
	})
	b.report.add(fmt.Sprintf("%s, query of %d tokens", model, queryTokens), fmt.Sprintf("< %.0f ms CPU", ms(promised)),
		median < promised, "%.2f ms CPU, the median of the rounds (best %.2f)", ms(median), ms(least))
	return err
}

// embedAlone is the processor time of embedding one of the queries, in this
// process with the same model and kernel. Between two it reads as much memory as
// a search does, which is not counted: in the service too an embedding finds
// the caches as the search before it left them.
func embedAlone(asked []string) (time.Duration, error) {
	e, err := newEmbedder(carried[0].load)
	if err != nil {
		return 0, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var sum time.Duration
	for i, q := range asked {
		e.search()
		before, err := threadCPU()
		if err != nil {
			return 0, err
		}
		e.encoder.Query(q)
		after, err := threadCPU()
		if err != nil {
			return 0, err
		}
		if i >= warmQueries {
			sum += after - before
		}
	}
	return sum / time.Duration(len(asked)-warmQueries), nil
}

// search touches every cache line of what stands for the index.
func (e *embedder) search() {
	for i := 0; i < len(e.other); i += 64 {
		e.other[i]++
	}
}
