package claim

import "orgmem/brain/text"

// maxClaims bounds the sentences of one passage that are read: a chunk of 200
// word pieces has some ten, a table of one-word lines more.
const maxClaims = 64

// Source is a text to be read.
type Source struct {
	Text string
	// Title is what the text stands under: the subject of a line such as
	// "Status: final". It may be empty.
	Title string
	// Speaker is whom "my" and "our" mean. It may be empty.
	Speaker string
}

// Claim is one sentence as it is compared with others.
type Claim struct {
	// Span is where the sentence stands in the text it was read from.
	Span text.Span
	// Fact is what the sentence gives a value to; the zero value: nothing.
	Fact Fact
	// Words are its tokens in order.
	Words []Word
	// Asks: it is a question, which states nothing.
	Asks bool
	// Orders: it only tells somebody to do something, which states nothing either.
	Orders bool
	// Shows: it is only code, which its writer shows and does not say.
	Shows bool
	// Points: it only says where something is to be found, by an address alone or behind a label, or that somebody was
	// there and how they are reached.
	Points bool
}

// Fact says that an attribute of a subject has a value. All three are as
// written, without surrounding white space.
type Fact struct {
	// Key is the same for two facts of one attribute of one subject, however they
	// are worded; 0 where there is no fact.
	Key                       Key
	Subject, Attribute, Value string
	// Same is the same for two values that say the same.
	Same uint64
	// Words are the value's.
	Words []Word
}

// Key names an attribute of a subject within one partition.
type Key uint64

// Word is one token of a claim.
type Word struct {
	// Stem is what words of one form share.
	Stem string
	// Form is the word in lower case.
	Form string
	Kind Kind
	// Name: it is written as a name is, with a capital or a digit inside the
	// sentence.
	Name bool
	// Not: a negation reaches it.
	Not bool
	// Label: it stands in front of what is said, as "Dana" in "Dana: it is done": who
	// speaks, or of what.
	Label bool
	// Code: it stands in marks of code, where no word means what it means in a sentence.
	Code bool
	// Link is the place of the address that it is part of among those of the text, from 1 on; 0: it is part of none.
	Link int32
	// Start and End are its byte offsets in the text.
	Start, End int32
}

// Kind is what a word does in a sentence.
type Kind uint8

const (
	// Content words carry the meaning.
	Content Kind = iota
	// Function words hold the sentence together.
	Function
	// Negation turns what follows around.
	Negation
	// Number is a quantity, in digits or spelled out.
	Number
	// Time is a weekday, a month, or a date.
	Time
)
