package manpage

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"orgmem/cmd/orgmem/internal/config"
)

// page is a manual page that is being written.
type page struct{ strings.Builder }

func newPage(name string, section int, version, manual string) *page {
	p := &page{}
	// Without a date: it would be that of the build.
	fmt.Fprintf(p, ".TH %s %d \"\" \"orgmem %s\" \"%s\"\n", strings.ToUpper(name), section, escape(version), manual)
	// Commands are pasted: no hyphenation, no justified lines, and quotes and hyphens as typed.
	p.WriteString(".nh\n.ad l\n")
	return p
}

func (p *page) section(title string)    { fmt.Fprintf(p, ".SH \"%s\"\n", strings.ToUpper(title)) }
func (p *page) subsection(title string) { fmt.Fprintf(p, ".SS \"%s\"\n", escape(title)) }

// text is a paragraph.
func (p *page) text(text string) { fmt.Fprintf(p, ".PP\n%s\n", line(text)) }

// item is a tagged paragraph; tag is roff already.
func (p *page) item(tag, text string) { fmt.Fprintf(p, ".TP\n%s\n%s\n", tag, line(text)) }

// verbatim keeps the breaks of lines.
func (p *page) verbatim(text string) {
	p.WriteString(".PP\n.nf\n")
	for l := range strings.Lines(text) {
		p.WriteString(guard(escape(strings.TrimRight(l, "\n"))) + "\n")
	}
	p.WriteString(".fi\n")
}

var code = regexp.MustCompile("`([^`]*)`")

// line is a text of one paragraph, with what stands in quotes of code in bold.
func line(text string) string {
	text = strings.Join(strings.Fields(config.Plain(text)), " ")
	return guard(code.ReplaceAllString(escape(text), `\fB$1\fR`))
}

// escape has roff print what stands there. A plain hyphen and quote would come out as
// typographic ones, which no shell takes.
func escape(text string) string {
	text = plainText.Replace(text)
	var b strings.Builder
	for _, r := range text {
		if r > unicode.MaxASCII { // roff itself reads bytes
			fmt.Fprintf(&b, `\[u%04X]`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var plainText = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, `^`, `\(ha`, `~`, `\(ti`, `"`, `\(dq`)

// guard keeps a line from being taken for a request.
func guard(line string) string {
	if strings.HasPrefix(line, ".") {
		return `\&` + line
	}
	return line
}

func bold(text string) string { return `\fB` + escape(text) + `\fR` }
