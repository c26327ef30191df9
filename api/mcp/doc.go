// Package mcp offers a memory to language models over the Model Context Protocol: eight
// tools, the recall views as resources, and the conditioning routes as prompts. It hides
// the SDK of the protocol.
//
// # What it promises
//
// It decides nothing. Every tool is one or a few requests of the HTTP interface, sent
// through a Caller: in process where the service itself speaks the protocol (POST /mcp),
// over HTTP where `orgmem mcp` does. So the credential, the rate limits, the subject's
// rules, the scopes, the audit trail and all bounds are those of the interface.
//
// It keeps nothing between two requests: no session, no list of what was listed. What a
// key may do is asked anew for each of them, and tools that the key's scopes do not allow
// are not listed.
//
// What is stored is data. Whatever an answer quotes from memory stands as strings of JSON,
// behind a note that says so; in text it also stands between two marks with a name that
// chance gave to this one answer, so that no stored text can close the quotation. What a
// person would not see (tag characters, overrides of direction, control characters) is not
// quoted (package comment of quote.go).
//
// A refusal of the service is the answer of a tool, not an error of the protocol: it says
// the code, what was wrong, and what to do next, for the model that called.
//
// # What it costs a model
//
// The definitions of all tools, as tools/list sends them, are at most 1,200 tokens; a test
// counts them. Answers have bounds of their own (limits.go).
//
// # The order of calls
//
// New checks the settings and makes a Service. Answer answers one POST of the HTTP
// transport; ServeStdio speaks with one client until its input ends.
package mcp
