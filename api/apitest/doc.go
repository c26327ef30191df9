// Package apitest holds answers to the OpenAPI document. The tests of package api
// do it for each of theirs, those of cmd for what the whole service and the built
// binary answer: what a client was promised is looked up in one way.
//
// It knows the document alone, never the table of routes from which that is made.
package apitest
