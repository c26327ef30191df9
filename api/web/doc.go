// Package web is the machinery of the HTTP edge, which knows no route: what is said of
// one (Route, Table), how a request becomes an envelope and its reply an answer (Exchange),
// and what all requests of a node share (Edge): bounds on connections and bodies, metrics,
// logs, request ids and draining. It makes the OpenAPI document and its pages of the
// table, and hides gin.
//
// # The order of calls
//
// NewEdge; NewTable with every row, and Finish once the schemas are final; PublicEngine,
// HTTPServer and Listen for each listener. Drain makes new requests fail and ends the
// streams while the others finish.
//
// # A row
//
// On makes a row of an input type, an output type and two functions that translate:
// from the input to the envelope's operation, and from the reply to the output. Streaming
// makes one whose answer is written piece by piece. All else about the route is a field.
package web
