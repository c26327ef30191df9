// Package node is what the actors of one node share: the workers that reads and computations run on, in queues with a
// bound, where organizations take turns, and the count of the calls before which those stand back. It knows no actor,
// no store and no message.
package node
