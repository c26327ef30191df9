package answer_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/answer"
	pb "orgmem/proto"
)

func TestFirstWords(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("ab \n日本é"))).Draw(rt, "s")
		most := rapid.IntRange(0, 12).Draw(rt, "most")
		beginning, n := answer.FirstWords(s, most)
		_, all := answer.FirstWords(s, math.MaxInt)
		if !strings.HasPrefix(strings.TrimSpace(s), strings.TrimSpace(beginning)) || n != min(all, most) {
			rt.Fatalf("%q, %d: %q of %d", s, most, beginning, n)
		}
		if _, again := answer.FirstWords(beginning, math.MaxInt); again != n {
			rt.Fatalf("%q holds %d words, not %d", beginning, again, n)
		}
	})
}

// The budget holds whatever the passages are, the prompt stays whole, and the
// weights of what is used add up to one.
//
// interface: Endpoints/Condition scaffold
func TestScaffoldKeepsItsBudget(t *testing.T) {
	count := func(s string) int { return len(strings.Fields(s)) + 2 }
	rapid.Check(t, func(rt *rapid.T) {
		var hits []*pb.Hit
		for i, words := range rapid.SliceOfN(rapid.IntRange(1, 60), 0, 8).Draw(rt, "passages") {
			score := rapid.Float64Range(0, 3).Draw(rt, "score")
			hits = append(hits, &pb.Hit{Node: fmt.Sprint(i), Chunk: strings.Repeat("word ", words), Score: score})
		}
		prompt := strings.Repeat("ask ", rapid.IntRange(1, 30).Draw(rt, "prompt"))
		budget := rapid.IntRange(1, 200).Draw(rt, "budget")
		s := answer.Scaffold(prompt, "", hits, budget, count)
		if !strings.HasSuffix(s.GetPrompt(), prompt) {
			rt.Fatalf("the prompt is cut: %q", s.GetPrompt())
		}
		if len(s.GetFocal()) == 0 {
			if s.GetPrompt() != prompt {
				rt.Fatal("wrapped in nothing")
			}
			return
		}
		if n := count(s.GetPrompt()); n > budget {
			rt.Fatalf("%d tokens of %d", n, budget)
		}
		sum := 0.0
		for _, f := range s.GetFocal() {
			sum += f.GetWeight()
		}
		if sum != 0 && math.Abs(sum-1) > 1e-9 {
			rt.Fatalf("weights add up to %v", sum)
		}
	})
}
