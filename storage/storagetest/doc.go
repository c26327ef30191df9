// Package storagetest gives tests a disk of their own: in memory, able to lose
// power (Crash), to fail (FailSync, FailWrite) and to fill up (Capacity), and
// searchable for bytes that should be gone (Find). It knows Pebble's vfs so
// that tests of other packages need not.
//
// A Disk promises what a real disk does: after Crash only what was synced is
// sure to be there, and of the rest any part may be.
package storagetest
