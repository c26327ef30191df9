package format

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"orgmem/brain/format/hostile"
	"orgmem/brain/format/reading"
)

// hostileSample are files that each go to a bound of their own, in tenths of a second.
var hostileSample = []string{
	packedTwice, "attached.eml.gz", "attributes.docx", "cells.docx", "wide.ods",
	"packed objects.pdf", "array.pdf", "commas.csv", "chatgpt.json",
}

// packedTwice is the one file that both tests of memory read under the race detector, where packing 64 MiB takes
// seconds: it is made once. make invariants runs them with all their files.
const packedTwice = "gzip of gzip.gz"

var makePackedTwice = sync.OnceValue(func() []byte {
	for _, f := range hostile.Files() {
		if f.Name == packedTwice {
			return f.Make()
		}
	}
	return nil
})

// sampled makes the hostile files of these names, under the race detector only packedTwice.
func sampled(t *testing.T, names []string, read func(name string, data []byte)) {
	t.Helper()
	if raceEnabled {
		names = []string{packedTwice}
	}
	seen := 0
	for _, f := range hostile.Files() {
		switch {
		case !slices.Contains(names, f.Name):
			continue
		case f.Name == packedTwice:
			read(f.Name, makePackedTwice())
		default:
			read(f.Name, f.Make())
		}
		seen++
	}
	if seen != len(names) {
		t.Errorf("%d of %d files are there", seen, len(names))
	}
}

// TestReadingHoldsWhatItSays: of files that cost much more to read than to send no more
// is alive at any time than was asked for before, and none takes more than one file may.
func TestReadingHoldsWhatItSays(t *testing.T) {
	// What the collector does not see as garbage yet, and what is counted in round figures.
	const slack = 12 << 20
	sampled(t, hostileSample, func(name string, data []byte) {
		alive := func() int {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		before := alive()
		granted, looks := reading.FirstMemory, 0
		docs, _, err := Documents(name, data, reading.Limits{
			Bytes: 16 << 20,
			GoOn: func() error {
				if looks++; looks%64 == 1 {
					if held := alive() - before; held > granted+slack {
						t.Errorf("%s: %d MiB are alive, %d were granted", name, held>>20, granted>>20)
						return errors.New("enough")
					}
				}
				return nil
			},
			More: func(n int) error { granted += n; return nil },
		})
		if granted > reading.MaxMemory {
			t.Errorf("%s: %d MiB were granted", name, granted>>20)
		}
		if err == nil && len(docs) == 0 || err != nil && !errors.Is(err, reading.ErrFile) {
			t.Errorf("%s: %d documents, %v", name, len(docs), err)
		}
		runtime.KeepAlive(data)
	})
}

// TestReadingEndsWithoutMemory: what is not granted is not held, and the reason is the
// one of whoever did not grant it.
func TestReadingEndsWithoutMemory(t *testing.T) {
	full := errors.New("full")
	sampled(t, []string{packedTwice, "filters.pdf", "relations.docx"}, func(name string, data []byte) {
		asked := 0
		_, _, err := Documents(name, data, reading.Limits{More: func(int) error { asked++; return full }})
		if !errors.Is(err, full) || asked != 1 {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
		}
	})
	if _, _, err := Documents("a.txt", []byte(strings.Repeat("Figs. ", 1000)),
		reading.Limits{More: func(int) error { return full }}); err != nil {
		t.Errorf("a small file: %v", err)
	}
}

// TestWorkIsBoundedAcrossAFile: forms that draw each other, fonts that are named again and
// again, rows of nothing, and archives of such end at the work that one file may cost;
// what an archive or a mail held before stands. The bound is a part of MaxWork, and the
// files are as much smaller: it is reached where it is in large ones, behind the unpacking.
func TestWorkIsBoundedAcrossAFile(t *testing.T) {
	const (
		work = reading.MaxWork / 128
		size = 4 << 20
	)
	files := map[string][]byte{
		"inline fonts.pdf": hostile.InlineFonts(size), "rows.xlsx": hostile.Rows(size), "sheets.xlsx": hostile.Sheets(size),
	}
	for _, f := range hostile.Files() {
		switch f.Name {
		case "calling nothing.pdf", "calling fonts.pdf", "calling matrices.pdf":
			files[f.Name] = f.Make()
		case "tags.html":
			files[f.Name] = f.Make()[:size]
		}
	}
	if len(files) != 7 {
		t.Fatalf("%d files", len(files))
	}
	for name, data := range files {
		units := 0
		_, _, err := Documents(name, data,
			reading.Limits{Work: work, Bytes: 16 << 20, GoOn: func() error { units += 256 << 10; return nil }})
		if !errors.Is(err, reading.ErrTooLarge) || !strings.Contains(err.Error(), "takes more work") || units > work+1<<20 {
			t.Errorf("%s: %d thousand units, %v", name, units>>10, err)
		}
	}
	bomb := string(files["calling nothing.pdf"])
	const figs = "Figs ripen late."
	for name, data := range map[string]string{
		"a.zip":  zipped(t, "a.txt", figs, "b.pdf", bomb, "c.txt", figs),
		"a.mbox": "From a@x.org Tue May  5 10:00:00 2026\n" + letterOfAnn + "\n" + figs + "\n",
	} {
		docs, _, err := Documents(name, []byte(data), reading.Limits{Work: work})
		if err != nil || len(docs) == 0 || !strings.Contains(docs[0].Content, figs) {
			t.Errorf("%s: %+v, %v", name, docs, err)
		}
		if name == "a.zip" && (len(docs) != 3 ||
			docs[1].Refused != "takes more work to be read than one file may; split it" || docs[2].Refused == "") {
			t.Errorf("%s: %+v", name, docs)
		}
	}
}
