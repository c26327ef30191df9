//go:build unfenced

package storage

// fencing: this build takes every write, under whatever lease it was made. It is
// never shipped. The histories of several nodes (make histories) are run against
// it once, to show that they find what fencing prevents.
const fencing = false
