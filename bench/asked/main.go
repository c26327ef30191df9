// Command asked says how well labelled questions are answered from passages by a reader and brain/answer.
//
//	go run ./bench/asked -reader PACK FILE.jsonl…
//
// A file holds lines of train/data's questions: question and asked_at; passages, each with text, who wrote it and at
// what day; answer, with the passage and the span, or null; also, other right spans; wrong, what a hasty reader takes.
// Each question is asked of its own passages and of those of another record, in the place of what a search finds beside
// them, up to -passages. An answer is right if it holds a right span and cites the passage, and clean if it holds
// nothing wrong but what the sentence with the right span says, too.
//
// With -document N the passages of N questions are the items of one document, as minutes have them: it is cut as a
// service cuts it, and the stretches that a search ranks first are read.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"slices"
	"strings"
	"time"

	"orgmem/bench/internal/data"
	"orgmem/brain/answer"
	"orgmem/brain/embed"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// maxWords is how long an answer may be, as where a client does not say.
const maxWords = 150

// question is a record.
type question struct {
	ID, Question, Kind, Lang string
	AskedAt                  string `json:"asked_at"`
	NullWhy                  string `json:"null_why"`
	Passages                 []struct{ Text, Who, At string }
	Answer                   *struct {
		Passage int
		Span    string
	}
	Also, Wrong []string
}

// tally is what became of questions.
type tally struct {
	asked, right, clean, both, refused int
	words                              int
}

func main() {
	pack := flag.String("reader", "", "pack of a reader; empty: the labels are read, for what is lost behind the reader")
	lang := flag.String("lang", "", "only questions in the language")
	most := flag.Int("passages", 8, "passages read for each question")
	document := flag.Int("document", 0, "the passages of so many questions are one document")
	verbose := flag.Bool("v", false, "print of each question a JSON object: what was read, and what was answered")
	flag.Parse()
	b := &bench{most: *most, document: *document, verbose: *verbose}
	if *pack != "" {
		b.reader, b.search = worker(*pack)
	}
	for _, file := range flag.Args() {
		err := data.Lines(file, func(line []byte) error {
			var q question
			err := json.Unmarshal(line, &q)
			if *lang == "" || q.Lang == *lang {
				b.questions = append(b.questions, q)
			}
			return err
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	for i := range b.questions {
		b.ask(i)
	}
	b.report()
}

// worker loads a reader, and the model that searches.
func worker(pack string) (*reader.Worker, *data.Search) {
	model, err := embed.Load(nil)
	if err != nil {
		log.Fatal(err)
	}
	r, err := data.Reader(pack, model)
	if err != nil {
		log.Fatal(err)
	}
	if !r.Asks() {
		log.Fatal("the reader answers no questions")
	}
	return r.NewWorker(), data.NewSearch(model)
}

type bench struct {
	reader    *reader.Worker // nil: labels are read
	search    *data.Search
	questions []question
	most      int
	document  int
	verbose   bool

	answerable, unanswerable tally
	times                    []time.Duration
}

// read has the passages of question i read.
func (b *bench) read(i int) []answer.Read {
	var read []answer.Read
	var passages []reader.Passage
	add := func(q *question) {
		for k, p := range q.Passages {
			if len(read) == b.most {
				return
			}
			who := p.Who
			if who == "me" { // the asker
				who = ""
			}
			label := p.Who
			at := data.Day(p.At)
			if label != "" && at > 0 {
				label += ", " + p.At
			}
			passages = append(passages, reader.Passage{Label: label, Text: p.Text})
			read = append(read, answer.Read{
				Hit: &pb.Hit{Node: fmt.Sprintf("%s:%d", q.ID, k), Chunk: p.Text, Score: 1 / float64(len(read)+1)}, Who: who,
				Asker: true, AtMs: at, // all are in one memory
			})
		}
	}
	add(&b.questions[i])
	add(&b.questions[(i+len(b.questions)/2)%len(b.questions)])
	if b.reader == nil {
		if a := b.questions[i].Answer; a != nil {
			at := strings.Index(read[a.Passage].Hit.GetChunk(), a.Span)
			read[a.Passage].Reading = reader.Reading{Answers: 1, Score: 1, Span: text.Span{Start: at, End: at + len(a.Span)}}
		}
		return read
	}
	began := time.Now()
	asking := b.reader.Asking(b.questions[i].Question, passages)
	for k, reading := range asking.Ask(nil, passages) {
		read[k].Take(reading, text.Span{End: len(passages[k].Text)})
	}
	labels := make([]string, len(read))
	for k := range read {
		labels[k] = passages[k].Label
	}
	answer.ReadCloser(read, labels, func(again []reader.Passage) []reader.Reading {
		return asking.Ask(nil, again)
	})
	b.times = append(b.times, time.Since(began))
	b.search.Rate(b.questions[i].Question, read)
	return read
}

func (b *bench) ask(i int) {
	q := &b.questions[i]
	var read []answer.Read
	if b.document > 0 {
		read = b.readDocument(i)
	} else {
		read = b.read(i)
	}
	chosen := answer.Choose(q.Question, answer.Answering(q.Question, read))
	told := answer.Tell(answer.Question{Text: q.Question, AtMs: data.Day(q.AskedAt), MaxWords: maxWords}, chosen, false)
	refused := len(told.GetCitations()) == 0
	if b.verbose {
		b.print(q, read, told.GetAnswer())
	}
	if q.Answer == nil {
		b.unanswerable.asked++
		if refused {
			b.unanswerable.refused++
		}
		return
	}
	t := &b.answerable
	t.asked++
	if refused {
		t.refused++
		return
	}
	t.words += len(strings.Fields(told.GetAnswer()))
	gold := append([]string{q.Answer.Span}, q.Also...)
	right := holdsAny(told.GetAnswer(), gold) && slices.ContainsFunc(told.GetCitations(), func(c *pb.Citation) bool {
		return b.document > 0 || c.GetNode() == fmt.Sprintf("%s:%d", q.ID, q.Answer.Passage)
	})
	clean := !holdsAny(told.GetAnswer(), slices.DeleteFunc(slices.Clone(q.Wrong), func(w string) bool {
		return holdsAny(sentenceOf(q), []string{w}) // the sentence that is right says that, too
	}))
	if right {
		t.right++
	}
	if clean {
		t.clean++
	}
	if right && clean {
		t.both++
	}
}

// sentenceOf is what of the right passage holds the answer.
func sentenceOf(q *question) string {
	passage := q.Passages[q.Answer.Passage].Text
	at := strings.Index(passage, q.Answer.Span)
	return sentenceAt(passage, text.Span{Start: at, End: at + len(q.Answer.Span)})
}

// sentenceAt is the sentence in which a span begins, up to where it ends.
func sentenceAt(passage string, at text.Span) string {
	for s := range text.Sentences(passage) {
		if at.Start >= s.Start && at.Start < s.End {
			return passage[s.Start:max(s.End, at.End)]
		}
	}
	return passage[at.Start:at.End]
}

// holdsAny tells whether a text holds any of some phrases.
func holdsAny(s string, phrases []string) bool {
	plain := func(s string) string {
		return " " + strings.Join(strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
			return strings.ContainsRune(" \t\n.,;:!?\"'()[]*_`|", r)
		}), " ") + " "
	}
	s = plain(s)
	return slices.ContainsFunc(phrases, func(p string) bool {
		return strings.TrimSpace(p) != "" && strings.Contains(s, plain(p))
	})
}

func (b *bench) print(q *question, read []answer.Read, told string) {
	type passage struct {
		Node, Span, Who        string
		AtMs                   int64
		Answers, Score, Within float64
		Vector, Keyword        float64
		Gold                   bool
	}
	var all []passage
	for i, p := range read {
		all = append(all, passage{
			p.Hit.GetNode(), p.Hit.GetChunk()[p.Span.Start:p.Span.End], p.Who, p.AtMs, p.Answers, p.Score, p.Within,
			p.Hit.GetVector(), p.Hit.GetKeyword(),
			q.Answer != nil && (p.Hit.GetNode() == fmt.Sprintf("%s:%d", q.ID, q.Answer.Passage) && i < len(q.Passages) ||
				b.document > 0 && holdsAny(sentenceAt(p.Hit.GetChunk(), p.Span), append([]string{q.Answer.Span}, q.Also...))),
		})
	}
	out, err := json.Marshal(map[string]any{
		"id": q.ID, "question": q.Question, "kind": q.Kind, "why": q.NullWhy, "answer": q.Answer, "also": q.Also,
		"wrong": q.Wrong, "read": all, "told": told, "lang": q.Lang,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(out))
}

func (b *bench) report() {
	share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
	a, u := &b.answerable, &b.unanswerable
	fmt.Printf("%d answerable: right and clean %.3f (right %.3f, clean %.3f), refused %.3f, %.1f words\n", a.asked,
		share(a.both, a.asked), share(a.right, a.asked), share(a.clean, a.asked), share(a.refused, a.asked),
		share(a.words, a.asked-a.refused))
	fmt.Printf("%d unanswerable: refused %.3f\n", u.asked, share(u.refused, u.asked))
	if slices.Sort(b.times); len(b.times) > 0 {
		fmt.Printf("reading takes %v at the median, %v for one in ten\n", b.times[len(b.times)/2].Round(time.Millisecond),
			b.times[len(b.times)*9/10].Round(time.Millisecond))
	}
}
