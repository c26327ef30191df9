package format

import (
	"archive/tar"
	"bytes"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"orgmem/brain/format/mail"
	"orgmem/brain/format/reading"
	"orgmem/brain/format/record"
)

// TestOldAndLockedDocuments: office documents of before 2007 are named for what they
// are, whole, cut short or with nothing but their first bytes, and those that are locked
// by a password likewise; beside them the rest of an archive is read.
func TestOldAndLockedDocuments(t *testing.T) {
	noise := make([]byte, 64<<10)
	if _, err := rand.NewChaCha8([32]byte{4}).Read(noise); err != nil {
		t.Fatal(err)
	}
	const ole = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
	header := ole + strings.Repeat("\x00", 16) + "\x3e\x00\x03\x00\xfe\xff\x09\x00"
	manifest := `<manifest:manifest><manifest:file-entry manifest:full-path="content.xml">` +
		`<manifest:encryption-data manifest:checksum="x">` +
		`<manifest:algorithm manifest:algorithm-name="http://www.w3.org/2001/04/xmlenc#aes256-cbc"/>` +
		`</manifest:encryption-data></manifest:file-entry></manifest:manifest>`
	const old = "is an office document of before 2007, or an encrypted one, which cannot be read" + reading.Supported
	for name, c := range map[string]struct{ data, want string }{
		"a.doc":       {header + string(noise), old},
		"b.doc":       {header, old},
		"c.xls":       {ole + string(noise), old},
		"d.ppt":       {ole[:4], old},
		"e.xls":       {ole + strings.Repeat("\xff", 1<<20), old},
		"f.txt":       {header + "Figs ripen late.", old},
		"locked.docx": {header + "E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00", old},
		"locked.odt": {
			zipped(t, "mimetype", "application/vnd.oasis.opendocument.text", "content.xml", string(noise),
				"META-INF/manifest.xml", manifest),
			"is encrypted",
		},
		"locked.ods": {
			zipped(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "META-INF/manifest.xml", manifest,
				"content.xml", string(noise)),
			"is encrypted",
		},
		"locked.odp": {
			zipped(t, "mimetype", "application/vnd.oasis.opendocument.presentation", "META-INF/manifest.xml", manifest,
				"content.xml", string(noise)),
			"is encrypted",
		},
	} {
		if _, _, err := Documents(name, []byte(c.data), reading.Limits{}); !errors.Is(err, reading.ErrFile) ||
			reading.Reason(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		docs, _ := read(t, "a.zip", zipped(t, name, c.data, "z.txt", "Figs ripen late."))
		want := []reading.Document{
			{Where: name, Refused: c.want},
			{Title: "z", Content: "Figs ripen late.", Where: "z.txt", Path: "z.txt"},
		}
		if diff := diffDocuments(want, docs); diff != "" {
			t.Errorf("%s in an archive (-want +got):\n%s", name, diff)
		}
	}
}

// TestPathsOutOfATarArchive: they are refused by name, and so is what is no file; the
// rest is read.
func TestPathsOutOfATarArchive(t *testing.T) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	outside, other := "has a path that leads out of its archive", "is no file but a link or a device"
	entries := []struct {
		tar.Header
		want string
	}{
		{tar.Header{Name: "../../etc/passwd"}, outside},
		{tar.Header{Name: "/etc/passwd"}, outside},
		{tar.Header{Name: "a/../../b.txt"}, outside},
		{tar.Header{Name: `..\..\b.txt`}, outside},
		{tar.Header{Name: `C:\b.txt`}, outside},
		{tar.Header{Name: strings.Repeat("a/", 200) + "../b.txt"}, outside},
		{tar.Header{Name: "up", Linkname: "../../etc", Typeflag: tar.TypeSymlink}, other},
		{tar.Header{Name: "hard", Linkname: "/etc/passwd", Typeflag: tar.TypeLink}, other},
		{tar.Header{Name: "tty", Typeflag: tar.TypeChar}, other},
		{tar.Header{Name: "pipe", Typeflag: tar.TypeFifo}, other},
		{tar.Header{Name: "in/a..b.txt"}, ""},
	}
	for _, e := range entries {
		content := []byte("Figs ripen late.")
		if e.Typeflag != 0 {
			content = nil
		}
		e.Mode, e.Size = 0o600, int64(len(content))
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"a.tar": out.String(), "a.tgz": gzipped(t, out.String())} {
		docs, _ := read(t, name, data)
		if len(docs) != len(entries) {
			t.Fatalf("%s: %+v", name, docs)
		}
		for i, e := range entries {
			if d := docs[i]; d.Refused != e.want || (d.Content == "") != (e.want != "") || d.Where != reading.ShowPath(e.Name) {
				t.Errorf("%s, %s: %+v", name, e.Name, d)
			}
		}
	}
}

// TestEndlessLines: a line without an end is read or refused, and either within a few
// times its length; so is a large text as DOS ended its lines, in a code page.
func TestEndlessLines(t *testing.T) {
	const size, most = record.MaxCue + 1<<16, 24
	long := strings.Repeat("x", size)
	dos := func(from encoding.Encoding, line string) string {
		raw, err := from.NewEncoder().String(strings.Repeat(line+"\r\n", 2*size/len(line)))
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	const item = "{\"content\":\"Figs.\"}\n"
	const event = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Figs\r\n"
	for name, c := range map[string]struct{ file, data, want string }{ // what is read holds want, or the reason does
		"a cue":             {"a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n" + long, "a cue of more than"},
		"a cue's line":      {"a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000 " + long + "\nFigs.\n", "Figs."},
		"a cue's name":      {"a.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v " + long + ">Figs.", "a cue of more than"},
		"between cues":      {"a.vtt", "WEBVTT\n\n" + long + "\n\n00:01.000 --> 00:02.000\nFigs.", "Figs."},
		"a cue of SRT":      {"a.srt", "1\n00:00:01,000 --> 00:00:02,000\n" + long, "a cue of more than"},
		"an event":          {"a.ics", event + "DESCRIPTION:" + long + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", "Figs"},
		"an event's people": {"a.ics", event + "ATTENDEE;CN=" + long + ":x\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", "Figs"},
		"a folded line": {
			"a.ics", event + "X:" + strings.Repeat("x\r\n ", size/4) + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", "Figs",
		},
		"an event without end": {"a.ics", event + long, "without an event"},
		"a line of JSON":       {"a.jsonl", item + `{"content":"` + long + `"}`, "Figs."},
		"JSON without an end":  {"a.jsonl", item + `{"content":"` + long, "not well-formed JSON, at line 2"},
		"brackets":             {"a.jsonl", item + strings.Repeat("[", size), "has at line 2 no item"},
		"objects":              {"a.jsonl", item + strings.Repeat(`{"a":`, size/5), "has at line 2 no item"},
		"a header":             {"a.eml", letterOfAnn + "X-Long: " + long + "\r\n\r\nFigs.", "whose header has no end"},
		"a header of words": {
			"a.eml", letterOfAnn + "Subject: " + strings.Repeat("=?utf-8?q?x?= ", mail.MaxHeader/15) + "\r\n\r\nFigs.", "Figs.",
		},
		"a mail": {"a.eml", letterOfAnn + "\r\nFigs." + long, "Figs."},
		"a mail in a mailbox": {
			"a.mbox",
			"From a@x.org Tue May  5 10:00:00 2026\n" + letterOfAnn + "X-Long: " + long +
				"\nFrom a@x.org Tue May  5 10:00:00 2026\n" + letterOfAnn + "\r\nFigs.",
			"whose header has no end",
		},
		"DOS": {"a.txt", dos(charmap.Windows1252, "Figs ripen late."), "Figs ripen late.\nFigs"},
		"DOS, Western Europe": {
			"a.txt", dos(charmap.Windows1252, "Späte Pflaumen – für Köche."), "Späte Pflaumen – für Köche.\nSpäte",
		},
		"DOS, Russia": {
			"a.txt", dos(charmap.Windows1251, "Инжир созревает поздно, а сливы рано."),
			"Инжир созревает поздно, а сливы рано.\nИнжир",
		},
		"DOS, Central Europe": {
			"a.txt", dos(charmap.Windows1250, "Zażółć gęślą jaźń, śliwki wcześniej."),
			"Zażółć gęślą jaźń, śliwki wcześniej.\nZażółć",
		},
		"DOS, a table": {
			"a.csv", "Obst;Reife\r\n" + dos(charmap.Windows1252, "Pfläumchen;früh"), "Obst: Pfläumchen; Reife: früh\nObst",
		},
		"DOS, who says what":    {"a.md", dos(charmap.Windows1252, "# Bäume"), "# Bäume\n# Bäume"},
		"returns without lines": {"a.txt", strings.Repeat("Figs.\r", 2*size/6), "Figs.\nFigs."},
	} {
		data := []byte(c.data)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		docs, _, err := Documents(c.file, data, reading.Limits{})
		runtime.ReadMemStats(&after)
		got := ""
		for _, d := range docs {
			got += d.Title + "\n" + d.Content
		}
		if err != nil {
			got = err.Error()
		}
		if err != nil && !errors.Is(err, reading.ErrFile) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %.200q", name, got)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > most*uint64(len(data)) {
			t.Errorf("%s: %d bytes were allocated for %d", name, spent, len(data))
		}
	}
}
