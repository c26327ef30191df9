package hostile

import (
	"fmt"
	"strings"
)

const (
	documentOf = `<w:document xmlns:w="w"><w:body>%s</w:body></w:document>`
	workbook   = `<workbook xmlns:r="r"><sheets><sheet name="a" sheetId="1" r:id="r1"/></sheets></workbook>`
	sheetRels  = `<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`
)

func word(body []byte) []byte {
	return zipped(entry{"word/document.xml", fmt.Appendf(nil, documentOf, body)})
}

func book(sheet, shared []byte) []byte {
	return zipped(
		entry{"xl/workbook.xml", []byte(workbook)}, entry{"xl/_rels/workbook.xml.rels", []byte(sheetRels)},
		entry{"xl/sharedStrings.xml", shared}, entry{"xl/worksheets/sheet1.xml", sheet},
	)
}

func around(begin string, body []byte, end string) []byte {
	return append(append([]byte(begin), body...), end...)
}

// documents are office documents of the Open XML formats.
func documents() []File {
	return []File{
		{
			Name: "text.docx",
			Make: func() []byte { return word(around("<w:p><w:r><w:t>", repeat(words, 7*mib), "</w:t></w:r></w:p>")) },
		},
		{Name: "paragraphs.docx", Make: func() []byte { return word(repeat("<w:p><w:r><w:t>a</w:t></w:r></w:p>", 60*mib)) }},
		{Name: "empty.docx", Make: func() []byte { return word(repeat("<w:p/>", 60*mib)) }},
		{Name: "deep.docx", Make: func() []byte { return word(repeat("<w:p>", 60*mib)) }},
		{
			Name: "tables.docx",
			Make: func() []byte { return word(repeat("<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p>", 50*511)) },
		},
		{
			Name: "boxes.docx",
			Make: func() []byte { return word(repeat("<w:txbxContent><w:p><w:r><w:t>a</w:t></w:r>", 44*500)) },
		},
		{Name: "cells.docx", Make: func() []byte {
			return word(around("<w:tbl><w:tr>", repeat("<w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p></w:tc>", 60*mib),
				"</w:tr></w:tbl>"))
		}},
		{Name: "attributes.docx", Make: func() []byte { return word(around("<w:p ", repeat(`a="" `, 8*mib-100), "/>")) }},
		{Name: "name.docx", Make: func() []byte { return word(around("<w:", repeat("p", 8*mib-100), "/>")) }},
		{Name: "styles.docx", Make: func() []byte {
			return zipped(entry{"word/document.xml", fmt.Appendf(nil, documentOf, "<w:p><w:r><w:t>Figs</w:t></w:r></w:p>")},
				entry{"word/styles.xml", numbered(800_000, `<w:style w:styleId="s%d"><w:name w:val="heading 1"/></w:style>`)})
		}},
		{Name: "relations.docx", Make: func() []byte {
			return zipped(entry{"word/document.xml", fmt.Appendf(nil, documentOf, "<w:p><w:r><w:t>Figs</w:t></w:r></w:p>")},
				entry{"word/_rels/document.xml.rels", numbered(800_000, `<Relationship Id="r%d" Type="x" Target="y"/>`)})
		}},
		{Name: "entities.docx", Make: func() []byte {
			var dtd strings.Builder
			dtd.WriteString(`<!DOCTYPE x [<!ENTITY a0 "figs">`)
			for i := 1; i < 100; i++ {
				fmt.Fprintf(&dtd, `<!ENTITY a%d "%s">`, i, strings.Repeat(fmt.Sprintf("&a%d;", i-1), 10))
			}
			return zipped(entry{"word/document.xml", []byte(dtd.String() + `]><w:p><w:r><w:t>&a99; figs</w:t></w:r></w:p>`)})
		}},
		{Name: "dtd.docx", Make: func() []byte {
			return zipped(entry{"word/document.xml", around("<!DOCTYPE x [", repeat("<!ENTITY a \"b\">", 60*mib), "]><w:p/>")})
		}},
		{Name: "shared.xlsx", Make: func() []byte {
			return book(around("<sheetData>", repeat(`<row><c t="s"><v>0</v></c></row>`, 30*mib), "</sheetData>"),
				around("<sst>", repeat("<si><t>a</t></si>", 60*mib), "</sst>"))
		}},
		{Name: "one shared.xlsx", Make: func() []byte {
			return book(around("<sheetData>", repeat(`<row>`+strings.Repeat(`<c t="s"><v>0</v></c>`, 1000)+`</row>`, 60*mib),
				"</sheetData>"),
				around("<sst><si><t>", repeat(words, 7*mib), "</t></si></sst>"))
		}},
		{Name: "large shared.xlsx", Make: func() []byte {
			return book([]byte("<sheetData/>"), around("<sst>",
				repeat("<si><t>"+strings.Repeat(words, 1000)+"</t></si>", 63*mib), "</sst>"))
		}},
		{Name: "row.xlsx", Make: func() []byte {
			return book(around("<row>", repeat(`<c r="XFD1"><v>1</v></c>`, 60*mib), "</row>"), nil)
		}},
		{Name: "rows.xlsx", Make: func() []byte { return Rows(60 * mib) }},
		{Name: "formulas.xlsx", Make: func() []byte {
			return book(repeat(`<row><c><f t="shared" ref="A1:XFD1048576" si="0">SUM(A1:A1048576)</f><v>1</v></c></row>`,
				60*mib), nil)
		}},
		{Name: "styles.xlsx", Make: func() []byte {
			return zipped(entry{"xl/workbook.xml", []byte(workbook)},
				entry{"xl/styles.xml", repeat(`<numFmt numFmtId="1" formatCode="yyyy"/>`, 60*mib)})
		}},
		{Name: "sheets.xlsx", Make: func() []byte { return Sheets(30 * mib) }},
		{Name: "slides.pptx", Make: func() []byte {
			return zipped(
				entry{"ppt/presentation.xml", around("<p>", repeat(`<sldId id="1" r:id="r1"/>`, 2*mib), "</p>")},
				entry{
					"ppt/_rels/presentation.xml.rels",
					[]byte(`<Relationships><Relationship Id="r1" Type="x/slide" Target="slides/slide1.xml"/></Relationships>`),
				},
				entry{"ppt/slides/slide1.xml", repeat("<sp><txBody><p><r><t>Figs</t></r></p></txBody></sp>", 60*mib)},
			)
		}},
	}
}

// openDocuments are office documents of the OpenDocument formats, books, and an export.
func openDocuments() []File {
	return []File{
		{Name: "cells.ods", Make: func() []byte {
			return zipped(entry{"mimetype", []byte("application/vnd.oasis.opendocument.spreadsheet")},
				entry{"content.xml", around("<spreadsheet><table>",
					repeat(`<table-row number-rows-repeated="1000000">`+
						strings.Repeat(`<table-cell number-columns-repeated="1000000"><p>a</p></table-cell>`, 20)+`</table-row>`, 60*mib),
					"</table></spreadsheet>")})
		}},
		{Name: "wide.ods", Make: func() []byte {
			return zipped(entry{"mimetype", []byte("application/vnd.oasis.opendocument.spreadsheet")},
				entry{"content.xml", around("<spreadsheet><table><table-row>",
					append(around(`<table-cell number-columns-repeated="64"><p>`, repeat(words, 7*mib), `</p></table-cell>`),
						repeat(`<table-cell number-columns-repeated="64"><p>a</p></table-cell>`, 10*mib)...),
					"</table-row></table></spreadsheet>")})
		}},
		{Name: "lists.odt", Make: func() []byte {
			return zipped(entry{"mimetype", []byte("application/vnd.oasis.opendocument.text")},
				entry{"content.xml", repeat("<note><p>a", 10*500)})
		}},
		{Name: "spine.epub", Make: func() []byte {
			return zipped(
				entry{"META-INF/container.xml", []byte(`<container><rootfile full-path="a.opf"/></container>`)},
				entry{
					"a.opf",
					around(`<package><item id="a" href="a.html" media-type="application/xhtml+xml"/>`,
						repeat(`<itemref idref="a"/>`, 2*mib), "</package>"),
				},
				entry{"a.html", append([]byte("<html><p>"), repeat(words, 16*mib)...)},
			)
		}},
		{Name: "items.epub", Make: func() []byte {
			return zipped(
				entry{"META-INF/container.xml", []byte(`<container><rootfile full-path="a.opf"/></container>`)},
				entry{"a.opf", numbered(700_000, `<item id="%d" href="a.html" media-type="application/xhtml+xml"/>`)},
			)
		}},
		{Name: "slack.zip", Make: func() []byte {
			return zipped(
				entry{"users.json", around(`[{"id":"U1","name":"ann"}`, numbered(700_000, `,{"id":"U%d","name":"a"}`), "]")},
				entry{"channels.json", []byte("[]")},
				entry{
					"ops/2026-05-05.json",
					around(`[{"type":"message","user":"U1","text":"a","ts":"1"}`,
						repeat(`,{"type":"message","user":"U1","text":"a","ts":"1"}`, 50*mib), "]"),
				},
			)
		}},
	}
}

// Rows is a workbook of rows of one cell far to the right, of so many bytes unpacked.
func Rows(size int) []byte { return book(repeat(`<row><c r="ALL1"><v>1</v></c></row>`, size), nil) }

// Sheets is a workbook that names its one sheet again and again, of so many bytes unpacked.
func Sheets(size int) []byte {
	return zipped(
		entry{"xl/workbook.xml", around("<workbook>", repeat(`<sheet name="a" id="r1"/>`, size/3*2), "</workbook>")},
		entry{"xl/_rels/workbook.xml.rels", []byte(sheetRels)},
		entry{"xl/worksheets/sheet1.xml", around("<row>", repeat("<c><v>1</v></c>", size/3), "</row>")},
	)
}
