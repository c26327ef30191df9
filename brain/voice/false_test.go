package voice

import (
	"slices"
	"strings"
	"testing"
)

// What is counted of one message: a word counts for what it does there.
func TestAWordCountsForWhatItDoes(t *testing.T) {
	for _, c := range []struct {
		text  string
		count counter
		want  float64
	}{
		// Greetings open a message.
		{"I water the plants in the morning.", cClass + greeting, 0},
		{"Good morning! The plants are fine.", cClass + greeting, 1},
		{"Morning all, the plants are fine.", cClass + greeting, 1},
		{"Morning!", cClass + greeting, 1},
		{"Morning meetings make me tired.", cClass + greeting, 0},
		{"Good evening, is the hall free?", cClass + greeting, 1},
		{"A good morning is one with coffee.", cClass + greeting, 0},
		{"Say hello to Ann, my dear friend.", cClass + greeting, 0},
		{"Dear Ms Okafor, the boiler is fixed.", cClass + greeting, 1},
		{"Dear me, what a day.", cClass + greeting, 0},
		{"Hello world does not compile.", cClass + greeting, 0},
		{"Hi Ann, all done.", cClass + greeting, 1},
		{"@ann hey, all done.", cClass + greeting, 1},
		// Thanks, hedges and stress.
		{"Thanks to the new pump it is warm.", cClass + thanks, 0},
		{"Thanks for the pump.", cClass + thanks, 1},
		{"Thanks to you it is warm.", cClass + thanks, 1},
		{"In May we paint.", cClass + hedge, 0},
		{"It may rain.", cClass + hedge, 1},
		{"What kind of paint is it, and what sort?", cClass + hedge, 0},
		{"It is kind of green.", cClass + hedge, 1},
		{"Kind regards from a kind man.", cClass + hedge, 0},
		{"Sort the list, then think about it.", cClass + hedge, 0},
		{"I think it is green.", cClass + hedge, 1},
		{"So we left, so that she could rest.", cClass + booster, 0},
		{"It was so cold.", cClass + booster, 1},
		{"How much is it, and how far?", cClass + booster, 0},
		{"The US market and the IT department.", cClass + group, 0},
		{"The US market and the IT department.", cClass + third, 0},
		{"It waits for us.", cClass + group, 1},
		// Contractions, with any apostrophe or none.
		{"I dont know and wont ask, gonna sleep.", cContractions, 3},
		{"I don't know.", cContractions, 1},
		{"I don’t know.", cContractions, 1},
		{"I don´t know.", cContractions, 1},
		{"I donʼt know.", cContractions, 1},
		{"I don`t know.", cContractions, 1},
		{"It's Ann's, she'd say, and y'all're late.", cContractions, 2},
		{"The committee's report and O'Brien's letter of five o'clock.", cContractions, 0},
		{"She was well, they were ill, and its colour is hell.", cContractions, 0},
		{"I do not know, it is late, we are tired and I cannot stay.", cWritten, 4},
		{"The boiler is new, and they do their work.", cWritten, 0},
		// Marks.
		{"What??? Really?!", cQuestions, 2},
		{"Great!!!", cBangs, 1},
		{"She asked \"are you coming to the fair?\" and left.", cQuestions, 0},
		{"She asked “are you coming, and why not?”", cQuestions, 0},
		{"Open 9–11, Mon–Fri.", cLongDashes, 0},
		{"It is – as I said – late.", cLongDashes, 2},
		{"Salt &amp; pepper &gt; sugar.", cAmpersands, 0},
		{"Salt &amp; pepper &gt; sugar.", cSemicolons, 0},
		{"It takes <3 days.", cEmoticons, 0},
		{"Love it <3", cEmoticons, 1},
		{"👍🏽", cEmoji, 1},
		{"👩‍🚒 and ❤️ and 🇵🇹", cEmoji, 3},
		{"✓ paint ✗ roof ☐ door", cEmoji, 0},
		{"Left at :30: past.", cEmoji, 0},
		{"Done :tada:", cEmoji, 1},
		// How a message begins and ends.
		{"user_id is null.", cOpensLower, 0},
		{"it is null.", cOpensLower, 1},
		{"All is done.\nKind regards,\nAnn Lee", cEndsStop, 1},
		{"All is done.\n\nBest\nAnn", cEndsOpen, 0},
		{"Could you send it? Thanks, Jo", cEndsQuestion, 1},
		{"The boiler is new. Yours sincerely, A. Hartmann", cEndsStop, 1},
		{"All is done.\nAnn", cEndsOpen, 0},
		{"To buy:\n- milk\n- bread", cEndsOpen, 0},
		{"all is done", cEndsOpen, 1},
		{"all is done 👍", cEndsOpen, 0},
		{"To buy:\n- milk\n- bread", cLists, 1},
		{"- milk", cLists, 0},
		// What others wrote, and code.
		{"Fine.\n\nOn Mon, 3 Mar 2025 at 10:12, Ann Lee wrote:\nhello, maybe you could call?", cQuestions, 0},
		{"Fine.\n-----Original Message-----\nFrom: Ann\nhello, maybe?", cClass + hedge, 0},
		{"~~~\nmaybe I could\n~~~", cWords, 0},
		{"Run this:\n    x = maybe(y);\n    return us;", cClass + hedge, 0},
	} {
		if got := tallyOf(c.text).counts.get(c.count); got != c.want {
			t.Errorf("%q: counter %d is %v, want %v", c.text, c.count, got, c.want)
		}
	}
}

// A hint says of a person nothing that their texts do not show.
func TestHintSaysNothingFalse(t *testing.T) {
	for name, c := range map[string]struct {
		texts    []string
		has, not []string
	}{
		"early riser": {
			texts: []string{
				"I water the tomatoes in the morning before the sun gets strong.",
				"The post comes in the morning, the parcels come later in the day.",
				"Swimming was lovely, there is nobody in the pool in the morning.",
				"The morning train was late again, by eleven minutes this time.",
				"My sister calls every morning at eight from her kitchen in Leeds.",
				"Bread is best in the morning, from the small baker at the corner.",
				"In the morning the lake was frozen from one side to the other.",
				"The dog wants out at six in the morning, whatever the weather is.",
			},
			not: []string{"greets"},
		},
		"without apostrophes": {
			texts: []string{
				"i dont know if thats the right pipe tbh",
				"cant come today, im at the dentist until four",
				"we wont need the van, its gonna fit in the car",
				"didnt see your message, whats the plan for later",
				"theyre late again and nobody wants to wait for them",
				"youre right, i shouldnt have painted it green",
				"gonna buy milk, dunno if the shop is open tho",
				"they havent called back and i dont think they will",
				"that isnt my cup and i havent seen yours either",
			},
			has: []string{"contracts"},
			not: []string{"writes words out"},
		},
		"owner of things": {
			texts: []string{
				"The committee's report was sent to the council's office on time.",
				"Anna's car stands in the neighbour's garage, behind Tom's bicycle.",
				"The school's roof and the church's tower were repaired in spring.",
				"My brother's house is near the lake, not far from the town's library.",
				"The landlord's letter arrived with the bank's statement in one envelope.",
				"The children's shoes were in the dog's basket, as on every other day.",
				"The museum's entrance is closed, visitors use the theatre's side door.",
				"The garden's fence fell on the baker's van in the night of the storm.",
			},
			not: []string{"contracts"},
		},
		"terse notes": {
			texts: slices.Repeat([]string{
				"Boiler serviced. Pump replaced. Filter ordered. Bill paid. Valve closed.",
				"Roof inspected. Two tiles broken. Ladder returned to neighbour.",
			}, 6),
			not: []string{"contracting", "full stop"},
		},
		"letters": {
			texts: slices.Repeat([]string{
				"Dear Ms Okafor,\nthe boiler has been serviced and the invoice is enclosed.\nKind regards,\nA. Hartmann",
				"Dear Mr Lee,\nthe roof will be inspected at the end of the month.\nYours sincerely,\nA. Hartmann",
			}, 5),
			has: []string{"greets", " formal"},
			not: []string{"full stop", "lists", "informal"},
		},
		"cheerful": {
			texts: slices.Repeat([]string{
				"What a lovely garden that was, with all those roses!", "The cake turned out just as I wanted it to be!",
			}, 6),
			has: []string{"exclamation"},
			not: []string{"full stop"},
		},
		"one long list": {
			texts: []string{
				"To buy for the weekend:\n- milk\n- bread\n- eggs\n- salt\n- rice\n- tea\n- soap\n- onions\n- leeks\n- flour",
				"The garden party went well and nobody minded the rain at all.",
				"The neighbours have painted their door in the colour of plums.",
				"We walked along the river to the old mill and back again.",
				"Grandfather told the story of the bear for the hundredth time.",
				"The trains were full, everybody seemed to travel to the coast.",
				"The library has a new opening on the side of the market square.",
				"Rosemary survived the winter, the lavender by the wall did not.",
			},
			not: []string{"lists"},
		},
		"names of code": {
			texts: slices.Repeat([]string{
				"parse_header() returns nil when the body is empty, see the log of the build.",
				"user_id must not be null, the migration fails on the second shard otherwise.",
			}, 5),
			not: []string{"lower case"},
		},
		"quotes others": {
			texts: slices.Repeat([]string{
				"The inspector asked \"who has the key to the cellar?\" and wrote the answer down.",
				"On the door it says “have you closed the windows, and did you lock up?” in red.",
			}, 8),
			not: []string{"questions"},
		},
	} {
		p, ok := tallyOf(c.texts...).Profile()
		if !ok {
			t.Errorf("%s: no profile", name)
			continue
		}
		h := Hint(p)
		for _, part := range c.has {
			if !strings.Contains(h, part) {
				t.Errorf("%s: %q lacks %q", name, h, part)
			}
		}
		for _, part := range c.not {
			if strings.Contains(h, part) {
				t.Errorf("%s: %q has %q", name, h, part)
			}
		}
	}
}
