// Package document is the document of an export: its records, how they are written and
// read, and what they are of the records that the service stores. docs/export.md describes
// it for clients.
//
// # Promises
//
//   - Pure functions of their arguments; a [Writer] writes to what it was given.
//   - Each record stands on a line of its own.
//   - What a record of the store has that a client may take along is in the document: an
//     import of the document restores it, but for the name of the memory in ids.
package document
