// Command bench measures what is promised of the built binary, on
// loopback and on the machine it runs on, and prints each figure beside the one
// that was asked. `make bench` runs it; it fails when a promise is not kept. The
// part quality needs Python and the evaluation harness, in ../shared/eval or where
// ORGMEM_EVAL says, the part domains its corpora.
//
// It sees the service from outside only: it starts the binary, speaks HTTP and
// reads /proc. Only the part embed runs the model itself, and cluster-writes and
// cluster-join are benchmarks of package cluster, which alone may put bare raft
// beside ours. Load is closed-loop and bounded in count and time. Inputs are made by
// a seeded generator, so that two runs measure the same.
package main
