// Package importer takes files into the memory through the public interface.
//
// It promises that a file whose bytes have not changed since it was taken in is
// not sent again; that an interrupted import goes on where it stopped; that
// nothing is taken twice, whatever was interrupted, since every document has
// its path as external id; and that every file which is not taken is named with
// its reason.
//
// Order of calls: Scan, OpenState, Import, State.Close. Scan only looks; Import
// sends.
//
// What it hides: batching, waiting for jobs, and the state file. That file is a
// cache of what the service holds. It is believed only after Import has asked
// the service for some of the nodes it names: a service that was set up anew or
// a subject that was erased then gets everything again.
package importer
