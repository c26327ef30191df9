package claim

import (
	"strings"

	"orgmem/brain/text"
)

// numerals are the numbers that are spelled out in running text. "one" is left
// out: it is a pronoun more often.
var numerals = map[string]float64{
	"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50,
	"hundred": 100, "thousand": 1000, "million": 1e6, "billion": 1e9,
}

// breaks end a clause, and with it the reach of a negation.
var breaks = text.Set(`but although though however while whereas because since unless except yet which who`)

// closed are the words whose kind is known by their form.
var closed = kinds(map[Kind]string{
	Negation: `no not never nobody nothing none neither nor cannot nowhere hardly`,
	Function: `a an the this that these those some any all each every both either such same other another
i you he she it we they me him her us them my your his its our their mine yours hers ours theirs myself
himself herself itself themselves who whom whose which what where when why how there here
am is are was were be been being do does did doing have has had having will would shall should can could
may might must ought
of in on at by for with from to into onto over under above below up down out off about against between
through during before after until till within across along around behind beside near per via as than
someone somebody anyone anybody everyone everybody something anything everything without and or but if because
while although though so then also just only even very too quite rather more most
less least much many few one s t ll re ve d m`,
	Time: `monday tuesday wednesday thursday friday saturday sunday january february march april june july
august september october november december today tomorrow yesterday`,
})

func kinds(lists map[Kind]string) map[string]Kind {
	m := map[string]Kind{}
	for k, words := range lists {
		for w := range strings.FieldsSeq(words) {
			m[w] = k
		}
	}
	return m
}
