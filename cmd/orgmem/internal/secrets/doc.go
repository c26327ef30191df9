// Package secrets takes secrets out of text before it leaves a machine.
//
// It promises that what a rule of its catalogue describes is replaced by a mark that
// says what stood there, that a text without secrets comes back as it was, and that
// redacting twice is redacting once. It cannot know a secret by its randomness alone:
// hashes, ids and keys look alike, and a memory whose hashes are gone is of little
// use. So a bare random string without a name, prefix or place that tells what it is
// stays.
//
// Order of calls: Text for prose and program output, JSON for the arguments of a tool,
// where the name of a field may be what tells.
package secrets
