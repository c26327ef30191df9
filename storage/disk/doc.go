// Package disk is the disk that storage writes to, with everything that is known about
// where a disk must not be trusted.
//
//   - A Disk is the file system below everything that storage writes. A sync or a write
//     that fails stops the process (Stopper) before anybody is answered, unless the disk
//     is full.
//   - Free space is watched: writes are refused (ErrNoSpace) before the disk is full, and
//     a file that only holds space is given back when it is full all the same.
//   - Files and directories that are made here are there after a power failure, whole.
//   - The descriptors of the process are shared out among stores, tables and connections
//     (StoresFor, FileCacheSize, Connections).
package disk
