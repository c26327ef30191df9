// Package plugin connects coding assistants with a memory: it puts the hooks and the
// MCP server into their settings and takes them out again, and makes what a hook gives
// the model of the memory's answers.
//
// It promises that a settings file is changed only where something is put in or taken
// out, byte for byte; that nothing is changed where one of the files cannot be read;
// that installing twice is installing once; that removing takes out what installing put
// in, and, where nobody has changed the file meanwhile, gives back the bytes that were
// there before; and that no key is ever written. Of the memory it promises that stored
// text cannot leave the place that Quote gives it, whatever it holds.
//
// Order of calls: For, then Install, Remove or Status; and, in a hook, ReadInput, then
// Query, Quote and Answer.
//
// What it hides: which assistant keeps what in which file (table.go), and how a file is
// edited without being written anew (jsonedit.go, tomledit.go).
package plugin
