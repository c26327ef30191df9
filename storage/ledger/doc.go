// Package ledger tells damage from an end in the files that Pebble appends to: its
// write-ahead logs and its manifests. Pebble takes the first record that it cannot read for
// the end of a file, so a bit that flips in what was acknowledged last would be an
// acknowledged write that is silently gone.
//
// Order of calls:
//
//	l, err := ledger.Open(fs, dir)  // reads what was claimed of the directory's files
//	err = l.Verify()                // ErrCorrupt, before Pebble opens the directory
//	pebble.Open(dir, ...)           // with l as its file system: each sync is noted
//	l.Close()                       // when Pebble has closed
//
// Seal makes the ledger of a directory that came from another node.
package ledger
