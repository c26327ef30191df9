package stance

import (
	"strings"

	"orgmem/brain/text"
)

// attitude is what a verb says of its subject.
type attitude struct {
	kind       Kind
	polarity   int
	confidence float64
	praise     bool // it is said of what is looked at, too
	wish       bool // of what is to be
	clausal    bool // it takes more than a clause: "believe in"
}

// attitudes are the verbs behind "I" or "we", in words; see thirds for others. "Guess" and "suppose" are not among
// them: who guesses does not hold it.
var attitudes = map[string]attitude{
	"prefer":              {kind: Preference, polarity: 1, confidence: 0.95},
	"rather":              {kind: Preference, polarity: 1, confidence: 0.7},
	"love":                {kind: Preference, polarity: 1, confidence: 0.85, praise: true},
	"enjoy":               {kind: Preference, polarity: 1, confidence: 0.85, praise: true},
	"adore":               {kind: Preference, polarity: 1, confidence: 0.85, praise: true},
	"like":                {kind: Preference, polarity: 1, confidence: 0.75, praise: true},
	"have always loved":   {kind: Preference, polarity: 1, confidence: 0.85, praise: true},
	"'ve always loved":    {kind: Preference, polarity: 1, confidence: 0.85, praise: true},
	"have always liked":   {kind: Preference, polarity: 1, confidence: 0.75, praise: true},
	"'ve always liked":    {kind: Preference, polarity: 1, confidence: 0.75, praise: true},
	"have always hated":   {kind: Preference, polarity: -1, confidence: 0.85},
	"'ve always hated":    {kind: Preference, polarity: -1, confidence: 0.85},
	"favor":               {kind: Preference, polarity: 1, confidence: 0.8},
	"favour":              {kind: Preference, polarity: 1, confidence: 0.8},
	"hate":                {kind: Preference, polarity: -1, confidence: 0.85},
	"dislike":             {kind: Preference, polarity: -1, confidence: 0.9},
	"loathe":              {kind: Preference, polarity: -1, confidence: 0.9},
	"detest":              {kind: Preference, polarity: -1, confidence: 0.9},
	"despise":             {kind: Preference, polarity: -1, confidence: 0.9},
	"ca n't stand":        {kind: Preference, polarity: -1, confidence: 0.9},
	"ca n’t stand":        {kind: Preference, polarity: -1, confidence: 0.9},
	"ca n't bear":         {kind: Preference, polarity: -1, confidence: 0.8},
	"ca n’t bear":         {kind: Preference, polarity: -1, confidence: 0.8},
	"cannot stand":        {kind: Preference, polarity: -1, confidence: 0.9},
	"always use":          {kind: Preference, polarity: 1, confidence: 0.8},
	"usually use":         {kind: Preference, polarity: 1, confidence: 0.75},
	"never use":           {kind: Preference, polarity: -1, confidence: 0.8},
	"swear by":            {kind: Preference, polarity: 1, confidence: 0.8},
	"am into":             {kind: Preference, polarity: 1, confidence: 0.6},
	"am fond of":          {kind: Preference, polarity: 1, confidence: 0.9, praise: true},
	"am tired of":         {kind: Preference, polarity: -1, confidence: 0.6},
	"am sick of":          {kind: Preference, polarity: -1, confidence: 0.6},
	"am a fan of":         {kind: Preference, polarity: 1, confidence: 0.9, praise: true},
	"am a big fan of":     {kind: Preference, polarity: 1, confidence: 0.9, praise: true},
	"am a huge fan of":    {kind: Preference, polarity: 1, confidence: 0.9, praise: true},
	"am not a fan of":     {kind: Preference, polarity: -1, confidence: 0.9},
	"am no fan of":        {kind: Preference, polarity: -1, confidence: 0.9},
	"am not a big fan of": {kind: Preference, polarity: -1, confidence: 0.9},
	"avoid":               {kind: Preference, polarity: -1, confidence: 0.6},
	"think":               {kind: Belief, polarity: 1, confidence: 0.7},
	"believe":             {kind: Belief, polarity: 1, confidence: 0.85},
	"believe in":          {kind: Belief, polarity: 1, confidence: 0.8, clausal: true},
	"suspect":             {kind: Belief, polarity: 1, confidence: 0.7},
	"assume":              {kind: Belief, polarity: 1, confidence: 0.6},
	"reckon":              {kind: Belief, polarity: 1, confidence: 0.7},
	"feel that":           {kind: Belief, polarity: 1, confidence: 0.7},
	"doubt":               {kind: Belief, polarity: -1, confidence: 0.7},
	"am convinced":        {kind: Belief, polarity: 1, confidence: 0.9},
	"am sure":             {kind: Belief, polarity: 1, confidence: 0.7},
	"am certain":          {kind: Belief, polarity: 1, confidence: 0.8},
	"am confident":        {kind: Belief, polarity: 1, confidence: 0.75},
	"agree that":          {kind: Belief, polarity: 1, confidence: 0.75},
	"disagree that":       {kind: Belief, polarity: -1, confidence: 0.75},
	"would argue":         {kind: Belief, polarity: 1, confidence: 0.75},
	"'d argue":            {kind: Belief, polarity: 1, confidence: 0.75},
	"would say":           {kind: Belief, polarity: 1, confidence: 0.55},
	"'d say":              {kind: Belief, polarity: 1, confidence: 0.55},
	"expect that":         {kind: Belief, polarity: 1, confidence: 0.6},
}

const (
	// maxAttitude is the longest key of attitudes, in words.
	maxAttitude = 6
	// How sure what is said without such a verb is, and at most what is said below one of thinking.
	sureOpinion, sureFavourite, leastEmbedded = 0.8, 0.9, 0.7
	// maxBeforeOpinion is how many words may stand before "in my opinion".
	maxBeforeOpinion = 2
	// maxHead bounds the words of "the two things", maxAbout those of "about Lisbon".
	maxHead, maxAbout = 4, 8
)

// thirds maps the verbs of a third person to their first: prefers, thinks.
var thirds = func() map[string]string {
	m := map[string]string{}
	for verb := range attitudes {
		first, rest, more := strings.Cut(verb, " ")
		switch {
		case first == "am":
			m["is"+strings.TrimPrefix(verb, "am")] = verb
		case !more && first != "rather":
			m[first+"s"] = verb
		case first == "believe" || first == "feel" || first == "agree" || first == "disagree" || first == "expect" ||
			first == "swear":
			m[first+"s "+rest] = verb
		}
	}
	return m
}()

// opinions open a belief without a verb.
var opinions = [][]string{
	{"in", "my", "opinion"},
	{"in", "my", "view"},
	{"in", "my", "experience"},
	{"imo"},
	{"imho"},
	{"my", "view", "is"},
	{"my", "opinion", "is"},
	{"it", "seems", "to", "me"},
}

var (
	// fillers stand between a subject and its verb without changing what it says.
	fillers = text.Set(`really also still just personally definitely absolutely generally strongly actually do much would
		'd ’d truly firmly honestly kind of sort always usually mostly normally typically often simply`)
	always = text.Set(`always usually mostly normally typically often necessarily`)
	// flips deny the verb behind them.
	flips     = text.Set(`not n't n’t never hardly barely rarely seldom`)
	negations = text.Set(`not n't n’t never no nobody nothing none neither cannot without hardly`)
	// joiners stand before a clause that says as much as one alone.
	joiners = text.Set(`and but or so because since as although though yet plus while whereas then`)
	// asides stand before a subject without changing what is said.
	asides = text.Set(`well personally honestly frankly actually basically generally usually overall also still though
		however therefore now today nowadays ok okay yes no yeah yep oh ah hmm lol haha`)
	// supposes stand before what is only asked or supposed.
	supposes = text.Set(`if do did should can could would when whenever what whatever whether unless how am was were where
		who whom which before until once does will shall may might have`)
	// reports are verbs of what others say, or of what is not so.
	reports = text.Set(`said says thought thinks wish wished hope hoped imagine imagined pretend pretended claim claims
		claimed told tells wrote writes asked asks suppose guess`)
	// leads are verbs before what is said as it stands.
	leads = text.Set(`know knows knew mean say admit confess realise realised realize realized found find noticed think
		believe tell see sure afraid glad happy`)
	facts = text.Set(`fact thing truth reason problem news`)
	// openers begin what tells when.
	openers = text.Set(`these those this last most some every each any once sometimes nowadays lately usually`)
	// points are words that mean something outside of the sentence.
	points = text.Set(`it its this these those they them their theirs he him his she her hers you your yours there u ur
		former latter`)
	beings     = text.Set(`is are was were 's ’s`)
	favourites = text.Set(`favorite favourite favorites favourites fave`)
	// partial are nouns that say what of only with "of".
	partial = text.Set(`part parts one ones thing things bit scene moment moments way side place kind sort type aspect`)
)
