package format

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/format/reading"
	chunking "orgmem/brain/text"
)

// fuzzFiles mutates the real files with the given ends, beside what was added.
func fuzzFiles(f *testing.F, name string, ends ...string) {
	f.Helper()
	for file := range files {
		if !slices.Contains(ends, filepath.Ext(file)) {
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { hold(t, name, data) })
}

func FuzzPDF(f *testing.F)      { fuzzFiles(f, "a.pdf", ".pdf") }
func FuzzCSV(f *testing.F)      { fuzzFiles(f, "a.csv", ".csv", ".tsv") }
func FuzzCalendar(f *testing.F) { fuzzFiles(f, "a.ics", ".ics") }
func FuzzArchives(f *testing.F) {
	fuzzFiles(f, "a", ".zip", ".gz", ".bz2", ".docx", ".epub", ".ods", ".odp")
}
func FuzzExports(f *testing.F)  { fuzzFiles(f, "a.json", ".json", ".canvas") }
func FuzzCaptions(f *testing.F) { fuzzFiles(f, "a", ".vtt", ".srt") }
func FuzzTexts(f *testing.F)    { fuzzFiles(f, "a.md", ".md", ".txt") }

func FuzzHTML(f *testing.F) {
	f.Add([]byte(`<?xml version="1.0"?><html><title/><script/><p/><table/><nav/>Figs</html>`))
	fuzzFiles(f, "a.html", ".html")
}

func FuzzMail(f *testing.F) {
	for _, c := range mailVariations {
		f.Add([]byte(c.mail))
	}
	fuzzFiles(f, "a", ".eml", ".mbox")
}

func FuzzRTF(f *testing.F) {
	for _, c := range rtfVariations {
		f.Add([]byte(c.rtf))
	}
	fuzzFiles(f, "a.rtf", ".rtf")
}

// FuzzOffice mutates the XML of office documents: a mutated archive hardly ever
// opens.
func FuzzOffice(f *testing.F) {
	parts := [][]string{
		{"word/document.xml"},
		{"xl/workbook.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"},
		{"ppt/presentation.xml", "ppt/slides/slide1.xml"},
		{"content.xml"},
		{"META-INF/container.xml", "a.opf"},
	}
	f.Add(0, `<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>a</w:t><w:txbxContent><w:p><w:t>b</w:t></w:p></w:txbxContent>`+
		`<w:del/></w:r></w:p>`)
	f.Add(3, `<text:p>a<text:note><text:note-body><text:p>b</text:p></text:note-body></text:note><draw:text-box>`+
		`<table:table><text:p>c</text:p></table:table></draw:text-box></text:p>`)
	for i, seed := range []string{
		`<w:document><w:body><w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p><w:tbl><w:tr>` +
			`<w:tc><w:p/></w:tc></w:tr></w:tbl></w:body></w:document>`,
		`<workbook><sheet name="a" id="r"/><row><c r="A1" t="s" s="1"><v>0</v></c></row><si><t>a</t></si>` +
			`<numFmt numFmtId="1" formatCode="yyyy"/><cellXfs><xf numFmtId="14"/></cellXfs></workbook>`,
		`<p:presentation><p:sldId r:id="r"/><p:sp><p:ph type="title"/><a:p><a:t>a</a:t></a:p></p:sp></p:presentation>`,
		`<office:text><text:h text:outline-level="2">a</text:h><text:list>` +
			`<text:p>b<text:s text:c="9"/></text:p></text:list><table:table><table:table-row>` +
			`<table:table-cell table:number-columns-repeated="999999">` +
			`<text:p>c</text:p></table:table-cell></table:table-row></table:table></office:text>`,
		`<package><rootfile full-path="a.opf"/><title>a</title>` +
			`<item id="a" href="a.opf" media-type="application/xhtml+xml"/><itemref idref="a"/></package>`,
	} {
		f.Add(i, seed)
	}
	const relations = `<Relationships><Relationship Id="r" Target="worksheets/sheet1.xml"/>` +
		`<Relationship Id="r" Target="slides/slide1.xml"/></Relationships>`
	f.Fuzz(func(t *testing.T, kind int, xml string) {
		var pairs []string
		kind = max(kind, -kind) % len(parts)
		for _, name := range parts[max(kind, 0)] {
			pairs = append(pairs, name, xml)
		}
		switch kind {
		case 1:
			pairs = append(pairs, "xl/_rels/workbook.xml.rels",
				strings.ReplaceAll(relations, "slides/slide1", "worksheets/sheet1"))
		case 2:
			pairs = append(pairs, "ppt/_rels/presentation.xml.rels", relations)
		case 3:
			pairs = append([]string{"mimetype", "application/vnd.oasis.opendocument.text"}, pairs...)
		}
		hold(t, "a", []byte(zipped(t, pairs...)))
	})
}

// longName is what an archive's format can say of names.
const longName = 1 << 15

// cutTo cuts an archive where the fuzzer says, if it is longer: what is left is read.
func cutTo(data string, cut uint16) []byte { return []byte(data[:min(len(data), int(cut))]) }

// FuzzSlack mutates what is in an export, and cuts it.
func FuzzSlack(f *testing.F) {
	const whole = 1<<16 - 1
	f.Add("", "ops", `[{"id":"U1","name":"ann","profile":{"display_name":"Ann"}}]`,
		`[{"type":"message","user":"U1","text":"By <https://x.example|the book> &amp; <@U1>","ts":"1700000000.0001",`+
			`"thread_ts":"1700000000.0001"}]`, `[]`, uint16(whole))
	f.Add("Acme/", "a/b", `[]`,
		`[{"type":"message","subtype":"bot_message","bot_profile":{"name":"CI"},"attachments":[{"title":"x","text":"y",`+
			`"fallback":"z"}],"ts":"1"},{"blocks":[{"text":{"text":"a"},"elements":[{"elements":[{"text":"b"}]}]}]}]`,
		`[{"type":"message","subtype":"channel_join","text":"joined","ts":"2"}]`, uint16(whole))
	f.Add("", "ops", `[]`, `[{"type":"message","text":"cut short","ts":"2"}]`, `[]`, uint16(300))
	f.Fuzz(func(t *testing.T, root, channel, users, day, next string, cut uint16) {
		if len(root)+len(channel) > longName {
			return
		}
		data := zipped(t, root+"users.json", users, root+channel+"/2026-05-05.json", day, root+channel+"/2026-05-06.json",
			next, root+"channels.json", `[]`)
		hold(t, "a.zip", cutTo(data, cut))
	})
}

// FuzzNotion mutates the names and the pages of an export, in an archive in an archive
// as large ones are.
func FuzzNotion(f *testing.F) {
	const whole = 1<<16 - 1
	const id = " 0123456789abcdef0123456789abcdef"
	f.Add("Workshop"+id+".md", "# Workshop\n\nJob: rehang the door\n", "Workshop"+id+"/Jobs"+id+".csv",
		"Job,State\nrehang,open\n", true, uint16(whole))
	f.Add("A"+id+".html", "<html><body><article><h1>A</h1><table><tr><td>b</td></tr></table></article></body></html>",
		"Jobs"+id+"_all.csv", "\ufeffJob;State\n\"a\";b\n", false, uint16(whole))
	f.Add("../x.md", "x", "a\\b"+id+".csv", "a\tb\nc\td", false, uint16(100))
	f.Fuzz(func(t *testing.T, page, text, table, rows string, nested bool, cut uint16) {
		// a folder holds no text
		if len(page)+len(table) > longName || strings.HasSuffix(page, "/") || strings.HasSuffix(table, "/") {
			return
		}
		data := zipped(t, page, text, table, rows, strings.TrimSuffix(table, ".csv")+"_all.csv", rows,
			"picture.png", "\x89PNG\r\n")
		if nested {
			data = zipped(t, "Part-1.zip", data, "Part-2.zip", zipped(t, table, rows))
		}
		hold(t, "a.zip", cutTo(data, cut))
	})
}

// FuzzTar mutates the blocks of an archive, and puts the sums of its headers right: a
// mutated header hardly ever has the sum that it says.
func FuzzTar(f *testing.F) {
	f.Add([]byte(tarred(f, "a.txt", "Figs ripen late.", "../b.md", "# Plums",
		"deep/"+strings.Repeat("c", 120)+".txt", "Quinces.")))
	f.Add([]byte(tarred(f, "a.tar", tarred(f, "b.txt", "Figs."), "c.zip", zipped(f, "d.txt", "Plums."))))
	f.Add([]byte(tarred(f, "a.txt", "Figs ripen late.", "b.txt", "Plums.")[:1400]))
	f.Fuzz(func(t *testing.T, data []byte) {
		const sumAt, sumBytes = 148, 8
		data = bytes.Clone(data)
		for at := 0; at+reading.TarBlock <= len(data); at += reading.TarBlock {
			block := data[at : at+reading.TarBlock]
			if !reading.IsTar(block) {
				continue
			}
			copy(block[sumAt:], strings.Repeat(" ", sumBytes))
			sum := 0
			for _, c := range block {
				sum += int(c)
			}
			copy(block[sumAt:], fmt.Sprintf("%06o\x00 ", sum))
		}
		hold(t, "a.tar", data)
	})
}

// The numbers of docs/imports.md: go test -run - -bench . ./brain/format

func BenchmarkPlainText(b *testing.B) {
	data := []byte(strings.Repeat("The compost heap behind the greenhouse has reached sixty degrees. It is turned twice "+
		"a week, by whoever comes first.\n\n", 8192))
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		docs, _, err := Documents("a.txt", data, reading.Limits{})
		if err != nil {
			b.Fatal(err)
		}
		if len(chunking.Chunks(chunking.Document{Title: docs[0].Title, Body: docs[0].Content},
			chunking.ChunkOptions{})) == 0 {
			b.Fatal("no chunks")
		}
	}
}

func BenchmarkPDF(b *testing.B) {
	data, err := os.ReadFile("testdata/report.pdf")
	if err != nil {
		b.Fatal(err)
	}
	const pages = 2
	for b.Loop() {
		if _, _, err := Documents("a.pdf", data, reading.Limits{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(pages*float64(b.N)/b.Elapsed().Seconds(), "pages/s")
}

func BenchmarkMailbox(b *testing.B) {
	one, err := os.ReadFile("testdata/cave.mbox")
	if err != nil {
		b.Fatal(err)
	}
	data := []byte(strings.Repeat(string(one)+strings.Repeat("Words of an ordinary mail.\n", 80)+"\n", 300))
	const mails = 900
	for b.Loop() {
		docs, _, err := Documents("a.mbox", data, reading.Limits{})
		if err != nil || len(docs) != mails {
			b.Fatal(len(docs), err)
		}
	}
	b.ReportMetric(mails*float64(b.N)/b.Elapsed().Seconds(), "mails/s")
}
