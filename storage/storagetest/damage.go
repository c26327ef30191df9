package storagetest

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"orgmem/storage"
)

// Flip changes bits of one byte of a file; twice is as before. at chooses the byte.
func (d *Disk) Flip(t testing.TB, path string, at func(content []byte) int, bits byte) {
	t.Helper()
	f, err := d.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(f)
	if err == nil {
		i := at(raw)
		_, err = f.WriteAt([]byte{raw[i] ^ bits}, int64(i))
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// FlipTables changes a bit at the beginning of each table of an organization's store,
// where its records are; twice is as before.
func (d *Disk) FlipTables(t testing.TB, id storage.StoreID) {
	t.Helper()
	dir := d.PathJoin(Dir, "stores", id.String()[:2], id.String())
	names, err := d.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	flipped := 0
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			d.Flip(t, d.PathJoin(dir, name), func([]byte) int { return 20 }, 1)
			flipped++
		}
	}
	if flipped == 0 {
		t.Fatalf("%v has no tables", id)
	}
}
