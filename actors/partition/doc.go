// Package partition is a partition's memory as reads see it: the reference that names it, its index as an immutable
// snapshot in a cache of the node with a bound in bytes, its settings, its stored vectors, and what queries mean.
//
// A partition is what one member or one subject remembers. Everything here is a copy of what the store says: it can be
// dropped at any time and is read again.
package partition
