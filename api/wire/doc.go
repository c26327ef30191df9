// Package wire reads the JSON that clients send and writes what they are answered.
//
// Decode reads a body in one strict pass, after a Plan that is made once of the Go type:
// it fills the value and, beside it, a tree for huma's validation. The types of fields
// that mean more than JSON does are here: Timestamp, Instant, OrNull, Object, Measure and
// Score. schema.go says in the document's words what those readers refuse.
package wire
