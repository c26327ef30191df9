// Package moving embeds the memories of a node anew in the background, where they were embedded with another model than
// today's.
//
// # Promises
//
//   - Every organization that the node leads comes to the model of today without anybody asking for anything. One that
//     is wholly in it is marked in the directory, and not opened again for this.
//   - At any time one partition of the node is being moved. Its chunks are embedded by tasks that nobody waits for, in
//     Config.MovingLanes of the CPU workers, and between two steps the mover rests until it has taken
//     Config.MovingPercent of the workers at most.
//   - Organizations take turns of turnChunks chunks, shard by shard. What cannot be moved now keeps no other from its
//     turn, and what was only opened for this leaves memory at once.
//   - What is done is in the store: after a crash, and on the node that leads a shard next, it goes on where it was. An
//     organization that is wholly moved is marked by one entry of the directory.
//
// # What it knows
//
// Which organizations and partitions are to be moved, and how fast. How a partition is (subject.MoveStep) it does not
// know, nor what its vectors are good for.
//
// # Who calls it from where
//
// Feature.Run is the node's one goroutine for it, until the node closes. The Feature's other methods may be called from
// any goroutine, Module.Embedding too.
package moving
