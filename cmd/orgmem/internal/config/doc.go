// Package config turns flags, environment and file into the settings of a
// server, and remembers where each value came from.
//
// There is one table, Settings. Everything that can be configured stands in it:
// name, default, meaning, check. The flags of `orgmem serve`, the environment
// variables, the keys of the file, the page docs/configuration.md and what
// `orgmem doctor` prints are all made from it, so none can disagree.
//
// Order of calls: Load, then Server.Validate's verdict is already in the error:
// Load returns every problem at once, not the first. An unknown key in the file
// is such a problem, since a misspelt setting that is silently ignored is worse
// than a server that does not start.
package config
