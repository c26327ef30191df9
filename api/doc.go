// Package api is the HTTP edge: it turns a request into one envelope, asks the
// organization's actor, and writes the answer.
package api
