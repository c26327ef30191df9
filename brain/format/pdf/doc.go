// Package pdf reads the text of PDF files (ISO 32000-1), line by line with the
// sizes of their letters.
//
// # Promises
//
//   - Any bytes are accepted; nothing panics, and every loop is over bytes of the
//     file or counted against a bound. What is decoded of the file is bounded by
//     maxDecoded across all its pages, fonts and forms together, and the meter counts
//     all of it, and what is held before it is held.
//   - A file whose directory is damaged is read by looking for its objects. A page
//     that cannot be read is left out, and counted.
//   - Nothing of a file is executed: scripts, forms and attachments are not looked
//     at.
//
// # Why not a library
//
// Of the readers in Go that are looked after, none may be given a stranger's file
// in a process that goes on. github.com/ledongthuc/pdf, which gives text, reads a
// string without an end in a font's table for ever (its lexer answers line ends
// behind the end of a stream), follows a directory that names itself for ever,
// makes tables of whatever size a file asks for, and unpacks without bound; none of
// that can be stopped from outside. github.com/pdfcpu/pdfcpu checks and rewrites
// files, and gives no text.
package pdf
