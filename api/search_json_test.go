package api

import (
	"bytes"
	"math"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"orgmem/api/explain"
	"orgmem/api/wire"
)

// What is written by hand must be what the library writes of the same value, byte
// for byte, faults of the text included.
func TestSearchResultsAreWrittenAsTheLibraryDoes(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.Custom(func(t *rapid.T) string {
		return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	}), rapid.SampledFrom([]string{"", "null", "\u2028<a href=\"&\">\x7f\x00\t\n\\", "\xff\xfe", "\xed\xa0\x80"}))
	number := rapid.OneOf(rapid.Float64Range(-2, 5), rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64),
		rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 1e21, 9.9e20, 1e-6, 9.9e-7, 1e-9, math.SmallestNonzeroFloat64, math.MaxFloat64,
			float64(float32(0.1)),
		}))
	rapid.Check(t, func(t *rapid.T) {
		var r searchResult
		r.Usage = usage{
			rapid.Uint64().Draw(t, "units"), rapid.Uint64().Draw(t, "tokens"), rapid.Uint64Range(0, 2).Draw(t, "brain"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "hits") {
			var rests []stale
			for range rapid.IntRange(0, 2).Draw(t, "stale") {
				rests = append(rests, stale{
					text.Draw(t, "because"), text.Draw(t, "reason"), wire.Timestamp(rapid.Int64Range(-1, 1e15).Draw(t, "since")),
				})
			}
			var explained *explain.HitExplanation
			if rapid.Bool().Draw(t, "explained") {
				explained = &explain.HitExplanation{
					Rank: rapid.Uint32Range(0, 2).Draw(t, "rank"), Total: wire.Score(number.Draw(t, "total")),
					Brain: &explain.BrainChange{Walk: wire.Score(number.Draw(t, "walk"))},
				}
				signs := []explain.GateSign{{Sign: text.Draw(t, "sign")}}
				r.Explanation = &explain.SearchExplanation{Brain: &explain.GateExplanation{Signs: signs}}
			}
			r.Results = append(r.Results, hit{
				Chunk: text.Draw(t, "chunk"), ChunkID: text.Draw(t, "chunkId"), NodeID: text.Draw(t, "nodeId"),
				Title:      text.Draw(t, "title"),
				Score:      wire.Score(number.Draw(t, "score")),
				Scores:     hitScores{wire.Score(number.Draw(t, "vector")), wire.Score(number.Draw(t, "keyword"))},
				ExternalID: wire.OrNull(text.Draw(t, "externalId")), Subject: wire.OrNull(text.Draw(t, "subject")),
				CreatedAt: wire.Timestamp(rapid.Int64Range(-1e15, 1e15).Draw(t, "createdAt")),
				Stale:     rests, StaleIncomplete: rapid.Bool().Draw(t, "incomplete"),
				Explanation: explained,
			})
		}
		want, err := json.Marshal(r, wire.Options)
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if err := wire.Encode(&got, r); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Fatalf("%s\nwant %s", got.Bytes(), want)
		}
	})
}

// A score that is no number has no JSON: the answer must fail, not hold half of it.
func TestAScoreThatIsNoNumberFails(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		var got bytes.Buffer
		if err := wire.Encode(&got, searchResult{
			Results: []hit{{Chunk: "one"}, {Scores: hitScores{Keyword: wire.Score(bad)}}},
		}); err == nil {
			t.Errorf("%v: %s", bad, got.Bytes())
		}
	}
}
