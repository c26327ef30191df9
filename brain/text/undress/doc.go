// Package undress takes the disguise off text: full-width letters and those of mathematics, Cyrillic and Greek letters
// that pass for Latin ones, and invisible marks. Rules and models read the plain text, and quote what was written.
//
// # Promises
//
//   - Pure functions of the text, with no I/O and no clock, linear in its length. Any string is accepted, also invalid
//     UTF-8.
//   - [InPlace] keeps each character where it was: places in it are places in the text.
//   - [Of] gives a shorter text, without anything in the place of what is taken away, and says of each span of it where
//     that was written: on the borders of characters, and in order.
//   - Text that disguises nothing comes back as it is. Letters are of their own script where a word or a text has
//     others that surely are; full-width punctuation stays beside the scripts that write it, and joiners stay in
//     theirs.
//
// # What it hides
//
// Which letters look alike, and how the script of a word is found.
package undress
