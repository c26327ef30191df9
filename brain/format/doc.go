// Package format turns uploaded files into documents. It looks at the content,
// not at the name alone, takes bytes and returns text; it reads nothing and
// keeps nothing.
//
// # Promises
//
//   - What Detect does not recognise, or recognises and cannot read yet, is an
//     error that names what can be read.
//   - The text of a document is UTF-8 without U+0000 and at most MaxRunes long;
//     longer texts are cut at paragraphs into several documents.
//   - The errors are written for the person who uploaded the file: they say
//     where, and never quote what.
//
// # Order of calls
//
// Documents, or Transcript, with the file's name and bytes.
package format
