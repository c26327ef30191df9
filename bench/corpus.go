package main

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// corpus makes sentences of everyday words. Real words matter: made-up ones are
// cut into several tokens each, which would make every chunk longer than it
// looks.
type corpus struct{ random *rand.Rand }

func newCorpus(seed uint64) *corpus { return &corpus{rand.New(rand.NewPCG(seed, 1))} }

var (
	nouns = strings.Fields("boiler garden landlord invoice meeting kitchen bridge teacher contract river train window " +
		"ticket doctor engine forest market letter budget harvest mountain library ship hospital radio storm bakery " +
		"village camera orchard printer salary museum bicycle factory lawyer concert island keyboard pilot station " +
		"recipe server database customer project deadline warehouse passport airport lecture committee election")
	verbs = strings.Fields("repaired visited planned painted delivered discussed rejected finished measured ordered " +
		"cancelled approved moved described inspected borrowed cleaned opened counted reviewed signed postponed tested " +
		"bought sold replaced explained improved noticed recorded")
	adjectives = strings.Fields("old quiet urgent expensive green broken annual northern public careful heavy missing " +
		"private simple early foreign modern narrow recent shared small sudden wooden yearly blue final large local")
	people = strings.Fields("Anna Bernd Chidi Dana Elif Farid Grace Hanna Igor Jonas Keiko Lena Mateo Nadia Omar " +
		"Paula Quentin Rosa Sven Tariq Ulla Viktor Wanda Xenia Yusuf Zoe")
	places = strings.Fields("Berlin Lisbon Oslo Nairobi Quito Kyoto Boston Dublin Prague Madrid Athens Vienna Tunis Lima")
)

func (c *corpus) pick(words []string) string { return words[c.random.IntN(len(words))] }

// sentence has about 14 words.
func (c *corpus) sentence() string {
	return strings.Join([]string{
		c.pick(people), c.pick(verbs), "the", c.pick(adjectives), c.pick(nouns), "near the", c.pick(nouns), "in",
		c.pick(places),
		"after the", c.pick(adjectives), c.pick(nouns), "was", c.pick(verbs),
	}, " ") + "."
}

// passage has about 100 tokens and names its number, so that no two are equal.
func (c *corpus) passage(n int) string {
	var b strings.Builder
	b.WriteString("Note " + strconv.Itoa(n) + ". ")
	for range 5 {
		b.WriteString(c.sentence() + " ")
	}
	return strings.TrimSpace(b.String())
}

// query has about 16 tokens.
func (c *corpus) query() string {
	return strings.Join([]string{
		"who", c.pick(verbs), "the", c.pick(adjectives), c.pick(nouns), "of", c.pick(people), "in", c.pick(places),
		"before the", c.pick(nouns), "was", c.pick(verbs),
	}, " ")
}
