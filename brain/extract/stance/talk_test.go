package stance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/extract"
)

// talk is what people write to each other, and what a careful reader would sign of each as a preference or a belief of
// theirs: kind, polarity and object, one a line. Without any: nothing that could be signed by who has not read what was
// said before.
var talk = []struct{ text, want string }{
	// Where what is liked stands, and where it ends.
	{"I love sourdough, so I signed up for the course in Lyon.", "preference +1 sourdough"},
	{"I do like sailing, but the season is short.", "preference +1 sailing"},
	{"I prefer trains to planes because you can read there.", "preference +1 trains to planes"},
	{"I hate mornings and I love long evenings.", "preference -1 mornings\npreference +1 long evenings"},
	{"I enjoy mending old radios [shares image: a radio with its back off]", "preference +1 mending old radios"},
	{"I enjoy painting boats! [shares photo: a red boat]", "preference +1 painting boats"},
	{"We found a little theatre I love and stayed until ten.", ""},
	{"I brought the card game I like, and everybody joined in.", ""},
	{"I have a colleague who I enjoy every lunch with.", ""},
	{"The thing I love about Lisbon is the light in October.", "preference +1 the light in October"},
	{"What I hate about open offices is the noise.", "preference -1 the noise"},
	{"It showed me again why I love teaching.", "preference +1 teaching"},
	{"Watching the kids build the raft was my favourite part.", ""},
	{"My favourite dish is mushroom risotto, by far.", "preference +1 dish is mushroom risotto"},
	{"Bouldering is my favorite sport.", "preference +1 Bouldering"},
	{"I met her at my favourite café in town.", ""},
	{
		"From a maintenance point of view I'd rather there be one schema (\"v2[\"), but I'll live with it.",
		"preference +1 there be one schema (\"v2[\")",
	},
	{"I'd rather not discuss salaries in the public channel.", "preference -1 discuss salaries in the public channel"},
	{"I prefer [Postgres](https://postgresql.org) over MySQL for this.", ""},
	{"I prefer `fmt.Errorf` over panics, see https://example.org/errors", "preference +1 `fmt.Errorf` over panics"},
	{"I like tea but not coffee.", "preference +1 tea"},
	{"I think I prefer the aisle seat on long flights.", "preference +1 the aisle seat on long flights"},
	{"I don't think I like spicy food.", "preference -1 spicy food"},
	{"I love it when the whole team cooks together.", "preference +1 when the whole team cooks together"},
	{"I don't like loud bars, to be honest.", "preference -1 loud bars"},
	{"I never use tabs.", "preference -1 tabs"},
	{"I usually prefer short meetings.", "preference +1 short meetings"},
	{"I'm a big fan of static typing too.", "preference +1 static typing"},
	{"I love C++.", "preference +1 C++"},
	{"Marta Silva prefers written updates, which saves everyone time.", "preference Marta Silva +1 written updates"},

	// Polarity.
	{"Although I don't think anybody has written it down (?), there is a rule about naming branches.", ""},
	{"I wouldn't say I love running.", ""},
	{"I don't just like cycling, I live for it.", ""},
	{"It's not that I like overtime.", ""},
	{"I no longer like horror films.", "preference -1 horror films"},

	// What points outside of itself.
	{"I love it!", ""},
	{"I think it's deliberately unsupported", ""},
	{"I think you could save a lot with it", ""},
	{"I think that's the way to go for the release.", ""},
	{"I believe this is why the import fails.", ""},
	{"I think these are good, solid ways to deal with late invoices.", ""},
	{"I don't think I do anything quite like that in Tallow.", ""},
	{"I suspect they moved the office to Porto.", ""},
	{"Ines feels that is against the spirit of the charter.", ""},
	{"Ines believes it was only meant as a warning.", ""},
	{"I prefer the second one.", ""},
	{"I like his sense of humour.", ""},
	{"I agree that we have done it for smaller changes.", ""},
	{"I'm sure it has been a long week.", ""},
	{"I think we should drop that table.", ""},
	{"IMHO those are reasonable names for the stages you mention.", ""},

	// What stands alone.
	{
		"I think it's good to have the basic checks in the standard build, since it avoids surprises.",
		"belief +1 it's good to have the basic checks in the standard build",
	},
	{"I think it would be better to split the nightly job.", "belief +1 it would be better to split the nightly job"},
	{
		"I believe the biggest weakness of the tracker is that, unlike the old one, it has no labels: <http://example.org>",
		"belief +1 the biggest weakness of the tracker is that, unlike the old one, it has no labels",
	},
	{"<@Bram> I don't think date styles will work for fiscal years", "belief -1 date styles will work for fiscal years"},
	{
		"I think `#%app` from the old branch handles keywords already.",
		"belief +1 `#%app` from the old branch handles keywords already",
	},
	{
		"(I can't say much about parsing; I assume the `calendar/date` module will suffice for fiscal years)",
		"belief +1 the `calendar/date` module will suffice for fiscal years",
	},
	{"I assume the `calendar/date` module will do the rest from there", ""},
	{
		"I'm sure there's a cheaper way to heat the greenhouse though.",
		"belief +1 there's a cheaper way to heat the greenhouse",
	},
	{"I think a team loses its habits if it grows too fast.", "belief +1 a team loses its habits if it grows too fast"},
	{"In my experience two reviewers find more than one.", "belief +1 two reviewers find more than one"},
	{"I think that the vendor is late, but nobody has asked.", "belief +1 the vendor is late"},
	{"* Tomas: I believe the vote should wait for the board.", "belief Tomas +1 the vote should wait for the board"},
	{"I think we should ship the importer before Easter.", "belief +1 we should ship the importer before Easter"},
	{"I think I am the slowest reviewer of the team.", "belief +1 I am the slowest reviewer of the team"},

	// Courtesies, guesses, intentions, praise of what was just shown.
	{"I guess I'll put the slides on the wiki.", ""},
	{"I guess you see what I mean, anyway.", ""},
	{"I feel like I must be missing a page of the manual.", ""},
	{"I think I'll stay at home on Sunday.", ""},
	{"I love the warm light and the wooden frame.", ""},
	{"I like your new haircut!", ""},
	{"I'm sure you'll do great in the finals!", ""},
	{"I'd love to see the garden some day.", ""},
	{"I hate to bother everyone with invoices again.", ""},
	{"I love hearing about your travels!", ""},
	{"I like the sound of that.", ""},
	{"I suppose we could look at the logs again.", ""},
	{"I like to think we learned something from the outage.", ""},

	// What others say.
	{"> I think we should drop the old parser.", ""},
	{"She wrote \"I love working from the harbour\" on the card.", ""},
	{"Do you know whether I like olives?", ""},
}

// more is of other kinds of talk: threads about defects, minutes of a club, a family's chat.
var more = []struct{ text, want string }{
	{"Honestly, I prefer small pull requests.", "preference +1 small pull requests"},
	{
		"I think the retry belongs into the client, not into the proxy.",
		"belief +1 the retry belongs into the client, not into the proxy",
	},
	{"@nadia I believe the flag was removed in version 3.", "belief +1 the flag was removed in version 3"},
	{"I'm pretty sure the leak is in the cache, see https://example.org/42.", ""},
	{"I don't believe a rewrite would have helped the team.", "belief -1 a rewrite would have helped the team"},
	{"Thanks! I think that did it.", ""},
	{"I think so too, let's merge it.", ""},
	{"I like the second approach better.", ""},
	{"I'd prefer a monthly invoice to a yearly one.", "preference +1 a monthly invoice to a yearly one"},
	{"I think we can close this.", ""},
	{"I doubt the vendor will answer before June.", "belief -1 the vendor will answer before June"},
	{"I assume you have tried turning it off.", ""},
	{"I think my laptop is broken, so I can't join today.", "belief +1 my laptop is broken"},
	{"I think I have seen the same error last year.", ""},
	{"I love how quiet the harbour is in winter.", "preference +1 how quiet the harbour is in winter"},
	{"I love you all!", ""},
	{
		"We love camping by the lake, swimming and long breakfasts.",
		"preference +1 camping by the lake, swimming and long breakfasts",
	},
	{"Grandpa can't stand loud music. I don't like loud music either.", "preference -1 loud music"},
	{"My favorite season is autumn!", "preference +1 season is autumn"},
	{"That was my favorite.", ""},
	{"Chess is one of my favourite games.", "preference +1 Chess"},
	{"One of my favourite books is Middlemarch.", "preference +1 books is Middlemarch"},
	{"I believe in small teams.", "belief +1 small teams"},
	{"I believe in you.", ""},
	{
		"- Priya: I think the budget is too small for two conferences.",
		"belief Priya +1 the budget is too small for two conferences",
	},
	{"Priya thinks the committee should meet monthly.", "belief Priya +1 the committee should meet monthly"},
	{"Priya thinks he should have asked first.", ""},
	{"In my opinion, the minutes should be public.", "belief +1 the minutes should be public"},
	{"IMO this needs a test.", ""},
	{"I hate it when meetings start late.", "preference -1 when meetings start late"},
	{"I hate that.", ""},
	{"I like that the trains are on time here.", "preference +1 that the trains are on time here"},
	{"I always use a paper calendar for birthdays.", "preference +1 a paper calendar for birthdays"},
	{"We avoid meetings on Fridays.", "preference -1 meetings on Fridays"},
	{"I used to love skiing.", ""},
	{"I wish I liked mornings more.", ""},
	{"I thought I preferred tea.", ""},
	{"I would say the second half was better.", "belief +1 the second half was better"},
	{"I think there should be a limit on uploads.", "belief +1 there should be a limit on uploads"},
	{"I'm convinced that nobody reads the newsletter.", "belief +1 nobody reads the newsletter"},
	{"I'm sure there is a reason.", ""},
	{"As a nurse I prefer night shifts.", "preference +1 night shifts"},
	{"If I prefer night shifts, whom do I ask?", ""},
	{"The coach says I like risks.", ""},
	{
		"I do not think that a single server can carry the load, but two might.",
		"belief -1 a single server can carry the load",
	},
	{"I think tests that need the network are a burden.", "belief +1 tests that need the network are a burden"},
	{"I prefer working with people who say what they need.", "preference +1 working with people who say what they need"},
	{"I like to swim before work, weather permitting.", "preference +1 to swim before work"},
	{"I'm not a fan of open floor plans.", "preference -1 open floor plans"},
	{"I've always loved old maps.", "preference +1 old maps"},
	{
		"I hate Mondays, but I love Fridays, and I never use buses.",
		"preference -1 Mondays\npreference +1 Fridays\npreference -1 buses",
	},
	{
		"I think that, for most teams, weekly releases work better.",
		"belief +1 for most teams, weekly releases work better",
	},
	{"I think Postgres is fine, and it's what we use.", "belief +1 Postgres is fine"},
	{"I’m not sure I like olives.", ""},
	{"I prefer the plums of our neighbours to any other.", "preference +1 the plums of our neighbours to any other"},
}

// last was labelled when all above passed.
var last = []struct{ text, want string }{
	{"Hi team, I like the idea of a shared calendar.", "preference +1 the idea of a shared calendar"},
	{"To be fair, I think both vendors were slow this year.", "belief +1 both vendors were slow this year"},
	{"I'd say go for it.", ""},
	{"I'm convinced.", ""},
	{"I love my job but hate the commute.", "preference +1 my job"},
	{"When it rains I prefer the tram.", "preference +1 the tram"},
	{"I think when it rains the tram is full.", "belief +1 when it rains the tram is full"},
	{"We believe customers want fewer mails, and our numbers agree.", "belief +1 customers want fewer mails"},
	{"I don't think so.", ""},
	{"I really don't like how the new portal hides invoices.", "preference -1 how the new portal hides invoices"},
	{"I think you're right about the budget.", ""},
	{"I think Dana is right about the budget.", "belief +1 Dana is right about the budget"},
	{"Dana likes to work from the library in Gent.", "preference Dana +1 to work from the library in Gent"},
	{"Dana does not believe that the lease can be ended early.", "belief Dana -1 the lease can be ended early"},
	{"I hate being late to rehearsals.", "preference -1 being late to rehearsals"},
	{"I'd prefer not to travel on Sundays.", "preference -1 to travel on Sundays"},
	{"I prefer it without sugar.", ""},
	{"I suspect a bug in the driver.", ""},
	{"I suspect the driver has a bug.", "belief +1 the driver has a bug"},
	{"I think there's something wrong.", ""},
	{"I assume that the key is with the caretaker.", "belief +1 the key is with the caretaker"},
	{"Not sure I love the colour.", ""},
	{"Do you think I prefer the window seat?", ""},
	{"I love Paris in the spring.", "preference +1 Paris in the spring"},
	{"I love what you've done with the place!", ""},
	{"We never use plastic cups at the summer party.", "preference -1 plastic cups at the summer party"},
	{"I always use this one.", ""},
	{"My all-time favourite film is Metropolis.", "preference +1 film is Metropolis"},
	{"My favorite is the blue one.", ""},
	{"Of the two, I prefer the first.", ""},
	{"I believe everyone deserves a second chance.", "belief +1 everyone deserves a second chance"},
	{"I'd love it if we could meet on Monday.", ""},
	{"I think it was Tom who broke the lock.", "belief +1 it was Tom who broke the lock"},
	{"I think it's time to renew the certificates.", "belief +1 it's time to renew the certificates"},
	{"I enjoyed the concert.", ""},
	{"I would argue that the museum needs a second entrance.", "belief +1 the museum needs a second entrance"},
	{"I think we met before.", ""},
	{"I love Saturdays: no alarm, no rush.", "preference +1 Saturdays"},
	{
		"I love when you fix an old clock and it really ticks again.",
		"preference +1 when you fix an old clock and it really ticks again",
	},
	{"I like swimming, cycling and, above all, long walks.", "preference +1 swimming, cycling and, above all, long walks"},
}

// stated lists what is found in a text, in the form of talk.
func stated(text string) string {
	var got []string
	for _, s := range extract.Extract(extract.Document{Text: text, Speaker: "me"}).Statements {
		speaker := s.Speaker + " "
		if s.Speaker == "me" {
			speaker = ""
		}
		got = append(got, fmt.Sprintf("%s %s%+d %s", s.Kind, speaker, s.Polarity, text[s.Object.Start:s.Object.End]))
	}
	return strings.Join(got, "\n")
}

// TestAnyTalkIsRead: whatever is said, what is kept lies in the text, the object in its quotation, and the
// quotations of one text do not overlap.
func TestAnyTalkIsRead(t *testing.T) {
	t.Parallel()
	pieces := rapid.SampledFrom(strings.Split("I|we|think|that|don't|love|prefer|my|favourite|film|is|it|you|the|tea|"+
		"Anna|likes|when|if|and|but|,|, and|, so|.|!|?|(|)|[|](x)|[shares image: a cat]|`|\"|“|”|<@bo>|>|@bo|:|;| - |-|…|"+
		"https://example.org|one|of|what|thing|about|to|wait|better|in my opinion|'s|"+
		"\n|\n> |* |not|never|this|there|é|#%", "|"))
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.SampledFrom([]string{" ", ""}).Draw(t, "gap")
		said := strings.Join(rapid.SliceOfN(pieces, 0, 40).Draw(t, "pieces"), gap)
		end := 0
		for _, s := range extract.Extract(extract.Document{Text: said, Speaker: "me"}).Statements {
			if s.Span.Start < end || s.Object.Start < s.Span.Start || s.Object.End > s.Span.End ||
				s.Object.Start >= s.Object.End || s.Span.End > len(said) {
				t.Fatalf("%q: %+v", said, s)
			}
			end = s.Span.End
		}
	})
}

// TestWhatTalkSays: what is kept of talk can be read without the talk around it, and says what its speaker meant.
func TestWhatTalkSays(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(talk, more, last) {
		if got := stated(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
