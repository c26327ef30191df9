// Command bench measures what issue and README promise of the built binary, on
// loopback and on the machine it runs on, and prints each figure beside the one
// that was asked. `make bench` runs it.
//
// It sees the service from outside only: it starts the binary, speaks HTTP and
// reads /proc. Load is closed-loop and bounded in count and time. Inputs are
// made by a seeded generator, so that two runs measure the same.
package main
