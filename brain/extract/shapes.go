package extract

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"orgmem/brain/extract/shape"
	"orgmem/brain/extract/tagger"
	"orgmem/brain/extract/turn"
)

// shapes finds what is recognised by how it is written, whatever it means: URLs,
// identifiers and code. Names that overlap with it are not names.
func (r *reader) shapes() {
	r.marked = r.marked[:0]
	i := 0
	for i < len(r.text) {
		c, n := utf8.DecodeRuneInString(r.text[i:])
		if unicode.IsSpace(c) {
			i += n
			continue
		}
		end := wordStop(r.text, i)
		if r.text[i] == '`' {
			if sp, ok := shape.InlineCode(r.text, i, MaxName); ok {
				r.ticked(sp)
				for i = sp.End; i < len(r.text) && r.text[i] == '`'; {
					i++
				}
				continue
			}
		}
		if label := shape.LinkLabel(r.text, i); label > 0 {
			r.mark(Span{Start: i, End: label}, r.text[i:label], "", 0)
			i = label
			continue
		}
		r.shape(i, end)
		i = end
	}
}

// mark keeps a mention of a shape.
func (r *reader) mark(sp Span, name string, t Type, confidence float64) {
	r.keep(Mention{Span: sp, Name: name, Type: t, Confidence: confidence})
}

// keep is mark for a mention of which more is known.
func (r *reader) keep(m Mention) {
	if m.Name != "" && len(m.Name) <= MaxName && len(r.marked) < MaxMentions {
		r.marked = append(r.marked, m)
	}
}

func wordStop(s string, i int) int {
	if n := strings.IndexFunc(s[i:], unicode.IsSpace); n >= 0 {
		return i + n
	}
	return len(s)
}

// maxURL is the longest URL, as browsers have it.
const maxURL = 2048

// shape looks at the word [i, end), without the marks around it.
func (r *reader) shape(i, end int) {
	if end-i > 2*maxURL {
		return
	}
	emphasis := false // _entirely_ is no code
	for i < end && strings.IndexByte(`([{<"'*_,;`, r.text[i]) >= 0 && !strings.HasPrefix(r.text[i:], "__") {
		emphasis = emphasis || r.text[i] == '_'
		i++
	}
	for end > i && (strings.IndexByte(".,;:!?\"'*>]}`~", r.text[end-1]) >= 0 ||
		r.text[end-1] == ')' && strings.Count(r.text[i:end], "(") < strings.Count(r.text[i:end], ")")) {
		end--
	}
	if emphasis && end > i && r.text[end-1] == '_' {
		end--
	}
	w := r.text[i:end]
	sp := Span{Start: i, End: end}
	switch {
	case len(w) < 2 || len(w) > maxURL:
	case shape.Emoji(r.text, i) > 0:
		r.mark(sp, w, "", 0)
	case strings.Contains(w, "://") || strings.HasPrefix(w, "www."):
		if name := shape.URLName(shape.Address(w), MaxName); name != "" {
			r.mark(sp, name, URL, 0.95)
		}
	case strings.Contains(w, "@"):
		r.handle(i, end)
	case shape.Ticket(w):
		r.mark(sp, w, Identifier, 0.9)
	case r.numbered(i, end):
	case shape.Version(w) && !strings.Contains(w, ".") && r.tagged.named(sp): // V8, as somebody writes it
	case shape.HexName(w) || shape.Version(w):
		r.mark(sp, w, Identifier, 0.8)
	case strings.HasSuffix(w, "()") && shape.Symbol(w[:len(w)-2]):
		r.mark(Span{Start: i, End: end - 2}, w[:len(w)-2], Code, 0.9)
	case shape.Symbol(w) && (strings.Contains(w, "_") || strings.Contains(w, "::") || shape.Humps(w) >= 2):
		r.mark(sp, w, Code, 0.8)
	case shape.File(w) && !(shape.Library(w) && r.tagged.Tagged != nil):
		r.mark(sp, w, Code, 0.8)
	case shape.Flag(w):
		r.mark(sp, w, "", 0) // an option is no thing
	default:
		if head, tail := shape.Humped(w); head != "" {
			camel(r, sp, head, tail)
		}
	}
}

// camel keeps a word that is written as names of code are, words of the dictionary run together, "readFile". Behind a
// small word the space was forgotten, "forMax": it is no name.
func camel(r *reader, sp Span, head, tail string) {
	if brand, _ := r.model.Find(strings.ToLower(head + tail)); brand.Class != 0 {
		return
	}
	h, _ := r.model.Find(head)
	t, _ := r.model.Find(strings.ToLower(tail))
	switch {
	case h.Class.Part() == tagger.Function:
		r.mark(sp, head, "", 0)
	case h.Class&t.Class&tagger.Common != 0:
		r.mark(sp, head+tail, Code, 0.8)
	}
}

// handle keeps <@name> of a chat, and @name where people are known to talk to each
// other: elsewhere it is a stranger's account.
func (r *reader) handle(i, end int) {
	name := r.text[i+1 : end]
	if r.text[i] != '@' || len(name) < 2 || len(name) > turn.MaxSpeaker ||
		r.speaker == "" && (i == 0 || r.text[i-1] != '<') {
		return
	}
	for _, c := range name {
		if !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("._-", c) {
			return
		}
	}
	r.mark(Span{Start: i, End: end}, name, Person, 0.8)
}

// numbered matches PEP 484, issue #12 and #1234 at [i, end).
func (r *reader) numbered(i, end int) bool {
	w := r.text[i:end]
	number := strings.TrimPrefix(w, "#")
	if number == "" || len(number) > 8 || strings.Trim(number, "0123456789") != "" {
		return false
	}
	before := r.text[max(0, i-24):i]
	before = strings.TrimRight(before[strings.LastIndexByte(before, '\n')+1:], " ")
	word := before[strings.LastIndexAny(before, " (")+1:]
	low := strings.ToLower(word)
	switch {
	case shape.Series[low] && (number != w || word == strings.ToUpper(word)):
		start := strings.LastIndex(r.text[:i], word)
		r.mark(Span{Start: start, End: end}, word+" "+w, Identifier, 0.9)
	case number != w && len(number) >= 2:
		r.mark(Span{Start: i, End: end}, w, Identifier, 0.7)
	default:
		return false
	}
	return true
}
