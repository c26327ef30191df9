package hostile

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// File is one hostile file.
type File struct {
	Name string
	Make func() []byte
	// Large files are of tens of MiB as they are sent: the form holds few of them.
	Large bool
}

const (
	mib = 1 << 20
	// largest is about what one upload may hold: 64 MiB, less the form around it.
	largest = 60 * mib
	// words are what the files say where they say anything.
	words = "Figs ripen late behind the greenhouse, said Ann to Bob on Tuesday. "
)

func repeat(s string, size int) []byte { return bytes.Repeat([]byte(s), max(1, size/len(s))) }

// numbered writes n pieces, each made of its number.
func numbered(n int, format string) []byte {
	var out bytes.Buffer
	for i := range n {
		fmt.Fprintf(&out, format, i)
	}
	return out.Bytes()
}

// Files are all of them.
func Files() []File {
	return slices.Concat(archives(), mails(), documents(), openDocuments(), portable(), texts())
}

// texts are files that are hostile as they are.
func texts() []File {
	large := func(name string, f func() []byte) File { return File{Name: name, Make: f, Large: true} }
	return []File{
		large("commas.csv", func() []byte { return repeat(",", largest) }),
		large("rows.csv", func() []byte { return append([]byte("a,b,c\n"), repeat(",,\n", largest)...) }),
		large("cells.csv", func() []byte {
			return append([]byte("a,b\n"), repeat(strings.Repeat("x,", 1000)+"\n", largest)...)
		}),
		large("quotes.csv", func() []byte { return append([]byte("a,b\n\""), repeat("\"\"", largest)...) }),
		large("words.txt", func() []byte { return repeat(words, largest) }),
		large("lines.txt", func() []byte { return repeat("\n", largest) }),
		large("returns.txt", func() []byte { return append([]byte("Figs."), repeat("\r\n", largest)...) }),
		large("wide.txt", func() []byte {
			return append([]byte("\xff\xfe"), repeat("F\x00i\x00g\x00s\x00 \x00", largest)...)
		}),
		large("cyrillic.txt", func() []byte { return repeat("\xe8\xed\xe6\xe8\xf0 ", largest) }),
		{Name: "brackets.json", Make: func() []byte { return repeat("[", 8*mib) }},
		{Name: "nested.json", Make: func() []byte {
			return []byte(strings.Repeat(`{"text":`, 100_000) + `"Figs"` + strings.Repeat("}", 100_000))
		}},
		large("numbers.json", func() []byte {
			return append(append([]byte(`{"text":"Figs","list":[0`), repeat(",0", largest)...), "]}"...)
		}),
		large("lists.json", func() []byte { return append(append([]byte(`[[]`), repeat(",[]", largest)...), ']') }),
		large("objects.jsonl", func() []byte { return repeat("{}\n", largest) }),
		large("texts.jsonl", func() []byte { return repeat("{\"text\":\"a\"}\n", largest) }),
		large("names.json", func() []byte {
			return append(append([]byte(`{"text":"Figs"`), numbered(3_000_000, `,"%d":0`)...), '}')
		}),
		large("notes.json", func() []byte {
			return append(append([]byte(`{"notes":[{"text":"a"}`), repeat(`,{"text":"a"}`, largest)...), "]}"...)
		}),
		{Name: "chatgpt.json", Make: func() []byte {
			var out bytes.Buffer
			out.WriteString(`[{"title":"a","create_time":1,"current_node":"n99999","mapping":` +
				`{"n0":{"id":"n0","parent":null,"message":null}`)
			for i := 1; i < 100_000; i++ {
				fmt.Fprintf(&out, `,"n%d":{"id":"n%d","parent":"n%d","message":{"author":{"role":"user"},`+
					`"content":{"content_type":"text","parts":["a"]}}}`, i, i, i-1)
			}
			out.WriteString(`}}]`)
			return out.Bytes()
		}},
		large("tags.html", func() []byte { return append([]byte("<html>"), repeat("<p>", largest)...) }),
		large("tables.html", func() []byte { return append([]byte("<html>"), repeat("<table><tr><td>a", largest)...) }),
		large("lists.html", func() []byte { return append([]byte("<html>"), repeat("<ul><li>a", largest)...) }),
		{Name: "attributes.html", Make: func() []byte { return append([]byte("<html><p "), repeat("a ", 8*mib-100)...) }},
		large("cells.html", func() []byte { return append([]byte("<html><table><tr>"), repeat("<td>a", largest)...) }),
		large("rtf.rtf", func() []byte { return append([]byte(`{\rtf1 `), repeat(`\cell `, largest)...) }),
		{Name: "groups.rtf", Make: func() []byte { return append([]byte(`{\rtf1 `), repeat("{", 8*mib)...) }},
		large("notes.rtf", func() []byte { return append([]byte(`{\rtf1 `), repeat(`{\footnote a}`, largest)...) }),
		large("events.ics", func() []byte {
			return append([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\nDESCRIPTION:"), repeat("\n x", largest)...)
		}),
		large("people.ics", func() []byte {
			return append([]byte("BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:a\n"),
				repeat("ATTENDEE;CN=Ann:mailto:a@x\n", largest)...)
		}),
		large("cues.vtt", func() []byte {
			return append([]byte("WEBVTT\n\n"), repeat("00:01.000 --> 00:02.000\n<v Ann>a\n\n", largest)...)
		}),
		large("cues.srt", func() []byte { return repeat("1\n00:00:01,000 --> 00:00:02,000\nAnn: a\n\n", largest) }),
		large("headings.md", func() []byte { return repeat("# a\n", largest) }),
		large("links.md", func() []byte { return append([]byte("# a\n"), repeat("[[a]] ", largest)...) }),
		{
			Name: "front.md",
			Make: func() []byte { return append(append([]byte("---\n"), repeat("- a\n", 60_000)...), "---\nFigs"...) },
		},
	}
}
