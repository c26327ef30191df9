package shape

import "orgmem/brain/text"

// wares are nouns that say of the word in backquotes beside them that it names a thing.
var wares = text.Set(`library libraries package packages module modules crate gem plugin plugins extension
	command commands tool tools utility program binary executable script scripts function functions method methods
	class classes struct interface trait macro macros procedure service services daemon container containers image
	repo repository table database schema framework collection app application api endpoint server cluster host
	queue dataset component widget hook middleware driver client sdk cli project job pipeline branch namespace
	bucket`)

// wielded are verbs behind which stands what is run, installed or called.
var wielded = text.Set(`use uses used using run runs ran running call calls calling invoke invokes install
	installs installed installing import imports importing upgrade upgraded deploy deployed deploying`)

// Ware tells whether a word, in small letters, is such a noun.
func Ware(w string) bool { return wares[w] }

// Wields tells whether a word, in small letters, is such a verb.
func Wields(w string) bool { return wielded[w] }

// parts are nouns that say that a word in backquotes is a value, or something that has one.
var parts = text.Set(`option options flag flags argument arguments parameter parameters param params annotation
	annotations field fields key keys value values label labels tag tags level state status attribute attributes
	property properties variable variables keyword keywords path suffix prefix setting settings button checkbox menu
	word words string character column row type types error`)

// Part tells whether the word behind one in backquotes says that it is a part of something else.
func Part(behind []string) bool { return len(behind) > 0 && parts[behind[0]] }

// Series are the words before a number that name a document or a ticket.
var Series = text.Set(`pep rfc iso eip jep bip adr kep pr mr issue ticket bug incident ieee request`)
