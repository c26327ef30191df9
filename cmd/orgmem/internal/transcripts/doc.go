// Package transcripts pushes what coding assistants write of their sessions into the
// memory, through the public interface.
//
// It promises that no secret of the catalogue of package secrets leaves the machine in
// it; that what was pushed is not read again; that an interrupted push goes on where
// it stopped; and that nothing is stored twice, whatever was interrupted, since every
// event has an id of its own, by which the service knows it.
//
// Order of calls: Find, OpenState, Push, State.Close.
//
// What it hides: the formats. Each assistant has an adapter (claude.go, codex.go,
// gemini.go), which makes events and signals of a record and knows nothing of files,
// secrets or the service. A record that an adapter does not know is left out: the
// formats are the assistants' own, and they change without notice.
package transcripts
