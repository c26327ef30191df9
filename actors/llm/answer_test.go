package llm

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	pb "orgmem/proto"
)

// Of an answer are taken the sentences that name passages which were given; one of
// another form is none.
func TestAnswersNameTheirPassages(t *testing.T) {
	content := ""
	c, _ := endpoint(t, func(_ *http.Request, q request) (int, string) {
		if strings.Contains(q.Messages[0].Content, "boiler") || !strings.Contains(q.Messages[1].Content, "boiler") {
			t.Errorf("content is not apart from the order: %v", q.Messages)
		}
		return 200, content
	})
	question := Question{Text: "boiler?", Passages: []Passage{{1, "", "Okafor"}, {2, "", "May"}}, Words: 10}
	many := `{"sentences": [` + strings.Repeat(`{"text": "x", "passages": [1]},`, maxSentences) +
		`{"text": "x", "passages": [1]}]}`
	for _, x := range []struct {
		content string
		want    []string // nil: it is no answer
	}{
		{`{"sentences": [{"text": "Okafor\n did.", "passages": [1, 2]}]}`, []string{"Okafor did."}},
		{`{"sentences": [{"text": "a", "passages": [3]}, {"text": "b", "passages": [0]}, {"text": "c", "passages": [2, ` +
			`-1]}, {"text": "d", "passages": []}, {"text": "e"}, {"text": "f", "passages": [2]}]}`, []string{"f"}},
		{`{"sentences": []}`, []string{}},
		{`{"sentences": [{"text": " ", "passages": [1]}]}`, nil},
		{`{"sentences": [{"text": "` + strings.Repeat("x", maxSentence+1) + `", "passages": [1]}]}`, nil},
		{`{"sentences": [{"text": "a", "passages": ["1"]}]}`, nil},
		{`{"sentences": [{"text": "a", "passages": [1], "sure": true}]}`, nil},
		{`{"sentences": [{"text": "a", "passages": [1]}]} and more`, nil},
		{many, nil},
	} {
		content = x.content
		got, err := c.Answer(t.Context(), pb.OrgID{1}, question)
		texts := []string{}
		for _, s := range got {
			texts = append(texts, s.Text)
		}
		if x.want == nil && !errors.Is(err, ErrAnswer) || x.want != nil && (err != nil || !slices.Equal(texts, x.want)) {
			t.Errorf("%.80s: %q, %v", x.content, texts, err)
		}
	}
}
