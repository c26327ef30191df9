// Package storage is what lasts: one Pebble store per organization and realm,
// and one raft log for all replica groups of the process.
//
// # Promises
//
//   - What Log.Append acknowledged is on disk. A failed fsync stops the process
//     before anybody hears otherwise.
//   - A store is at every moment, also after a crash, the result of a prefix of
//     its log, and its own State says of which one. Entries are applied once,
//     however often they are replayed, and refused alike on every replica.
//   - Damage is distinguished from an end. Every byte of a log or a manifest that was synced is
//     compared when it is opened (ledger), and every block of a table when it is read. A
//     log that is damaged is not opened (ErrCorrupt); a store that is takes only itself
//     out of service (ErrOutOfService).
//   - No key reaches into another organization or partition: keys come from a
//     Space only, and a key on the wrong store panics.
//   - What Batch.EraseRange removed leaves the store's files, also across
//     restarts; Node.Erase waits for it. Log.Owed remembers, as durably, that the
//     log still has it.
//   - A store that comes from another node (Stage) takes its place as a whole or
//     not at all, holds what it must hold, and is byte for byte what was sent. One
//     that is made of a backup's parts (Rebuild) takes it in the same way, and has
//     the records that were there (Extract), whichever replica they came from.
//   - Open stores, caches, batches and pieces have bounds; a full disk refuses
//     writes (ErrNoSpace) and goes on reading.
//
// # Order of calls
//
//	n, err := storage.Open(opts)          // one process per directory, else ErrLocked
//	n.Writable()                          // before a proposal; or n.Finishable()
//	n.Log().Append(group, entries)        // raft: durable on return
//	h, err := n.AcquireForApply(id)       // replica: one batch, then Release
//	h.ApplyBatch(entries)                 // visible on return, durable by the log
//	n.FlushStores(ctx, shard)             // before a snapshot index is published,
//	n.Log().DeleteRange(group, 1, index)  //   and only then the log is truncated
//	h, err := n.Acquire(id)               // readers: Get, Scan, Snapshot, Release
//	n.Close()
//
// The stores' write-ahead logs are off: the raft log is the write-ahead log. So
// before the raft log is truncated the stores must have been flushed, and a
// store that is evicted or closed is flushed first, because raft replays only
// when the process starts.
//
// # Hidden
//
// Pebble, and everything that is known about where it must not be trusted:
// Logger.Fatalf that may not return, the manifest that remembers keys, recycled
// write-ahead logs that remember entries. Package storagetest offers file
// systems that crash and fail to the tests of other packages.
package storage
