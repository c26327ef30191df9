// Package describe has the words of the OpenAPI document that a struct's tag has no room for. It promises that
// the document says of a field what stands here under its type and name, and holds no code.
package describe
