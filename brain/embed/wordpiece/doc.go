// Package wordpiece splits text into the tokens of BERT's uncased vocabulary.
//
// It promises the ids that the models' own tokenizer returns: control and
// format characters are dropped, white space separates, CJK ideographs stand
// alone, accents are stripped by canonical decomposition, letters are lowered,
// every punctuation mark stands alone, and each word is cut greedily into the
// longest pieces of the vocabulary, or becomes [UNK] when that fails or when
// it is longer than 100 characters (Devlin et al. 2018; the reference is
// Hugging Face tokenizers, BertNormalizer and BertPreTokenizer).
//
// One deliberate difference: the names of special tokens in a text ("[SEP]")
// are ordinary characters. The reference turns them into control tokens, which
// would let a user's text close its own sentence.
//
// Where in the text each token stands, AppendSpans tells.
//
// A Tokenizer is immutable after New and safe for concurrent use. It adds no
// [CLS] or [SEP]; that is the model's business.
package wordpiece
