// Package api is the HTTP edge. It turns a request into one envelope, makes one
// hop to the organization's actor, and writes the answer. It keeps no state of
// any organization, so any node can take any request. It hides gin and huma.
//
// # What it promises
//
// One table of routes (web.Route, routes_*.go) says everything about a route:
// the router, the OpenAPI document, the reference pages, the envelope's scope,
// family, subject mode and idempotency, and the generated tests come from it.
// One catalogue (package problems) does the same for problem codes. One function
// (problems.Render) turns a problem into what the client reads.
//
// A request is decided in one order: draining, the shape of the credential, the
// selector, the body, and then what the organization decides. The edge answers
// by itself only what needs no credential, or has none: an unknown route or
// method, a missing or misshapen key, a draining node, a node with too many
// bytes of bodies under way. All else is the actor's to decide: a fault that the
// edge finds in a selector, query or body travels as a Rejected operation, so
// that 401, 429 and 403 come first and a refused caller still pays.
//
// Bodies are read under a deadline and a budget for the whole node, decoded in
// one strict pass (package wire) that fills the route's Go value and a tree for
// huma's validation, and never echoed. A request costs at most about three times
// its body in memory, whatever the body says.
//
// Every failure is a problem, those that net/http answers before any handler
// included (web/refused.go; not under TLS, where net/http must see its own connection
// type). A panic is a 500 with a request id, and a log line with the stack. Logs
// and metrics hold nothing that a client chose, but for its request id.
//
// What comes in is judged in three places: by huma (lengths, ranges, enums), by the
// readers of single types, and by a row's fill. wire/schema.go and the body types'
// TransformSchema say in the document's words what the latter two refuse, so that the
// document allows what is accepted and nothing else. What no schema can say (two fields
// that must differ, bytes where a schema counts characters, addresses that resolve) stands
// in the descriptions, and in the hooks of the second fuzzer (cmd/orgmem/testdata).
//
// # The order of calls
//
// New checks the configuration and builds both interfaces; nothing listens.
// Serve takes the two listeners and returns after Shutdown. Drain, which
// Shutdown begins with, makes new requests fail with service_draining while
// those under way finish.
//
// # Adding a route
//
// Write its input and output types with json and huma tags (every list has
// maxItems, every object is closed), and a row with web.On: how the input becomes
// the envelope's operation, and how the reply becomes the output. Name the rows in
// Server.newTable. Then `go test ./api -update` rewrites docs/openapi.json, and the
// generated tests ask for a sample body where one is missing.
//
// # Where what is
//
// This package has the routes of the public interface, a file for each family, and puts
// the server together; mcp.go has the Model Context Protocol call it. Below it stand operator
// (the operator interface), mcp (tools for language models, over the interface), web (the machinery
// that knows no route), wire (JSON in and out) and problems (what can be refused); each
// imports those behind it alone.
//
// # Why not huma's own request flow
//
// huma binds and validates before a handler runs, so a caller without a key
// would learn what is wrong with the body, and its decoder takes duplicate names
// and differing case. Its registry, its validation and its OpenAPI model are
// used; the flow is ours.
package api
