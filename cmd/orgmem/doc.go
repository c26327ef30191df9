// Command orgmem is the whole service in one binary, and the tool to run it.
//
// It holds no logic of the service. serve.go reads like a recipe: it opens the
// storage, starts the cluster, the actors and the HTTP edge in this order, and
// stops them in the opposite one; wire.go knows what each is made of. The other
// commands are clients: org, member and key speak to the operator interface,
// import, export, search and mcp to the public one.
//
// Beside it, internal/config is the table of settings, internal/client speaks
// HTTP, internal/importer takes in folders, internal/migrate what other memory products export,
// internal/vault writes notes as Markdown, internal/hooks receives webhooks,
// internal/doctor examines the machine, internal/manpage writes the manual,
// and process starts the built binary as a child for tests and benchmarks.
//
// Results go to standard output, everything else to standard error. With --json
// a command prints exactly one JSON object, but webhook listen one per delivery. Exit status: 0 done, 1 failed, 2
// wrongly called, 130 interrupted.
package main
