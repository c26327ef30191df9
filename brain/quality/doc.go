// Package quality makes questions of a memory's own texts, and counts what answers them. It tells an owner whether a
// memory finds what it holds, without anybody having to write questions.
//
// # Promises
//
//   - The same memory gives the same questions: chance is seeded with the text that a question is made of.
//   - A question of a sentence never has all of its words: the most telling are left out, as in half of the questions
//     that a brain is trained on (brain/retriever), so finding it takes more than looking up one rare word.
//   - No question is one that a brain has learned from: other seeds draw other words.
//   - Nothing here keeps a text: a Tally is numbers.
//   - Texts of any kind are taken: what has no words gives no question, and its language is Undetermined.
//
// Two texts are near duplicates by their shingles ([Shingles]), which is for counting. Where one is to stand behind the
// other it must say the same in the same words ([Wording]): a number, a negation, a name or another order is a
// difference, however long the rest is.
//
// It knows nothing of stores, indexes or requests; actors/quality runs it.
package quality
