// Package scratch is the file system of one store's directory: it keeps in memory the files
// that Pebble makes at every opening and nobody reads, and syncs the directory only where
// something in it may not be durable.
//
// Order of calls:
//
//	known := scratch.NewDurable()        // once in a process
//	files := scratch.New(fs, dir, known) // below it, the directory's ledger
//	pebble.Open(dir, ...)                // with files as its file system
//	files.Settle()                       // when Pebble has closed without a failure
//
// Drop says that another directory may have taken a place that was known to be durable.
package scratch
