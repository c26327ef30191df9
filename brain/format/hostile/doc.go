// Package hostile makes files that cost much more to read than to send: the tests of
// package format read each of them, and the long runs of cmd/orgmem send all of them
// to the built binary at once. The service does not use it.
//
// A file is made anew each time and is the same each time: there is no chance in it.
// What it is made of follows what is known of such files: archives in archives,
// archives whose files lie over each other, streams that unpack to a thousand times
// their length, tables and lists of nothing but separators, references that lead
// each other in circles.
package hostile
