// Package claim reads what a text states, sentence by sentence, in the form in
// which statements are set against each other: the words by their stems with
// what negates them, quantities, and, where a sentence gives an attribute of
// something a value ("the deadline of Atlas is 3 May"), that fact. [Values] reads
// the quantities, times and names of a sentence in a form in which "two weeks" and
// "14 days" are the same.
//
// Questions and orders of what to say, to forget or to take for true state nothing; the
// latter are left out where statements are compared ([Stated]). Code is shown and not said. What stands in an address
// is no quantity and no negation, whatever its letters spell.
//
// # Promises
//
//   - Pure functions of the text: no I/O, no clock. A [Reader] caches words,
//     which changes its speed and never its answers.
//   - Any string is accepted, also invalid UTF-8; cost is linear in its length.
//   - A Claim keeps no reference to the text.
//   - Disguised text ([orgmem/brain/text/undress]) gives the claims of the plain text; their places, and
//     what a fact quotes, are of the text as it was written.
//
// # What it hides
//
// Tokens, stems (Snowball, snowballstem.org), the scope of negation (a negation
// reaches to the end of its clause, as in NegEx: Chapman et al. 2001), and the
// patterns by which facts are recognised.
package claim
