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
// What was forgotten in the service does not come back by an import, whatever the file says
// now, unless Options.Again says so: the state names the nodes, and before a document that has
// changed is sent the service is asked for its node.
//
// What it hides: batching, waiting for jobs, and the state file. That file is named for the
// organization's id too, which no other data directory has: so a service that was set up anew
// gets everything. If the service has lost everything that the state names, because it was erased or
// set back to a backup, the summary says so (Summary.Emptied).
package importer
