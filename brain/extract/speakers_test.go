package extract_test

import (
	"slices"
	"testing"

	"orgmem/brain/extract"
)

func TestSpeakers(t *testing.T) {
	for _, x := range []struct {
		metadata, speaker string
		speakers          []string
	}{
		{"", "", nil},
		{"[1]", "", nil},
		{`{"author":"Ann","user":"Bob"}`, "Ann", nil},
		{`{"transcript":true,"speakers":["Ann",1,"Bob"]}`, "", []string{"Ann", "Bob"}},
		{`{"speakers":["Ann"],"from":"Eve"}`, "Eve", nil},
	} {
		speaker, speakers := extract.Speakers([]byte(x.metadata))
		if speaker != x.speaker || !slices.Equal(speakers, x.speakers) {
			t.Errorf("%s: %q, %q", x.metadata, speaker, speakers)
		}
	}
}
