// Package prototest shows in tests what of a message, or of an object of JSON, is not as it should
// be, field by field.
package prototest
