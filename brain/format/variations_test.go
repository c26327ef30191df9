package format

import (
	"encoding/base64"
	"strings"
	"testing"

	"orgmem/brain/format/reading"
)

// said are the texts of documents, or why they are refused.
func said(docs []reading.Document) (all []string) {
	for _, d := range docs {
		all = append(all, d.Where+d.Path+": "+d.Content+d.Refused)
	}
	return all
}

// rtfVariations are what programs write that the plainest documents lack.
var rtfVariations = map[string]struct{ rtf, want string }{
	"a character's stand-in ends with its group": {`{\rtf1{\u8364}x \u8364?y {\uc2\u8364\'a2\'e3z}}`, "€x €y €z"},
	"a stand-in that is a word":                  {`{\rtf1 a\u8211\endash b}`, "a–b"},
	"two halves":                                 {`{\rtf1 \uc0\u-10179\u-8704 }`, "😀"},
	"fonts have code pages": {
		`{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0\fnil\fcharset0 Arial;}{\f1\fnil\fcharset204 Arial Cyr;}}\f0 ` +
			`caf\'e9 {\f1 \'e4\'e0}\f1\'e4\plain\'e9}`,
		"café дадé",
	},
	"UTF-8":                   {"{\\rtf1\\ansicpg65001 caf\u00e9}", "café"},
	"deleted and hidden text": {`{\rtf1 kept {\deleted gone }{\v unseen }{\xe entry}\v off\v0 on}`, "kept on"},
	"what not all programs know": {
		`{\rtf1 a{\*\unknown b{\fldrslt c}}{\field{\*\fldinst HYPERLINK "x"}{\fldrslt d}}\bin3 {}}e}`, "ade",
	},
	"a note": {
		`{\rtf1 It is late{\footnote\pard Says Ann.}, and dark.\par Next}`, "It is late, and dark.\n\nSays Ann.\n\nNext",
	},
	"a note that has no group": {`{\rtf1}\footnote Figs`, "Figs"},
	"a box": {
		`{\rtf1 On it{\shp{\*\shpinst{\sp{\sn a}{\sv b}}{\shptxt Boxed\par}}{\shprslt Boxed}} goes.}`, "Boxed\n\nOn it goes.",
	},
	"tables": {
		`{\rtf1\trowd\cellx1\cellx2 a\par b\cell c\cell\trowd\row\trowd d\cell e\nestcell ` +
			`f\nestcell{\nonesttables\par}\cell\row\pard after}`,
		"| a b | c |\n| d | e f |\n\nafter",
	},
	"a table cut short": {`{\rtf1\trowd a\cell b`, "| a | b |"},
}

func TestVariationsOfRTF(t *testing.T) {
	for name, c := range rtfVariations {
		docs, format, err := Documents("a", []byte(c.rtf), reading.Limits{})
		if err != nil || format != reading.RTF || docs[0].Content != c.want {
			t.Errorf("%s: %+q, want %q, %v", name, said(docs), c.want, err)
		}
	}
	docs, _ := read(t, "a", `{\rtf1{\info{\title Figs}{\author Ann {\b L\'f6w}}{\operator Bob}}Words{\footnote below}}`)
	if d := docs[0]; d.Title != "Figs" || string(d.Metadata) != `{"author":"Ann Löw"}` || d.Content != "Words\n\nbelow" {
		t.Errorf("%+v", d)
	}
}

const openMime = "application/vnd.oasis.opendocument."

// TestVariationsOfOffice: what word processors and presentations write that the
// plainest documents lack.
func TestVariationsOfOffice(t *testing.T) {
	word := func(body string) string {
		return zipped(t, "word/document.xml", "<w:document><w:body>"+body+"</w:body></w:document>")
	}
	open := func(body string) string {
		return zipped(t, "mimetype", openMime+"text", "content.xml",
			"<office:document-content><office:body><office:text>"+body+"</office:text></office:body></office:document-content>")
	}
	const relation = `<Relationships><Relationship Id="r1" Type="http://purl.oclc.org/ooxml/officeDocument/relationships/`
	for name, c := range map[string]struct{ data, want string }{
		"Word, a box in a paragraph": {
			word(`<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>On it</w:t></w:r><w:r><w:pict><v:textbox>` +
				`<w:txbxContent><w:p><w:r><w:t>Boxed</w:t></w:r></w:p></w:txbxContent></v:textbox></w:pict></w:r><w:r>` +
				`<w:t> goes</w:t></w:r></w:p>`),
			"Boxed\n\n# On it goes",
		},
		"Word, changes": {
			word(`<w:p><w:pPr><w:pPrChange><w:pPr><w:pStyle w:val="Heading1"/></w:pPr></w:pPrChange></w:pPr><w:r>` +
				`<w:t>Now</w:t></w:r><w:del><w:r><w:br/><w:delText>gone</w:delText></w:r></w:del><w:ins><w:r>` +
				`<w:t> new</w:t></w:r></w:ins></w:p>`),
			"Now new",
		},
		"Word, lists": {
			word(`<w:p><w:pPr><w:numPr><w:numId w:val="3"/></w:numPr></w:pPr><w:r><w:t>item</w:t></w:r></w:p><w:p><w:pPr>` +
				`<w:pStyle w:val="ListParagraph"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr></w:pPr><w:r>` +
				`<w:t>none</w:t></w:r></w:p>`),
			"- item\n\nnone",
		},
		"Word, hidden text": {
			word(`<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:t>seen</w:t></w:r><w:r><w:rPr><w:vanish/></w:rPr>` +
				`<w:t>unseen</w:t></w:r><w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>, too</w:t></w:r></w:p>`),
			"seen, too",
		},
		"Word, fields": {
			word(`<w:p><w:r><w:fldChar w:fldCharType="begin"/><w:instrText>PAGEREF x</w:instrText>` +
				`<w:fldChar w:fldCharType="separate"/><w:t>see 7</w:t></w:r><w:fldSimple w:instr="AUTHOR"><w:r>` +
				`<w:t> Ann</w:t></w:r></w:fldSimple></w:p>`),
			"see 7 Ann",
		},
		"Word, under other names": {
			zipped(t, "_rels/.rels", relation+`officeDocument" Target="/word/document2.xml"/></Relationships>`,
				"word/document2.xml", `<w:p><w:pPr><w:pStyle w:val="a1"/></w:pPr><w:r><w:t>Figs</w:t></w:r></w:p>`,
				"word/_rels/document2.xml.rels", relation+
					`styles" Target="styles2.xml"/><Relationship Id="r2" Type="x/footnotes" Target="notes2.xml"/></Relationships>`,
				"word/styles2.xml", `<w:style w:styleId="a1"><w:name w:val="heading 2"/></w:style>`, "word/notes2.xml",
				`<w:footnote><w:p><w:r><w:t>Says Ann.</w:t></w:r></w:p></w:footnote>`),
			"## Figs\n\nSays Ann.",
		},
		"a presentation": {
			zipped(t, "ppt/presentation.xml",
				`<p:presentation><p:sldId id="256" r:id="r2"/><p:sldId id="257" r:id="r1"/></p:presentation>`,
				"ppt/_rels/presentation.xml.rels",
				`<Relationships><Relationship Id="r1" Target="slides/slide1.xml"/>`+
					`<Relationship Id="r2" Target="slides/slide2.xml"/></Relationships>`,
				"ppt/slides/slide2.xml",
				`<p:sld><p:grpSp><p:sp><p:txBody><a:p><a:r><a:t>Grouped</a:t></a:r></a:p></p:txBody></p:sp><p:grpSp><p:sp>`+
					`<p:nvPr><p:ph type="ctrTitle"/></p:nvPr><a:p><a:r><a:t>First </a:t></a:r><a:br/><a:r>`+
					`<a:t>slide</a:t></a:r></a:p></p:sp></p:grpSp></p:grpSp></p:sld>`,
				"ppt/slides/slide1.xml",
				`<p:sld show="0"><p:graphicFrame><a:tbl><a:tr><a:tc><a:p><a:r><a:t>a</a:t></a:r></a:p></a:tc>`+
					`<a:tc hMerge="1"><a:p/></a:tc><a:tc><a:p><a:r>`+
					`<a:t>b</a:t></a:r></a:p></a:tc></a:tr></a:tbl></p:graphicFrame><p:graphicFrame>`+
					`<dgm:relIds r:dm="r1"/></p:graphicFrame></p:sld>`,
				"ppt/slides/_rels/slide1.xml.rels", relation+
					`diagramData" Target="../diagrams/data1.xml"/>`+
					`<Relationship Id="r2" Type="x/notesSlide" Target="../notes/one.xml"/></Relationships>`,
				"ppt/diagrams/data1.xml", "<dgm:pt><dgm:t>\n<a:bodyPr/><a:p><a:r><a:t>Drawn</a:t></a:r></a:p>\n</dgm:t></dgm:pt>",
				"ppt/notes/one.xml",
				`<p:sp><p:ph type="hdr"/><a:p><a:t>Head</a:t></a:p></p:sp><p:sp><p:ph type="body" idx="1"/><a:p>`+
					`<a:t>Said</a:t></a:p></p:sp>`),
			"## Slide 1: First slide\n\nGrouped\n\n## Slide 2: no title\n\n| a |  | b |\n\nDrawn\n\n- Said",
		},
		"OpenDocument, a note": {
			open(`<text:list><text:list-item><text:p>It is late<text:note><text:note-citation>1</text:note-citation>` +
				`<text:note-body><text:p>Says Ann.</text:p></text:note-body></text:note>, and dark.</text:p></text:list-item>` +
				`</text:list><text:p>Next</text:p>`),
			"- It is late, and dark.\n\nSays Ann.\n\nNext",
		},
		"OpenDocument, a box and a picture": {
			open(`<text:h text:outline-level="2">On it<draw:frame><draw:text-box><text:p>Boxed</text:p></draw:text-box>` +
				`<svg:title>A box</svg:title><svg:desc>drawn</svg:desc></draw:frame> goes, <text:title>Figs</text:title></text:h>`),
			"Boxed\n\n## On it goes, Figs",
		},
		"OpenDocument, lines anywhere": {
			open("<text:p>\n  Figs<text:span>\n   ripen</text:span>\tlate<text:s text:c=\"2\"/>\n</text:p>"), "Figs ripen late",
		},
		"OpenDocument, changes, remarks and readings": {
			open(`<text:tracked-changes><text:changed-region><text:deletion>` +
				`<text:p>gone</text:p></text:deletion></text:changed-region></text:tracked-changes>` +
				`<text:p>Now<text:change text:change-id="c"/><office:annotation>` +
				`<text:p>why?</text:p></office:annotation> <text:ruby><text:ruby-base>字</text:ruby-base>` +
				`<text:ruby-text>じ</text:ruby-text></text:ruby></text:p>`),
			"Now 字",
		},
		"OpenDocument, tables": {
			open(`<table:table><table:table-row table:number-rows-repeated="1000000">` +
				`<table:table-cell table:number-columns-spanned="2"><text:list><text:list-item>` +
				`<text:p>a</text:p></text:list-item></text:list><text:p>b</text:p></table:table-cell>` +
				`<table:covered-table-cell table:number-columns-repeated="1000000"/><table:table-cell>` +
				`<text:p>c</text:p></table:table-cell></table:table-row></table:table>`),
			"| a b |  | c |",
		},
	} {
		docs, _, err := Documents("a", []byte(c.data), reading.Limits{})
		if err != nil || len(docs) != 1 || docs[0].Content != c.want {
			t.Errorf("%s: %+q, want %q, %v", name, said(docs), c.want, err)
		}
	}
}

// TestVariationsOfBooks: the spine's order, addresses with escapes, pages that are XML
// and end elements where they begin, and what is no page.
func TestVariationsOfBooks(t *testing.T) {
	const page = `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/>` +
		`<script src="a.js"/></head><body>`
	docs, format := read(t, "a", zipped(t, "mimetype", "application/epub+zip", "META-INF/container.xml",
		`<container><rootfile full-path="OPS/book.opf"/></container>`,
		"OPS/book.opf",
		`<package><dc:title>Figs</dc:title><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" `+
			`properties="nav"/><item id="2" href="two%20b.xhtml" media-type="application/xhtml+xml"/>`+
			`<item id="1" href="../one.xhtml" media-type="application/xhtml+xml"/>`+
			`<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/><itemref idref="nav"/>`+
			`<itemref idref="1"/><itemref idref="gone"/><itemref idref="2" linear="no"/></package>`,
		"OPS/nav.xhtml", page+`<nav><ol><li>One</li></ol></nav></body></html>`,
		"one.xhtml", page+`<h1 id="a"/><p/><p>First <a id="b"/>words.</p><pre/><table/><p>More<br/>of it.</p></body></html>`,
		"OPS/two b.xhtml", page+`<h2>Two</h2><ul/><p>Then others.</p></body></html>`))
	if d := docs[0]; format != reading.EPUB || d.Title != "Figs" ||
		d.Content != "First words.\n\nMore\nof it.\n\n## Two\n\nThen others." {
		t.Errorf("%s: %+q", format, said(docs))
	}
	// In HTML the same signs end nothing.
	docs, _ = read(t, "a", "<!DOCTYPE html><script/>if (x) y</script><h1/>Figs</h1><p>Words.")
	if docs[0].Content != "# Figs\n\nWords." {
		t.Errorf("%+q", said(docs))
	}
}

const (
	mailHead  = "From: a@x.org\r\nTo: b@x.org\r\nMIME-Version: 1.0\r\n"
	mailPlain = mailHead + "Content-Type: text/plain; charset="
	mailSaid  = "From: a@x.org\nTo: b@x.org\n\n"
	feet      = "Füße im Gras"
)

// mailVariations are headers and bodies as programs write them, also against the rules.
var mailVariations = map[string]struct{ mail, want string }{
	"flowed": {
		mailPlain + "utf-8; format=flowed\r\n\r\nFigs ripen \r\nlate.\r\n \r\n> It was \r\n> so.\r\n>> Older\r\n From " +
			"me.\r\nBye \r\n\r\n-- \r\nAnn\r\n",
		mailSaid + "Figs ripen late.\n\n> It was so.\n>> Older\nFrom me.\nBye \n\n-- \nAnn",
	},
	"flowed without spaces":   {mailPlain + "utf-8; format=Flowed; delsp=yes\r\n\r\n無花 \r\n果", mailSaid + "無花果"},
	"not flowed":              {mailPlain + "utf-8\r\n\r\nFigs \r\n late.", mailSaid + "Figs \n late."},
	"a charset nobody knows":  {mailPlain + "x-unknown\r\n\r\nSp\xe4te Feigen.", mailSaid + "Späte Feigen."},
	"a charset that is wrong": {mailPlain + "utf-8\r\n\r\nSp\xe4te Feigen.", mailSaid + "Späte Feigen."},
	"a name with spaces":      {mailPlain + "iso-8859-1; name=my file.txt\r\n\r\nSp\xe4t.", mailSaid + "Spät."},
	"a value twice": {
		mailHead + "Content-Type: text/html; charset=utf-8; charset=utf-8\r\n\r\n<p>Figs</p>", mailSaid + "Figs",
	},
	"an old kind of text": {mailHead + "Content-Type: text\r\n\r\nFigs", mailSaid + "Figs"},
	"lines that are none of a header": {
		">From ann Tue May  5 10:00:00 2026\r\n" + mailHead +
			"Content-Type: message/rfc822\r\n\r\nFrom: eve@x.org\r\ngarbled line\r\n of two\r\nSubject: Figs\r\n\r\nripen",
		mailSaid + "From: eve@x.org\nSubject: Figs\n\nripen",
	},
	"words cut in a letter": {
		mailHead + "Subject: =?UTF-8?B?" + base64.StdEncoding.EncodeToString([]byte(feet[:3])) + "?=\r\n =?utf-8?b?" +
			base64.StdEncoding.EncodeToString([]byte(feet[3:])) +
			"?= =?utf-8*de?q?_F=C3?= =?utf-8?q?=BC?= x =?utf-8?q?r?=\r\n\r\nFigs",
		"From: a@x.org\nTo: b@x.org\nSubject: " + feet + " Fü x r\n\nFigs",
	},
	"words with padding": {
		mailHead + "Subject: =?utf-8?B?RmlnczE=?= =?utf-8?B?RmlnczI=?=\r\n\r\nx",
		"From: a@x.org\nTo: b@x.org\nSubject: Figs1Figs2\n\nx",
	},
	"quoted as nobody should": {
		mailPlain + "utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nFigs =\r\nri=pen\x0b l=C3=A4te " +
			strings.Repeat("x", 5000) + "\r\nand =3D more=",
		mailSaid + "Figs ri=pen\x0b läte " + strings.Repeat("x", 5000) + "\nand = more",
	},
	"base64 with spaces": {
		mailPlain + "utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\nRmlncyBy \r\n\tcGVu\r\n", mailSaid + "Figs rpen",
	},
	"a boundary in a boundary": {
		mailHead + "Content-Type: multipart/mixed; boundary=\"b\"\r\n\r\nfor old programs\r\n--b  \r\nContent-Type: " +
			"multipart/alternative; boundary=bb\r\n\r\n--bb\r\n\r\nFigs\r\n--b x\r\n--bb--\r\nrest\r\n--b\r\nContent-Type: " +
			"text/html\r\n\r\n<p>Plums</p>\r\n--b--\r\nepilogue",
		mailSaid + "Figs\n--b x\n\nPlums",
	},
	"a mail in a mail, packed": {
		mailHead + "Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			base64.StdEncoding.EncodeToString([]byte("From: eve@x.org\r\nSubject: =?utf-8?q?F=C3=BC?=\r\n\r\nInner")),
		mailSaid + "From: eve@x.org\nSubject: Fü\n\nInner",
	},
}

func TestVariationsOfMail(t *testing.T) {
	for name, c := range mailVariations {
		docs, _, err := Documents("a.eml", []byte(c.mail), reading.Limits{})
		if err != nil || len(docs) != 1 || docs[0].Content != c.want {
			t.Errorf("%s: %+q, want %q, %v", name, said(docs), c.want, err)
		}
	}
	for name, c := range map[string]struct{ header, want string }{
		"RFC 2231":      {"Content-Disposition: attachment; filename*0*=utf-8''F%C3%BC; filename*1=\"r.txt\"", "Für.txt"},
		"spaces":        {"Content-Disposition: attachment; size=3; filename=my notes.txt", "my notes.txt"},
		"encoded words": {"Content-Disposition: attachment; filename=\"=?utf-8?q?F=C3=BCr.txt?=\"", "Für.txt"},
		"bare words":    {"Content-Type: application/octet-stream; name==?utf-8?q?F=C3=BCr.txt?=", "Für.txt"},
	} {
		docs, _ := read(t, "a.eml", mailHead+"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nHello\r\n--b\r\n"+
			c.header+"\r\n\r\nFigs ripen.\r\n--b--")
		if len(docs) != 2 || docs[1].Path != c.want || docs[1].Content != "Figs ripen." {
			t.Errorf("%s: %+q", name, said(docs))
		}
	}
}

// TestJSONOfArchives: JSON in an archive that is meant as no item is taken as the text
// that it is; a fault in what is meant as items is said; by itself it is the same.
func TestJSONOfArchives(t *testing.T) {
	const settings = "{\n  \"port\": 8080,\n  \"name\": \"Figs\"\n}"
	docs, _ := read(t, "a.zip", zipped(t, "app/config.json", settings, "list.json", `[1,2]`, "with remarks.json",
		"{ // why\n\"a\": 1 }", "log.jsonl", "{\"level\":1}\n{\"level\":2}",
		"items.json", `[{"content":"x"},{"content":"y","colour":1}]`, "lines.jsonl",
		"{\"content\":\"x\"}\n{\"content\":\" \"}"))
	var got []string
	for _, d := range docs {
		got = append(got, d.Where+"|"+d.Title+"|"+d.Content+d.Refused)
	}
	want := []string{
		"app/config.json|config|" + settings, "list.json|list|[1,2]", "with remarks.json|with remarks|{ // why\n\"a\": 1 }",
		"log.jsonl|log|{\"level\":1}\n{\"level\":2}",
		"items.json||has at items[1] no item: expected content, and at most title, kind, externalId, occurredAt and metadata",
		"lines.jsonl||has at line 2 a blank content",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	alone, format, err := Documents("config.json", []byte(settings), reading.Limits{})
	whole := []reading.Document{{Title: "config", Content: settings}}
	if diff := diffDocuments(whole, alone); diff != "" || err != nil || format != reading.Text {
		t.Errorf("%s, %v (-want +got):\n%s", format, err, diff)
	}
}

// TestJSONThatHoldsNoItems: what somebody wrote, by its name, becomes documents with what
// is said of it; where nothing is found the JSON is the text that it is. In an archive it
// is the same.
func TestJSONThatHoldsNoItems(t *testing.T) {
	for name, c := range map[string]struct {
		file, data, format string
		want               []string // title | content | metadata | time
	}{
		"notes": {
			"a.json", `{"title":"Notes","notes":[{"text":"Figs ripen late."},{"text":"Plums early."}]}`, reading.JSON,
			[]string{"Notes|Figs ripen late.||", "Notes|Plums early.||"},
		},
		"lines": {
			"a.jsonl", "{\"text\":\"Figs.\"}\n\n{\"text\":\"Plums.\",\"n\":1}\n", reading.JSONL,
			[]string{"a|Figs.||", "a|Plums.||"},
		},
		"lines by looks": {
			"a", "{\"text\":\"Figs.\"}\n{\"text\":\"Plums.\"}\n", reading.JSONL,
			[]string{"a|Figs.||", "a|Plums.||"},
		},
		"a chat": {
			"chat.json",
			`{"messages":[{"author":"Ann","timestamp":"2026-05-05T10:00:00Z","content":"Hello",` +
				`"reactions":[{"emoji":"x"}]},{"sender":"Bob","ts":1700000000,"body":"Hi"}]}`,
			reading.JSON,
			[]string{`chat|Hello|{"author":"Ann"}|2026-05-05T10:00:00Z`, `chat|Hi|{"author":"Bob"}|2023-11-14T22:13:20Z`},
		},
		"texts of a list": {"a.json", `{"Notes":["Figs.","Plums."]}`, reading.JSON, []string{"a|Figs.||", "a|Plums.||"}},
		"several names": {
			"a.json", `[{"subject":"Harvest","body_text":"Figs.","comment":"Late."}]`, reading.JSON,
			[]string{"Harvest|Figs.\n\nLate.||"},
		},
		"text and answers": {
			"a.json", `{"title":"Q","author":"Ann","text":"Why?","answers":[{"author":"Bob","text":"So."}]}`, reading.JSON,
			[]string{`Q|Why?|{"author":"Ann"}|`, `Q|So.|{"author":"Bob"}|`},
		},
		"other names of an item": {
			"a.json", `[{"content":"Figs.","author":"Ann"}]`, reading.JSON, []string{`a|Figs.|{"author":"Ann"}|`},
		},
		"settings":   {"a.json", `{"port":8080,"name":"Figs"}`, reading.Text, []string{`a|{"port":8080,"name":"Figs"}||`}},
		"numbers":    {"a.json", `[1,2]`, reading.Text, []string{"a|[1,2]||"}},
		"blank text": {"a.json", `{"text":" ","name":"Figs"}`, reading.Text, []string{`a|{"text":" ","name":"Figs"}||`}},
		"NUL":        {"a.json", `{"text":"a\u0000b"}`, reading.JSON, []string{"a|ab||"}},
	} {
		for _, archived := range []bool{false, true} {
			file, data := c.file, c.data
			if archived {
				file, data = "x.zip", zipped(t, c.file, c.data)
			}
			docs, format, err := Documents(file, []byte(data), reading.Limits{})
			var got []string
			for _, d := range docs {
				got = append(got, d.Title+"|"+d.Content+"|"+string(d.Metadata)+"|"+d.OccurredAt+d.Refused)
			}
			if err != nil || strings.Join(got, "\n") != strings.Join(c.want, "\n") || !archived && format != c.format {
				t.Errorf("%s, in an archive %v: %s, %q, %v", name, archived, format, got, err)
			}
		}
	}
	many := strings.Repeat("{\"text\":\"Figs\"}\n", reading.MaxDocuments+1)
	docs, _, err := Documents("many.jsonl", []byte(many), reading.Limits{})
	if err != nil || len(docs) != 1 || strings.Count(docs[0].Content, "Figs") != reading.MaxDocuments+1 ||
		docs[0].Title != "many" {
		t.Errorf("more than are documents: %d, %v", len(docs), err)
	}
}
