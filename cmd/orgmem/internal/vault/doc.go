// Package vault writes the document of an export (docs/export.md) as a folder of
// Markdown, a file for each live note, and reads such files again.
//
// It promises that what stands below the head of a file is the note's content, byte for
// byte; that no name of a file depends on anything but the note's title and id, and is
// one that Linux, macOS and Windows can have; and that it holds of the document no more
// than the names and relations of one memory at a time.
//
// It hides the head: a line of YAML for each field, whose value is JSON, which is YAML
// too.
package vault
