// Package node is what the actors of one node share: the workers that reads and computations run on, in queues with a
// bound, where organizations take turns. It knows no actor, no store and no message.
package node
