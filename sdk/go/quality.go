package orgmem

import (
	"context"
	"net/http"
	"time"
)

// QualityService tells whether a memory finds what it holds.
type QualityService struct{ c *Client }

// Evaluate queues an evaluation of one memory, or of the organization. Wait for its job with Jobs.Wait; its report is
// then the first of List.
func (s QualityService) Evaluate(ctx context.Context, scope MemoryScope) (*EvaluationAccepted, error) {
	return send[EvaluationAccepted](ctx, s.c, request{method: http.MethodPost, path: "/v1/quality", keyed: true, body: struct {
		Scope MemoryScope `json:"scope,omitzero"`
	}{scope}}, nil)
}

// List lists the reports of evaluations, the newest first.
func (s QualityService) List(scope MemoryScope) List[QualityReport] {
	return listOf[QualityReport](s.c, struct {
		Scope MemoryScope `query:"scope"`
	}{scope}, "/v1/quality")
}

// EvaluationAccepted is the job of an evaluation.
type EvaluationAccepted struct {
	Extra
	JobID  string    `json:"jobId"`
	Status JobStatus `json:"status"`
}

// KindRecall is how well questions of one kind are answered.
type KindRecall struct {
	// words: a sentence without its most telling words. paraphrase: some of its words in another order.
	// title: the title and two words. former: words of what a superseded memory said; what took its
	// place answers.
	Kind   QuestionKind  `json:"kind"`
	Recall QualityRecall `json:"recall"`
}

// LanguagePart is how many memories are in a language.
type LanguagePart struct {
	// An ISO 639-1 code, or und.
	Language string       `json:"language"`
	Memories QualityShare `json:"memories"`
}

// QualityRecall is how many questions are answered among the first hits.
type QualityRecall struct {
	At1       QualityShare `json:"at1"`
	At10      QualityShare `json:"at10"`
	At5       QualityShare `json:"at5"`
	Questions int64        `json:"questions"`
}

// QualityReport is what one evaluation counted. It holds no text and names no node.
type QualityReport struct {
	Extra
	// When it was finished.
	At time.Time `json:"at"`
	// Of the brain that ranked; null: none did.
	BrainVersion *int64 `json:"brainVersion"`
	// The same by how the questions were made; kinds of which there are none are left out.
	ByKind []KindRecall `json:"byKind"`
	// Of memories, those that are in an open contradiction.
	Contradicted QualityShare `json:"contradicted"`
	// Of the rankings of questions, those that put what no longer holds before what does.
	FormerFirst QualityShare `json:"formerFirst"`
	// The job that made it.
	JobID string `json:"jobId"`
	// Of the sampled, the most frequent first.
	Languages []LanguagePart `json:"languages"`
	// Live nodes with text that were looked at.
	Memories int64 `json:"memories"`
	// The embedding model that served.
	Model string `json:"model"`
	// Of the sampled, those of which another live memory says nearly the same in nearly the same words.
	NearDuplicates QualityShare `json:"nearDuplicates"`
	// There are more of them than are looked at (100,000).
	Partial bool `json:"partial"`
	// Of questions made of the memory's own content, without the former ones: the share that what they
	// are made of, or a near duplicate, answers among the first 1, 5 and 10 hits.
	Recall QualityRecall `json:"recall"`
	// How many of them were read and asked about.
	Sampled int64       `json:"sampled"`
	Scope   MemoryScope `json:"scope"`
	// Of memories, those that state what has ended, or rest on what no longer stands.
	Stale QualityShare `json:"stale"`
	// Of the memories that gave a question, those that none of their own questions found among the
	// first 10 hits.
	Unfound QualityShare `json:"unfound"`
}

// QualityShare is how many of how many.
type QualityShare struct {
	Count int64   `json:"count"`
	High  float64 `json:"high"`
	// The 95 % score interval of the share (Wilson), as if those counted were drawn at random.
	Low float64 `json:"low"`
	Of  int64   `json:"of"`
	// 0 of nothing.
	Share float64 `json:"share"`
}

// QuestionKind is how a question was made.
type QuestionKind string

// Values of QuestionKind; a newer service may know more.
const (
	QuestionKindWords      QuestionKind = "words"
	QuestionKindParaphrase QuestionKind = "paraphrase"
	QuestionKindTitle      QuestionKind = "title"
	QuestionKindFormer     QuestionKind = "former"
)
