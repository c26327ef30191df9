// Package mcptest lets the protocol's own suite of tests (@modelcontextprotocol/conformance)
// judge what package mcp serves.
//
// The suite calls tools, resources and prompts with made-up names ("test_simple_text",
// "test://static-text"), which a reference server has and a memory has not. Source offers
// those to a mcp.Service, so that all else is the product's: the transport, that nothing is
// kept between requests, the credential, headers, bounds, and which capabilities are said.
// Made-up things that need what the product does not offer (logs, questions that reach a
// client outside an answer, subscriptions) are left out: the suite's scenarios of them fail,
// and sdk/mcp's files of expected failures say why.
//
// Suite runs the suite, for the test of Source in package api and for that of the built
// binary in cmd/orgmem. Nothing here is part of the program.
package mcptest
