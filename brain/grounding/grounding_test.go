package grounding

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What passages say passes in other words and another order; what they do not say, or
// deny, does not.
func TestHolds(t *testing.T) {
	t.Parallel()

	boiler := []string{
		"House log",
		"The boiler was serviced by Mrs Okafor on 3 May for fifty pounds. She did not paint the fence. See " +
			"https://example.com/log.",
	}
	for sentence, want := range map[string]bool{
		"Mrs Okafor serviced the boiler on 3 May.":                           true,
		"On 3 May the boiler was serviced, for 50 pounds.":                   true,
		"she serviced the boiler":                                            true,
		"Mrs Okafor didn't paint the fence.":                                 true,
		"The boiler is in https://example.com/log.":                          true,
		"Mrs Okafor serviced the boiler on 4 May.":                           false, // a number
		"Mrs Okafor serviced the boiler on 3 June.":                          false, // a day
		"Mr Smith serviced the boiler on 3 May.":                             false, // a name
		"Smith serviced the boiler on 3 May for fifty pounds.":               false, // at the head
		"Mrs Okafor painted the fence.":                                      false, // which is denied
		"Mrs Okafor did not service the boiler.":                             false, // which is stated
		"Mrs Okafor stole fifty pounds.":                                     false, // a word
		"The garden is large.":                                               false,
		"See https://evil.example/log?boiler.":                               false,
		"Mrs Okafor serviced the boiler ![log](https://evil.example/okafor)": false,
		"Mrs Okafor serviced the boiler <img src=x>":                         false,
		"Yes.": false, // nothing that could be compared
		"":     false,
	} {
		if got := new(Checker).Holds(sentence, boiler...); got != want {
			t.Errorf("%q: %t", sentence, got)
		}
	}
	if c := new(Checker); !c.Holds("Okafor moved to Leeds.", "Mrs Okafor left York.", "She moved to Leeds.") ||
		c.Holds("Okafor moved to Leeds.") {
		t.Error("passages are not taken together")
	}
}

// A text says its own sentences, whatever it is, unless there is no word in them.
func TestTextsHoldThemselves(t *testing.T) {
	t.Parallel()

	word := rapid.SampledFrom(strings.Fields("Mrs Okafor boiler 12 3.5 May serviced INC-4521 the a@b.c Ünïcode 日本 " +
		"ninety, fence."))
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOfN(word, 1, 12).Draw(rt, "words"), " ")
		c := new(Checker)
		if c.Holds(s, "Something else stands here.") && !strings.Contains(s, "Something") {
			rt.Errorf("%q is found elsewhere", s)
		}
		if named := strings.ContainsAny(s, "OoüÜ日f"); named && !c.Holds(s, s) {
			rt.Errorf("%q does not hold itself", s)
		}
	})
}
