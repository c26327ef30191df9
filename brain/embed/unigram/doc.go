// Package unigram splits text into the tokens of a SentencePiece unigram vocabulary, such as XLM-RoBERTa's.
//
// It promises the ids that SentencePiece returns: the text is normalised (nmt_nfkc: compatibility characters are
// replaced, marks composed, control characters dropped, every kind of white space and of zero-width character becomes
// a space), spaces are collapsed, every word gets the mark "▁" before it, and is cut into those pieces whose scores,
// the logarithms of their probabilities, have the largest sum (Kudo 2018, "Subword regularization"; the references are
// SentencePiece 0.2.3 and Hugging Face tokenizers 0.23.3, Unigram). A character without a piece is unknown, and
// unknown characters in a row are one token.
//
// Sums are float64. The scores of a trained vocabulary are float32 between 2 and 32 with the same exponent or two more,
// so that sums of millions of them are exact, the result does not depend on the order of additions, and of equal
// paths the one with the longer last piece is taken, as tokenizers does. SentencePiece itself adds in float32 from the
// beginning of the text, and may choose otherwise between paths that differ by less than its rounding.
//
// Differences, all deliberate: the names of the model's marks in a text ("</s>") are ordinary characters, so that no
// text closes its own sentence; a byte that is not UTF-8 is U+FFFD, which is white space here; and in a word longer
// than 64 KiB whose possible paths never meet (a megabyte of one letter) the best path so far is taken after each
// 64 KiB, so that memory is bounded. Where tokenizers normalises whole graphemes by the rule of their first part, and
// so loses the second mark of a letter written apart, SentencePiece is followed.
//
// Encode writes a vocabulary as one section of bytes, whose layout stands beside it; Open uses such a section where it
// lies. A Tokenizer is immutable and safe for concurrent use. It adds no <s> or </s>; that is the model's business.
package unigram
