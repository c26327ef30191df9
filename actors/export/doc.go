// Package export writes the documents that people download of a memory or of a whole organization, and restores
// memories from the parts of such a document.
//
// A document is written from one snapshot, one document of an organization at a time, and is stored in pieces until
// its time is over. An export that a crash or a move interrupts begins anew. A document that may hold what is forgotten
// ends in the commit that forgets it; one that is being written begins anew. A part may be restored more than once:
// what is there already stays.
//
// It knows the organization (package tenant), the graph that it restores into (package graph), and the format
// (package document). It does not know how a document reaches its reader, or on which node the organization lives.
package export
