// Package topic names what belongs together: a readable label and keywords for
// each of several groups of passages, by what sets each apart from the others.
//
// # Promises
//
//   - [Describe] is a pure function. Whatever the texts are, it answers, and a
//     group in which nothing stands out gets an empty label.
//   - A keyword is written as the texts mostly write it ("GraphQL", "San José"),
//     stands in at least two texts where there are more than two, and is no
//     function word of the languages that package text knows. In English it is a
//     noun, or a phrase that ends with one.
//   - A title counts once for all texts that have it, and so does a line that
//     several longer texts repeat. Captions, quoted lines and those who write
//     are no topics.
//   - A label is made of what a few texts say. Where there is nothing of the
//     kind it is empty.
//   - Labels do not flicker: one whose words still describe the group stays.
//
// # What it hides
//
// Class-based TF-IDF over words and word pairs (Grootendorst 2022, arXiv
// 2203.05794), smoothed and weighted by how many passages of the group hold a
// word.
package topic
