// Package brain is the folder of what the service thinks with, each part a package
// of its own. This one holds no code.
//
// All of it is pure: values in, values out. No I/O, no goroutine, no clock, no
// context, no logger; what is random takes a seed. What must happen in the world
// comes back as data for an actor to carry out, and long work comes in steps, so
// that the actor can stop between two. A test over the imports holds this.
//
// It hides gonum and the mathematics.
package brain
