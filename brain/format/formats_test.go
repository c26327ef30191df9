package format

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	utf "golang.org/x/text/encoding/unicode"

	"orgmem/brain/format/mail"
	"orgmem/brain/format/markup"
	"orgmem/brain/format/reading"
)

// read reads a file that must be readable.
func read(t *testing.T, name, data string) ([]reading.Document, string) {
	t.Helper()
	docs, format, err := Documents(name, []byte(data), reading.Limits{})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return docs, format
}

// diffDocuments says what of documents is not as it should be; empty: nothing.
func diffDocuments(want, got []reading.Document) string {
	text := cmp.Transformer("text", func(metadata []byte) string { return string(metadata) })
	return cmp.Diff(want, got, text, cmpopts.IgnoreUnexported(reading.Document{}))
}

func TestHTML(t *testing.T) {
	for name, c := range map[string]struct{ html, want string }{
		"headings": {
			"<h1>Figs</h1><p>They ripen\n late.<h2>Kinds</h2>Two.", "# Figs\n\nThey ripen late.\n\n## Kinds\n\nTwo.",
		},
		"lists": {"<ul><li>a<li>b<ol><li>c</li><li>d</li></ol></li></ul>after", "- a\n- b\n  1. c\n  2. d\n\nafter"},
		"table": {
			"<table><tr><th>Fig<th>Plum<tr><td>late<br>very<td><p>a|b</p></table>", "| Fig | Plum |\n| late very | a\\|b |",
		},
		"layout": {
			"<table><tr><td>Hello<table><tr><td>x<td>y</table>then<td>on</table>", "Hello\n\n| x | y |\n\nthen\n\non",
		},
		"code": {"<pre>a\n  b</pre>c", "```\na\n  b\n```\n\nc"},
		"unread": {
			"<head><title>T</title><style>p{}</style></head><script>if (a<b) " +
				"x()</script><p>seen</p><noscript>no</noscript><div style='display: none'><div>a</div>b</div><p hidden>shown</p>",
			"seen\n\nshown",
		},
		"entities":   {"<p>a &amp; b&nbsp;c &lt;d&gt;</p>", "a & b c <d>"},
		"breaks":     {"<p>a<br>b</p><div>c<div>d</div></div>", "a\nb\n\nc\n\nd"},
		"no heading": {"<p># not one</p>", "\\# not one"},
		"inline":     {"<p>a <b>b</b>c<i> d</i></p>", "a bc d"},
	} {
		docs, format := read(t, "a", "<!DOCTYPE html>"+c.html)
		if docs[0].Content != c.want || format != reading.HTML {
			t.Errorf("%s: %q, want %q", name, docs[0].Content, c.want)
		}
	}
	docs, _ := read(t, "page.html", "<!-- made by hand --><html lang=de><meta "+
		"charset=iso-8859-1><title>B\xe4ume\n</title><p>Gr\xfcn.")
	want := []reading.Document{{Title: "Bäume", Content: "Grün.", Metadata: []byte(`{"language":"de"}`), Noted: true}}
	if diff := diffDocuments(want, docs); diff != "" {
		t.Errorf("a page (-want +got):\n%s", diff)
	}
}

func TestCSV(t *testing.T) {
	for name, c := range map[string]struct{ file, data, want string }{
		"header":    {"a.csv", "name,city\nAnn,\"Oslo, Norway\"\n\nBob,\n", "name: Ann; city: Oslo, Norway\nname: Bob"},
		"semicolon": {"a.csv", "name;city\nAnn;Oslo, Norway", "name: Ann; city: Oslo, Norway"},
		"tabs":      {"a.tsv", "name\tcity\nAnn\tOslo", "name: Ann; city: Oslo"},
		"no header": {"a.csv", "1,2\n3,4", "1; 2\n3; 4"},
		"by itself": {
			"a", "name,city,age\nAnn,Oslo,3\nBob,Rome,4", "name: Ann; city: Oslo; age: 3\nname: Bob; city: Rome; age: 4",
		},
		"prose":  {"a", "Well, it, rains.\nAnd, so, on.", "Well, it, rains.\nAnd, so, on."},
		"ragged": {"a.csv", "a,b\n1\n1,2,3", "a: 1\na: 1; b: 2; 3"},
	} {
		docs, _ := read(t, c.file, c.data)
		if docs[0].Content != c.want {
			t.Errorf("%s: %q, want %q", name, docs[0].Content, c.want)
		}
	}
}

// TestEncodings: what a text says in any common encoding is what is read.
func TestEncodings(t *testing.T) {
	for name, c := range map[string]struct {
		in   encoding.Encoding
		text string
	}{
		"utf-16":       {utf.UTF16(utf.LittleEndian, utf.UseBOM), "Figs ripen late. Пусть."},
		"utf-16be":     {utf.UTF16(utf.BigEndian, utf.IgnoreBOM), "Figs ripen late."},
		"windows-1252": {charmap.Windows1252, "Le café était fermé – “déjà”."},
		"windows-1251": {charmap.Windows1251, "Инжир созревает поздно, а сливы рано."},
		"koi8-r":       {charmap.KOI8R, "Инжир созревает поздно, а сливы рано."},
		"greek":        {charmap.Windows1253, "Τα σύκα ωριμάζουν αργά, τα δαμάσκηνα νωρίς."},
		"polish":       {charmap.Windows1250, "Figi dojrzewają późno, śliwki wcześniej. Zażółć gęślą jaźń."},
		"shift-jis":    {japanese.ShiftJIS, "いちじくは遅く熟します。プラムは早く熟します。"},
		"euc-jp":       {japanese.EUCJP, "いちじくは遅く熟します。プラムは早く熟します。"},
		"iso-2022-jp":  {japanese.ISO2022JP, "いちじくは遅く熟します。"},
		"gb18030":      {simplifiedchinese.GB18030, "无花果成熟得很晚，李子成熟得很早。这是我们在秋天学到的，不是一个人说的。"},
		"big5":         {traditionalchinese.Big5, "無花果成熟得很晚，李子成熟得很早。這是我們在秋天學到的，不是一個人說的。"},
		"euc-kr":       {korean.EUCKR, "무화과는 늦게 익고 자두는 일찍 익는다. 우리는 가을에 그것을 배웠다."},
	} {
		raw, err := c.in.NewEncoder().String(c.text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		docs, _ := read(t, "a.txt", raw)
		if docs[0].Content != c.text {
			t.Errorf("%s: %q", name, docs[0].Content)
		}
	}
}

const letterOfAnn = "From: =?utf-8?q?Ann_L=C3=B6w?= <ann@example.org>\r\nTo: bob@example.org\r\nDate: Tue, 5 May " +
	"2026 10:00:00 +0200\r\n" +
	"Subject: Figs and\r\n plums\r\nMessage-ID: <2@example.org>\r\nReferences: <1@example.org>\r\nMIME-Version: 1.0\r\n"

func TestMail(t *testing.T) {
	pdf := base64.StdEncoding.EncodeToString([]byte("name,city\nAnn,Oslo"))
	docs, format := read(t, "a.eml", letterOfAnn+
		"Content-Type: multipart/mixed; boundary=b\r\n\r\npreamble\r\n--b\r\nContent-Type: multipart/alternative; "+
		"boundary=c\r\n\r\n"+
		"--c\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nSp=E4te "+
		"Feigen.\r\n"+
		"--c\r\nContent-Type: text/html\r\n\r\n<p>other</p>\r\n--c--\r\n"+
		"--b\r\nContent-Type: text/csv; name=\"people.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\n"+pdf+"\r\n"+
		"--b\r\nContent-Type: image/png\r\nContent-Disposition: attachment; filename=\"a.png\"\r\n\r\n\x89PNG\r\n"+
		"--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: eve@example.org\r\nSubject: Old\r\n\r\nForwarded "+
		"words.\r\n--b--\r\n")
	if format != reading.EML || len(docs) != 2 {
		t.Fatalf("%s, %+v", format, docs)
	}
	const head = "From: Ann Löw <ann@example.org>\nTo: bob@example.org\nDate: Tue, 5 May 2026 10:00:00 +0200\nSubject: " +
		"Figs and plums"
	if diff := cmp.Diff([]string{
		head + "\n\nSpäte Feigen.\n\nFrom: eve@example.org\nSubject: Old\n\nForwarded words.",
		"Figs and plums", "2026-05-05T08:00:00Z", "mid:2@example.org",
		`{"attachments":["people.csv","a.png"],"from":"Ann Löw <ann@example.org>","messageId":"2@example.org",` +
			`"thread":"1@example.org","to":"bob@example.org"}`,
	}, []string{
		docs[0].Content, docs[0].Title, docs[0].OccurredAt, docs[0].ExternalID, string(docs[0].Metadata),
	}); diff != "" {
		t.Errorf("the mail (-want +got):\n%s", diff)
	}
	if d := docs[1]; d.Content != "name: Ann; city: Oslo" || d.OccurredAt != "2026-05-05T08:00:00Z" ||
		d.Path != "people.csv" {
		t.Errorf("%+v", d)
	}
	docs, format = read(t, "inbox", "From ann@example.org Tue May  5 10:00:00 2026\n"+letterOfAnn+
		"\nFirst.\n>From here on.\nFrom time to time.\n\n"+
		"From bob@example.org Tue May  5 11:00:00 2026\nbroken\nno header here\n\nx\n\nFrom bob@example.org Tue May  5 "+
		"11:00:00 2026\n"+letterOfAnn+"Content-Type: text/html; charset=utf-8\n\n<h1>Second</h1>\n")
	first := reading.Document{
		Title: "Figs and plums", Content: head + "\n\nFirst.\nFrom here on.\nFrom time to time.",
		ExternalID: "mid:2@example.org", OccurredAt: "2026-05-05T08:00:00Z",
		Metadata: []byte(`{"from":"Ann Löw <ann@example.org>","messageId":"2@example.org","thread":"1@example.org",` +
			`"to":"bob@example.org"}`),
		Where: "mail 1", Noted: true,
	}
	broken := reading.Document{Where: "mail 2", Refused: "holds a mail whose header cannot be read"}
	second := first
	second.Content, second.Where = head+"\n\n# Second", "mail 3"
	want := []reading.Document{first, broken, second}
	if diff := diffDocuments(want, docs); diff != "" || format != reading.MBOX {
		t.Errorf("%s (-want +got):\n%s", format, diff)
	}
}

// TestHostileMail: parts without number and without end cost no more than a mail.
func TestHostileMail(t *testing.T) {
	var deep strings.Builder
	deep.WriteString(letterOfAnn)
	for i := range 100 {
		fmt.Fprintf(&deep, "Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	for name, c := range map[string]struct{ mail, want string }{
		"deep parts": {deep.String(), "nested deeper"},
		"no end":     {letterOfAnn + strings.Repeat("X-Y: z\r\n", 1<<18), "no end"},
	} {
		if _, _, err := Documents("a.eml", []byte(c.mail), reading.Limits{}); !errors.Is(err, reading.ErrFile) ||
			!strings.Contains(reading.Reason(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestMailOfTooManyParts: the first parts are read, and it is said how many are not.
func TestMailOfTooManyParts(t *testing.T) {
	many := letterOfAnn + "Content-Type: multipart/mixed; boundary=b\r\n\r\n"
	inner := strings.Repeat("--c\r\n\r\nx\r\n", mail.MaxParts-10)
	for name, c := range map[string]struct {
		mail, last string
		texts      int
	}{
		"as many as are read": {many + strings.Repeat("--b\r\n\r\nx\r\n", mail.MaxParts-1) + "--b--", "", mail.MaxParts - 1},
		"more": {
			many + strings.Repeat("--b\r\n\r\nx\r\n", 5000) + "--b--",
			"the last 4001 parts are not read, nor what is in them: of one mail 1000 are", mail.MaxParts - 1,
		},
		"parts in parts": {
			many + strings.Repeat("--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n"+inner+"--c--\r\n", 3) + "--b--",
			"the last 984 parts are not read, nor what is in them: of one mail 1000 are", mail.MaxParts - 3,
		},
		"forwarded": {
			many + strings.Repeat("--b\r\nContent-Type: message/rfc822\r\n\r\n"+letterOfAnn+"\r\nx\r\n",
				mail.MaxParts) + "--b--",
			"the last 501 parts are not read, nor what is in them: of one mail 1000 are", (mail.MaxParts - 1) / 2,
		},
	} {
		docs, _, err := Documents("a.eml", []byte(c.mail), reading.Limits{})
		if err != nil || docs[0].Refused != "" {
			t.Errorf("%s: %+v, %v", name, docs, err)
			continue
		}
		if got := strings.Count(docs[0].Content, "\nx"); got != c.texts {
			t.Errorf("%s: %d texts, want %d", name, got, c.texts)
		}
		last := ""
		for _, d := range docs[1:] {
			last += d.Where + " " + d.Refused
		}
		if last != c.last {
			t.Errorf("%s: %q, want %q", name, last, c.last)
		}
	}
	docs, _, err := Documents("a.mbox", []byte("From ann@example.org Tue May  5 10:00:00 2026\n"+
		strings.ReplaceAll(many+strings.Repeat("--b\r\n\r\nx\r\n", 5000)+"--b--", "\r\n", "\n")), reading.Limits{})
	if err != nil || len(docs) != 2 || docs[0].Refused != "" || docs[1].Where != "mail 1, the last 4001 parts" {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

// zipped makes an archive of names and contents, in pairs.
func zipped(t testing.TB, pairs ...string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestArchives: what can be read of an archive is, and for the rest it is said in
// its place why not.
func TestArchives(t *testing.T) {
	inner := zipped(t, "deep/b.txt", "Plums ripen early.")
	encrypted := []byte(zipped(t, "secret.txt", "secret"))
	encrypted[bytes.Index(encrypted, []byte("PK\x01\x02"))+8] |= reading.ZipEncrypted
	docs, format := read(t, "all.zip", zipped(t, "a.txt", "Figs ripen late.", "__MACOSX/a.txt", "x", "x/inner.zip", inner,
		"../../etc/passwd", "root",
		"empty.txt", "", "p.png", "\x89PNG\r\n", "bad.zip", "PK\x03\x04rest", "locked.zip", string(encrypted), "c.json",
		`[{"content":"one"},{"content":"two"}]`))
	var got []string
	for _, d := range docs {
		got = append(got, d.Where+"|"+d.Path+"|"+d.Title+"|"+d.Content+d.Refused)
	}
	want := []string{
		"a.txt|a.txt|a|Figs ripen late.",
		"x/inner.zip, deep/b.txt|deep/b.txt|b|Plums ripen early.",
		"../../etc/passwd|||has a path that leads out of its archive",
		"p.png|||is an image, which cannot be read" + reading.Supported,
		"bad.zip|||is a ZIP archive that is damaged or cut short",
		"locked.zip|||holds nothing that can be taken in: secret.txt is encrypted",
		"c.json, items[0]|c.json||one",
		"c.json, items[1]|c.json||two",
	}
	if format != reading.ZIP || strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s:\n%s\nwant\n%s", format, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	w := tar.NewWriter(g)
	for name, content := range map[string]string{"a.txt": "Figs ripen late."} {
		if err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(content))}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "link", Linkname: "/etc/passwd", Typeflag: tar.TypeSymlink}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Close(), g.Close()); err != nil {
		t.Fatal(err)
	}
	docs, format = read(t, "all.tgz", packed.String())
	unpacked := []reading.Document{
		{Title: "a", Content: "Figs ripen late.", Where: "a.txt", Path: "a.txt"},
		{Where: "link", Refused: "is no file but a link or a device"},
	}
	if diff := diffDocuments(unpacked, docs); diff != "" || format != reading.TAR {
		t.Errorf("%s (-want +got):\n%s", format, diff)
	}
}

// TestHostileArchives: what unpacks without end is left where it is.
func TestHostileArchives(t *testing.T) {
	// A megabyte as gzip, many times: streams behind each other are one.
	var gz bytes.Buffer
	g := gzip.NewWriter(&gz)
	if _, err := g.Write(bytes.Repeat([]byte("a "), 1<<19)); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	bombed := strings.Repeat(gz.String(), reading.MaxPart>>20+1)
	claim := func(size uint64) string {
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		block := gz.Bytes()[10 : gz.Len()-8]
		w, err := z.CreateRaw(&zip.FileHeader{
			Name: "zeros.txt", Method: zip.Deflate, UncompressedSize64: size, CompressedSize64: uint64(len(block)),
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	bomb := claim(reading.MaxPart + 1)
	nested := zipped(t, "a.txt", "Figs.")
	for range reading.MaxNesting + 2 {
		nested = zipped(t, "n.zip", nested)
	}
	whole := zipped(t, "a.txt", "Figs ripen late.")
	for name, c := range map[string]struct{ data, want string }{
		"bomb":      {bomb, "unpacks to more than 64 MiB"},
		"a liar":    {claim(7), "damaged or cut short"},
		"gzip bomb": {bombed, "unpacks to more than 64 MiB"},
		"nested":    {nested, "archives in each other"},
		"cut short": {whole[:len(whole)/4], "damaged or cut short"},
		"empty":     {zipped(t), "empty archive"},
		"cut gzip":  {gz.String()[:gz.Len()/2], "damaged or cut short"},
	} {
		if _, _, err := Documents("a.zip", []byte(c.data), reading.Limits{}); !errors.Is(err, reading.ErrFile) ||
			!strings.Contains(reading.Reason(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	docs, _ := read(t, "a.zip", zipped(t, "bomb.zip", bomb, "b.txt", "Figs ripen late."))
	if len(docs) != 2 || docs[0].Refused == "" || docs[1].Content != "Figs ripen late." {
		t.Errorf("%+v", docs)
	}
}

// TestHostileOffice: entities are not expanded, elements lie in each other no deeper
// than the bound, and what a file says of itself makes nothing larger than it is.
func TestHostileOffice(t *testing.T) {
	const entities = `<!DOCTYPE x [<!ENTITY a "plums"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>`
	word := func(body string) string {
		return zipped(t, "word/document.xml", entities+"<w:document><w:body>"+body+"</w:body></w:document>")
	}
	sheet := func(rows string) string {
		return zipped(t, "xl/workbook.xml", `<workbook><sheet name="a" id="r"/></workbook>`, "xl/_rels/workbook.xml.rels",
			`<Relationships><Relationship Id="r" Target="worksheets/sheet1.xml"/></Relationships>`,
			"xl/worksheets/sheet1.xml", "<worksheet>"+rows+"</worksheet>", "xl/sharedStrings.xml",
			"<sst><si><t>"+strings.Repeat("plums ", 1000)+"</t></si></sst>")
	}
	book := func(table string) string {
		return zipped(t, "mimetype", "application/vnd.oasis.opendocument.spreadsheet", "content.xml",
			"<office:document-content>"+table+"</office:document-content>")
	}
	limits := reading.Limits{Bytes: 1 << 20}
	for name, c := range map[string]struct{ data, want string }{
		"tables in tables": {word(strings.Repeat("<w:tbl><w:tr><w:tc>", 1<<12)), "nested deeper"},
		"shared strings": {
			sheet(strings.Repeat(`<row><c t="s"><v>0</v></c></row>`, 1000)), "more than 1048576 bytes of text",
		},
		"one wide row": {
			sheet("<row>" + strings.Repeat(`<c t="s"><v>0</v></c>`, 2000) + "</row>"), "more than 1048576 bytes of text",
		},
		"attributes": {
			word("<w:p a='>'" + strings.Repeat(" ", reading.MaxToken) + "/>"), "XML of more than 8 MiB without an end",
		},
	} {
		if _, _, err := Documents("a", []byte(c.data), limits); !errors.Is(err, reading.ErrFile) ||
			!strings.Contains(reading.Reason(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]string{
		"entities": word("<w:p><w:r><w:t>Figs &b;</w:t></w:r></w:p>"),
		"many titles": zipped(t, "ppt/presentation.xml", `<p:presentation><p:sldId r:id="r"/></p:presentation>`,
			"ppt/_rels/presentation.xml.rels", `<Relationships><Relationship Id="r" Target="s.xml"/></Relationships>`,
			"ppt/s.xml", `<p:sp><p:ph type="title"/><a:p><a:t>Figs</a:t></a:p>`+strings.Repeat("<a:p/>", 1<<15)+"</p:sp>"),
		"far cells": sheet(`<row r="1000000000"><c r="ZZZZZZZ1000000000" t="inlineStr"><is><t>far</t></is></c>` +
			`<c r="A1" t="inlineStr"><is><t>Figs</t></is></c></row>`),
		"repeated": book(`<table:table><table:table-row table:number-rows-repeated="1000000000">` +
			`<table:table-cell table:number-columns-repeated="1000000000">` +
			`<text:p>Figs</text:p></table:table-cell></table:table-row></table:table>`),
		"many spaces": book(`<table:table><table:table-row><table:table-cell>` +
			`<text:p>Figs<text:s text:c="1000000000"/></text:p></table:table-cell></table:table-row></table:table>`),
		"out of it": zipped(t, "word/document.xml",
			"<w:document><w:body><w:p><w:r><w:t>Figs</w:t></w:r></w:p></w:body></w:document>", "word/_rels/document.xml.rels",
			`<Relationships><Relationship Id="r" Type="x/footnotes" Target="../../../../etc/passwd"/></Relationships>`),
		"macros, code": zipped(t, "word/document.xml",
			"<w:document><w:body><w:p><w:r><w:t>Figs</w:t></w:r></w:p></w:body></w:document>", "word/vbaProject.bin",
			"\xd0\xcf\x11\xe0AutoOpen plums"),
	} {
		docs, _, err := Documents("a", []byte(c), limits)
		if err != nil || len(docs) != 1 {
			t.Errorf("%s: %v, %d documents", name, err, len(docs))
			continue
		}
		if got := docs[0].Content; !strings.Contains(got, "Figs") || strings.Contains(got, "plums") ||
			len(got) > 64*len("Figs; ")*64 {
			t.Errorf("%s: %d bytes, %.80q", name, len(got), got)
		}
	}
}

// TestWideRows: one text in every cell, and a row without an end, are refused before
// they are made.
func TestWideRows(t *testing.T) {
	wide := zipped(t, "xl/workbook.xml", `<workbook><sheet name="a" id="r"/></workbook>`, "xl/_rels/workbook.xml.rels",
		`<Relationships><Relationship Id="r" Target="worksheets/sheet1.xml"/></Relationships>`,
		"xl/worksheets/sheet1.xml", "<worksheet><row>"+strings.Repeat(`<c t="s"><v>0</v></c>`, markup.MaxColumns)+
			"</row></worksheet>", "xl/sharedStrings.xml", "<sst><si><t>"+strings.Repeat("plums ", 1<<18)+"</t></si></sst>")
	for name, c := range map[string]struct{ file, data, want string }{
		"cells":   {"a.xlsx", wide, "a row of more than 8 MiB"},
		"a quote": {"a.csv", "a,b\n1,2\n\"" + strings.Repeat("x", reading.MaxToken+1<<14), "a row of more than 8 MiB"},
		"attributes": {
			"a.html", "<!DOCTYPE html>Figs<p " + strings.Repeat(" ", reading.MaxToken) + ">",
			"HTML of more than 8 MiB without an end",
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := Documents(c.file, []byte(c.data), reading.Limits{})
		runtime.ReadMemStats(&after)
		if !errors.Is(err, reading.ErrFile) || !strings.Contains(reading.Reason(err), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > 768<<20 {
			t.Errorf("%s: %d MiB were allocated", name, spent>>20)
		}
	}
}

// TestHostileMarkup: what is nested without an end is refused or read, and soon; that
// scripts are no text is in TestHTML.
func TestHostileMarkup(t *testing.T) {
	for name, data := range map[string]string{
		"elements": "<!DOCTYPE html>" + strings.Repeat("<div><b>", 1<<17) + "Figs",
		"tables":   "<!DOCTYPE html>" + strings.Repeat("<table><tr><td>", 1<<16) + "Figs",
		"comment":  "<!DOCTYPE html>Figs" + strings.Repeat("<!--", 1<<18),
		"groups":   "{\\rtf1 Figs " + strings.Repeat("{", 1<<20),
		"brackets": "Figs " + strings.Repeat("[", 1<<21),
		"objects":  strings.Repeat(`{"a":[`, 1<<19),
		"one line": "Figs" + strings.Repeat("x", 1<<22),
	} {
		read := 0
		docs, _, err := Documents("a", []byte(data), reading.Limits{GoOn: func() error { read++; return nil }})
		if err != nil && !errors.Is(err, reading.ErrFile) || err == nil && len(docs) == 0 {
			t.Errorf("%s: %v, %d documents", name, err, len(docs))
		}
		if read > 3*reading.MarkupWork*len(data)/reading.StepBytes+4 { // it was gone through again and again
			t.Errorf("%s: %d steps for %d bytes", name, read, len(data))
		}
	}
}
