// Package format turns uploaded files into documents. It looks at the content,
// not at the name alone, takes bytes and returns text; it reads nothing and
// keeps nothing.
//
// # Promises
//
//   - What is not recognised, or cannot be read, is an error. Of an archive, a
//     mailbox or an export the part that cannot be read is a Document that says
//     why, and the others are read.
//   - Structure is kept as Markdown, which the chunks take their title paths from.
//   - The text of a document is UTF-8 without U+0000, shows something, and is at
//     most Limits.Runes long: a longer text is cut at paragraphs into several
//     documents, a longer item of a JSON file is refused.
//   - JSON whose first record is an item is read as strictly as the bodies of POST
//     /v1/ingest: a name that stands twice, or that is not known, is refused and never
//     chosen from. Other JSON is taken in as what somebody wrote (record/loose.go).
//   - The time and the memory that a file costs follow its length, and have bounds of
//     their own, Limits.Work and Limits.Memory, whatever it says. Each reader tells a
//     meter.Meter what it is about to hold, before it does: Limits.More is asked for it
//     and may wait. Limits.GoOn may wait, too, or end the reading.
//   - The errors are written for the person who uploaded the file: they say
//     where, and never quote what.
//
// # Order of calls
//
// Documents, or Transcript, with the file's name and bytes, which stay the
// caller's and are not changed.
//
// # Where what is
//
// This package tells what a file is, and takes archives apart. A package for each family
// of formats reads it: markup, office (with pdf below it), mail and record. They share
// reading, and import no others but markup, whose tables and XML serve them too. A file
// within a file goes back up to this package through reading.Reader.Inner.
package format
