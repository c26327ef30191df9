package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"orgmem/bench/internal/data"
	"orgmem/brain/answer"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// readDocument reads what a search finds in a document in which the passages of question i are items, among those of
// the questions around it: the stretch with most of the question's words of each chunk, then the others, as the service
// does.
func (b *bench) readDocument(i int) (read []answer.Read) {
	q := &b.questions[i]
	at := data.Day(q.AskedAt)
	title := "Minutes of " + q.AskedAt
	for n, c := range text.Chunks(text.Document{Title: title, Body: b.itemsAround(i)}, text.ChunkOptions{}) {
		read = append(read, answer.Read{
			Hit: &pb.Hit{Node: fmt.Sprintf("%s:%d", q.ID, n), Chunk: c.Text, Title: title}, Asker: true, AtMs: at,
		})
	}
	b.search.Rate(q.Question, read)
	for k := range read {
		read[k].Hit.Score = read[k].Hit.GetVector() + read[k].Hit.GetKeyword()
	}
	slices.SortStableFunc(read, func(x, y answer.Read) int { return cmp.Compare(y.Hit.GetScore(), x.Hit.GetScore()) })
	read = read[:min(len(read), b.most)]
	b.readWindows(q, read)
	return read
}

// readWindows has as many stretches of passages read as is asked for.
func (b *bench) readWindows(q *question, read []answer.Read) {
	type window struct {
		of int
		at text.Span
		p  reader.Passage
	}
	var best, rest []window
	asking := b.reader.Asking(q.Question, nil)
	for k := range read {
		p := reader.Passage{Label: read[k].Hit.GetTitle(), Text: read[k].Hit.GetChunk()}
		var all []window
		for _, sp := range asking.Windows(p) {
			all = append(all, window{k, sp, reader.Passage{Label: p.Label, Text: p.Text[sp.Start:sp.End]}})
		}
		slices.SortStableFunc(all, func(x, y window) int {
			return cmp.Compare(b.search.Share(q.Question, y.p.Text), b.search.Share(q.Question, x.p.Text))
		})
		best, rest = append(best, all[:min(1, len(all))]...), append(rest, all[min(1, len(all)):]...)
	}
	all := append(best, rest...)
	all = all[:min(len(all), b.most)]
	began := time.Now()
	var asked []reader.Passage
	for _, x := range all {
		asked = append(asked, x.p)
	}
	for k, found := range asking.Ask(nil, asked) {
		read[all[k].of].Take(found, all[k].at)
	}
	labels := make([]string, len(read))
	for k := range read {
		labels[k] = read[k].Hit.GetTitle()
	}
	answer.ReadCloser(read, labels, func(again []reader.Passage) []reader.Reading {
		return asking.Ask(nil, again)
	})
	b.times = append(b.times, time.Since(began))
}

// itemsAround are the passages of question i and of those around it, as the items of a list, each once.
func (b *bench) itemsAround(i int) string {
	var body strings.Builder
	said := map[string]bool{}
	first := i - i%b.document
	for k := first; k < min(first+b.document, len(b.questions)); k++ {
		for _, p := range b.questions[k].Passages {
			if item := "* " + strings.Join(strings.Fields(p.Text), " ") + "\n"; !said[item] {
				body.WriteString(item)
				said[item] = true
			}
		}
	}
	return body.String()
}
