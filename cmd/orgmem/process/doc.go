// Package process runs the built orgmem binary as a child, for end-to-end
// tests, crash tests and benchmarks. The service does not use it.
//
// Order of calls: Build once (or name a binary), then Start, which returns when
// the child has said that it is ready; then any of URL, Key, Usage; at the end
// Stop (a clean end), Kill (kill -9) or Wait. A child that is still running when
// the context ends is killed.
//
// Ports are chosen by the child (port 0), so that children never meet.
package process
