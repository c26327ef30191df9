package format

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"orgmem/brain/format/reading"
)

// ripe are the files of the archives that are cut short here, one after the other.
var ripe = [][2]string{
	{"a.txt", "Figs ripen late."}, {"b/c.md", "# Plums\n\nThey ripen early."}, {"d.txt", "Quinces want a frost."},
}

// tarred makes a tar archive of names and contents, in pairs.
func tarred(t testing.TB, pairs ...string) string {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		if err := w.WriteHeader(&tar.Header{Name: pairs[i], Mode: 0o600, Size: int64(len(pairs[i+1]))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func gzipped(t testing.TB, data string) string {
	t.Helper()
	var out bytes.Buffer
	g := gzip.NewWriter(&out)
	if _, err := g.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func named(pairs [][2]string) (all []string) {
	for _, p := range pairs {
		all = append(all, p[0], p[1])
	}
	return all
}

// localFiles are files of a ZIP archive without a list, as writers lay them out: packed
// or not, with the sizes before them or behind, of four bytes or eight, with a signature
// or without.
func localFiles(t testing.TB, pack, behind, wide, signed bool) string {
	t.Helper()
	var out bytes.Buffer
	le := binary.LittleEndian
	for _, f := range ripe {
		body, method := []byte(f[1]), zip.Store
		if pack {
			var packed bytes.Buffer
			w, err := flate.NewWriter(&packed, flate.BestSpeed)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(body); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			body, method = packed.Bytes(), zip.Deflate
		}
		sum := crc32.ChecksumIEEE([]byte(f[1]))
		sizes := func(n int) (all []byte) {
			for _, v := range []int{len(body), len(f[1])} {
				if n == 8 {
					all = le.AppendUint64(all, uint64(v))
				} else {
					all = le.AppendUint32(all, uint32(v))
				}
			}
			return all
		}
		head := []byte(zipLocal)
		flags, extra, told := uint16(0), []byte(nil), sizes(4)
		if behind {
			flags, told = zipStreamed, make([]byte, 8)
		} else if wide {
			told = bytes.Repeat([]byte{0xff}, 8)
			extra = le.AppendUint16(le.AppendUint16(nil, zip64), 16)
			extra = le.AppendUint64(le.AppendUint64(extra, uint64(len(f[1]))), uint64(len(body)))
		}
		for _, v := range []uint16{20, flags, method, 0, 0} {
			head = le.AppendUint16(head, v)
		}
		if behind {
			head = le.AppendUint32(head, 0)
		} else {
			head = le.AppendUint32(head, sum)
		}
		head = append(head, told...)
		head = le.AppendUint16(le.AppendUint16(head, uint16(len(f[0]))), uint16(len(extra)))
		out.Write(append(append(append(head, f[0]...), extra...), body...))
		if behind {
			if signed {
				out.WriteString(zipDescriptor)
			}
			out.Write(le.AppendUint32(nil, sum))
			if wide {
				out.Write(sizes(8))
			} else {
				out.Write(sizes(4))
			}
		}
	}
	return out.String()
}

// TestCutArchives cuts archives at every byte: what is read are the files that are
// whole, each as it was, and it is said that there were more.
func TestCutArchives(t *testing.T) {
	archives := map[string]string{
		"as Go writes it": zipped(t, named(ripe)...),
		"tar":             tarred(t, named(ripe)...),
		"tar.gz":          gzipped(t, tarred(t, named(ripe)...)),
	}
	for i := range 16 {
		bit := func(n int) bool { return i&n != 0 }
		archives[fmt.Sprintf("packed %t, sizes behind %t, wide %t, signed %t", bit(1), bit(2), bit(4),
			bit(8))] = localFiles(t, bit(1), bit(2), bit(4), bit(8)) + zipDirectory + "list"
	}
	for name, data := range archives {
		most, known, ended := 0, len(zipLocal), len(data)
		if name == "tar" { // it is known by its first header, and one block of zeros is an end
			known, ended = reading.TarBlock, len(data)-reading.TarBlock
		}
		for n := known; n < ended; n++ {
			docs, _, err := Documents("a", []byte(data[:n]), reading.Limits{})
			if err != nil {
				if !errors.Is(err, reading.ErrFile) || most > 0 {
					t.Errorf("%s, %d bytes: %v", name, n, err)
				}
				continue
			}
			var lost []string
			whole := 0
			for _, d := range docs {
				switch {
				case d.Refused != "":
					lost = append(lost, d.Where+" "+d.Refused)
				case len(lost) > 0 || d.Path != ripe[whole][0] || d.Content != ripe[whole][1]:
					t.Errorf("%s, %d bytes: %+v", name, n, d)
				default:
					whole++
				}
			}
			if len(lost) == 0 || len(lost) > 2 || !strings.HasPrefix(lost[len(lost)-1], restOfArchive+" is ") ||
				len(lost) == 2 && !strings.HasPrefix(lost[0], ripe[whole][0]+" is ") || whole < most {
				t.Errorf("%s, %d bytes: %d files, lost %q", name, n, whole, lost)
			}
			most = whole
		}
		if most != len(ripe) {
			t.Errorf("%s: %d files", name, most)
		}
	}
}

// TestWhatIsLeftOfAnArchive: what is read of a damaged archive, what is said of the rest,
// and what is refused although some of it is whole.
func TestWhatIsLeftOfAnArchive(t *testing.T) {
	text := strings.Repeat("Figs ripen late, and plums do not. ", 40)
	whole := zipped(t, "a.txt", "Figs ripen late.", "b.txt", text)
	listless := whole[:strings.Index(whole, zipDirectory)+10]
	short := whole[:strings.Index(whole, "b.txt")+20]
	const users = `[{"id":"U1","name":"ann"}]`
	const day = `[{"type":"message","user":"U1","text":"The kiln log is under the teapot.","ts":"1700000000.0001"}]`
	slack := zipped(t, "users.json", users, "ops/2023-11-14.json", day, "ops/2023-11-15.json", day)
	nameless := zipped(t, "ops/2023-11-14.json", day, "users.json", users)
	damaged := []byte(gzipped(t, tarred(t, "a.txt", text, "b.txt", text)))
	damaged[len(damaged)/2] ^= 0x55
	missing := "the rest of the archive is missing or damaged: the archive has no list of its files at its end"
	for name, c := range map[string]struct {
		data string
		want string // documents and refusals; or the error
	}{
		"without its list": {
			listless,
			"a.txt|b.txt|the rest of the archive is damaged or cut short: of the list of its files; the files before that " +
				"were read",
		},
		"in a file":           {short, "a.txt|b.txt is cut short with its archive|" + missing},
		"in the first file":   {whole[:40], "is a ZIP archive that is damaged or cut short"},
		"in the first header": {whole[:20], "is a ZIP archive that is damaged or cut short"},
		"something between": {
			short[:strings.LastIndex(short, zipLocal)] + "PKPKPK\x03" + short[strings.LastIndex(short, zipLocal):],
			"a.txt|b.txt is cut short with its archive|" + missing,
		},
		"a damaged file": {
			strings.Replace(listless, "Figs", "Fogs", 1),
			"a.txt|b.txt|the rest of the archive is damaged or cut short: of the list of its files; the files before that " +
				"were read",
		},
		"in an archive": {
			zipped(t, "in.zip", short, "z.txt", "Figs."),
			"in.zip, a.txt|in.zip, b.txt is cut short with its archive|in.zip, " + missing + "|z.txt",
		},
		"a path that leads up": {
			zipped(t, "../a.txt", "x", "a.txt", "Figs.")[:90], "is a ZIP archive that is damaged or cut short",
		},
		"Slack": {
			slack[:strings.LastIndex(slack, zipLocal)+60],
			"ops/2023-11-14.json|ops/2023-11-15.json is cut short with its archive|" + missing,
		},
		"Slack without names": {
			nameless[:len(nameless)-160], "is a Slack export that is damaged or cut short, and has lost who is who",
		},
		"a document": {
			zipped(t, "[Content_Types].xml", "<x/>", "word/document.xml", text)[:100],
			"is an office document or a book that is damaged or cut short",
		},
		"a document's text": {
			zipped(t, "word/document.xml", text, "b.xml", "x")[:150],
			"is an office document or a book that is damaged or cut short",
		},
		"a book": {
			zipped(t, "mimetype", "application/epub+zip", "b.xhtml", text)[:130],
			"is an office document or a book that is damaged or cut short",
		},
		"pictures alone": {
			zipped(t, "a.png", "\x89PNG\r\n", "b.txt", text)[:100], "is a ZIP archive that is damaged or cut short",
		},
		"tar": {
			tarred(t, "a.txt", text, "b.txt", text)[:512+1536+512+600],
			"a.txt|b.txt is damaged or cut short in its archive|the rest of the archive is missing or damaged: the archive " +
				"has no end",
		},
		"tar without its end": {
			tarred(t, "a.txt", "Figs.", "b.txt", "Plums.")[:2048],
			"a.txt|b.txt|the rest of the archive is missing or damaged: the archive has no end",
		},
		"gzip without its sum": {
			gzipped(t, tarred(t, "a.txt", "Figs."))[:len(gzipped(t, tarred(t, "a.txt", "Figs.")))-4],
			"a.txt|the rest of the archive is missing or damaged: the archive has no end",
		},
		"gzip that is damaged": {string(damaged), "is damaged or cut short in its archive"},
		"a packed file":        {gzipped(t, text)[:40], "is damaged or cut short in its archive"},
	} {
		docs, _, err := Documents("a", []byte(c.data), reading.Limits{})
		var got []string
		for _, d := range docs {
			got = append(got, strings.TrimSpace(d.Where+" "+d.Refused))
		}
		if err != nil {
			got = []string{reading.Reason(err)}
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "|"), c.want)
		}
	}
}

// TestEndlessListsAreBounded: an archive of headers alone, and one of nothing but what
// looks like the begin of one.
func TestEndlessListsAreBounded(t *testing.T) {
	file := localFiles(t, false, false, false, false)
	file = file[:strings.LastIndex(file, zipLocal)]
	many := []byte(strings.Repeat(file, reading.MaxEntries/2+1))
	if _, _, err := Documents("a", many, reading.Limits{}); !errors.Is(err, reading.ErrFile) ||
		!strings.Contains(reading.Reason(err), "more than 100000 files") {
		t.Errorf("%v", err)
	}
	streamed := localFiles(t, false, true, false, true)
	for name, filling := range map[string]string{"letters": "PK", "headers": zipLocal, "sizes": zipDescriptor} {
		if _, _, err := Documents("a", []byte(streamed[:45]+strings.Repeat(filling, 1<<20)),
			reading.Limits{}); !errors.Is(err, reading.ErrFile) || reading.Reason(err) != reading.Reason(errBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
