// Package answer puts texts together out of passages that a search has found: the answer
// to a question, the scaffold around a prompt, and the prompt that introduces a memory to
// another model, with what tells most of a message that has no title ([Gist]).
//
// # Promises
//
//   - Pure functions of their arguments: no I/O, no clock.
//   - An answer says nothing that its passages do not say: it is made of their sentences.
//   - [Tell] tells what a reader has found ([orgmem/brain/reader]): of the passages that answer the
//     sentence that holds the answer, who wrote it where that was another than the asker, the later
//     of two values; or that nothing answers, in the question's language. What others say of
//     themselves does not answer for the asker, or for a third. Of a sentence that is longer than the
//     answer may be it tells the words around what answers.
//   - Of passages that answer about as well, in [Tell] by the reader and in [Compose] by their scores, those in the
//     question's language are told, and not beside them what says the same in another, as far as numbers, times and the
//     words of values let that be seen.
//   - Courtesies ("Hey Nora!") and what a chat says was shown ("[shares a photo]") answer nothing, and
//     are left out where they stand about what does.
//   - Nods, headings, questions and, unless one is asked for, addresses answer nothing; nor does a sentence
//     without anything of the kind that is asked (who, when, how much) or, unless the reader is very sure, a
//     passage that does not speak of what the question names. An item of a list is told below the one that it
//     stands under.
//   - Where the reader has read a stretch of many sentences, the one that answers is read again by itself
//     ([ReadCloser]): in a page it finds something that answers nearly whatever is asked.
//   - Without a reader [Compose] chooses sentences greedily by the share of the question's words that
//     they hold, weighted by the score of their passage, as long as the answer's length allows
//     (compare Lin and Bilmes, 2010, whose objective rewards coverage, too). They stand in the order
//     in which they were written.
//   - What a model has worded takes the place of that only sentence by sentence, each as
//     far as the passages that it names say it ([orgmem/brain/grounding]).
//   - Somebody's text never stands outside of a quotation in a prompt for a model: it may
//     read like an order.
package answer
