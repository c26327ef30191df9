package storage

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/atomicfs"

	"orgmem/storage/ledger"
	"orgmem/storage/scratch"
)

// instance is an open Pebble directory with its ledger.
type instance struct {
	*pebble.DB
	ledger *ledger.Ledger
	files  *scratch.Files // of a store; nil of the log
	edited bool           // a manifest was begun since the opening (newManifest); guarded by openStore.apply
}

// newManifest has the instance begin a manifest, with the present tables only, unless it
// has since it was opened. Pebble does so with the first change of the tables, and a flush
// of nothing is one to it. A checkpoint needs it: what it copies of a manifest is as much
// as was written to it since the opening.
func (i *instance) newManifest() error {
	if i.edited {
		return nil
	}
	err := i.Flush()
	i.edited = err == nil
	return err
}

// Close closes all.
func (i *instance) Close() error {
	err := errors.Join(i.DB.Close(), i.ledger.Close())
	if err == nil && i.files != nil {
		i.files.Settle()
	}
	return err
}

// openInstance opens a Pebble directory, or makes one in an empty directory. What was
// acknowledged of its write-ahead logs and manifests is there and right, or it is
// ErrCorrupt: Pebble itself does not see all of that (ledger). known is for a store, and
// nil for the log, whose files are all read.
func openInstance(fs vfs.FS, dir string, o *pebble.Options, known *scratch.Durable) (*instance, error) {
	l, err := ledger.Open(fs, dir)
	if err != nil {
		return nil, err
	}
	i := &instance{ledger: l}
	o.FS = l
	if known != nil {
		i.files = scratch.New(l, dir, known)
		o.FS = i.files
	}
	if i.DB, err = openVerified(l, dir, o); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return i, nil
}

func openVerified(l *ledger.Ledger, dir string, o *pebble.Options) (*pebble.DB, error) {
	if err := l.Verify(); err != nil {
		return nil, err
	}
	raised, err := beginFormat(l.FS, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	db, err := pebble.Open(dir, o)
	if err != nil || !raised {
		return db, err
	}
	// Opened in an older format, and raised only when its write-ahead log was there: the
	// second opening begins another one.
	if err := db.Close(); err != nil {
		return nil, err
	}
	return pebble.Open(dir, o)
}

// formatMarker is the name that Pebble gives the marker of a directory's format.
const formatMarker = "format-version"

// beginFormat writes the format into an empty directory before Pebble is there. Pebble
// would begin with the oldest format and raise it at the end of its opening, when the
// first write-ahead log exists already: that one has no sync offsets for as long as it is
// written, which is until the next start. It reports whether a directory that is not
// empty has a format without them.
func beginFormat(fs vfs.FS, dir string) (raised bool, err error) {
	marker, value, err := atomicfs.LocateMarker(fs, dir, formatMarker)
	if err != nil {
		return false, fmt.Errorf("read the format: %w", err)
	}
	defer func() { err = errors.Join(err, marker.Close()) }()
	if value != "" {
		format, err := strconv.ParseUint(value, 10, 64)
		// what is no number Pebble refuses
		return err == nil && pebble.FormatMajorVersion(format) < pebble.FormatWALSyncChunks, nil
	}
	names, err := fs.List(dir)
	if err != nil {
		return false, fmt.Errorf("list: %w", err)
	}
	for _, name := range names {
		if ledger.Follows(name) || strings.HasPrefix(name, "marker.") {
			return true, nil // a creation that was cut short, by a version that did not do this
		}
	}
	if err := marker.Move(pebbleFormat.String()); err != nil {
		return false, fmt.Errorf("write the format: %w", err)
	}
	return false, nil
}
