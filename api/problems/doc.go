// Package problems is the catalogue of everything that a request can be refused for, and
// how a problem is put together: one entry for each code, with its status, its title and
// what the page under /docs/errors says (catalogue.go); the faults of single fields
// (Violations); and the RFC 9457 object that the client reads (Render).
//
// A problem travels as pb.Problem, a code with perhaps a detail. Render alone knows what
// stands around it, so that every answer of one code reads alike.
package problems
