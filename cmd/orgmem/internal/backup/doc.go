// Package backup keeps copies of everything that a service holds in a vault: a
// directory, or a bucket of an S3-compatible store.
//
// # What a vault holds
//
//	orgmem-vault                 what it is, and for which key it is encrypted
//	blobs/ab/<sha256>.zst        one part of a store, compressed and encrypted
//	blobs/ab/<sha256>            one file of a store, encrypted (of older programs)
//	snapshots/<time>-<id>        one backup: which files make which store
//
// A blob is named by the SHA-256 of its content. The service hands out a store as parts
// of its records, cut where their content says (storage.Extract): where nothing was
// written a part is the same as before, also on another node. So a backup writes only
// what is new since the last one: it is incremental, and yet each snapshot is complete
// by itself.
//
// Blobs and snapshots are encrypted to the operator's key with age
// (https://age-encryption.org/v1). Making a backup needs the public half alone, so
// the machine that makes them cannot read them.
//
// # Consistency
//
// Each store is copied as it is at one moment, while it is written to. An
// organization is one store and its sandbox another, and nothing spans two
// organizations, so each organization is consistent. The directory (which keys and
// organizations there are) is copied last: it knows every key and organization that
// is in the copies, and at most some that are not.
//
// A snapshot is written when all its files are there; one that was interrupted
// leaves files that the next one finds.
package backup
