package pdf

import (
	"bytes"
	"math"
	"strings"
)

const (
	// maxOperands bounds what stands before an operator; it needs six at most, or
	// one list.
	maxOperands = 1024
	// maxForms bounds forms in forms.
	maxForms = 8
	// maxText bounds the text of a file, where each byte may stand for a ligature, and each
	// letter be a line, which takes lineBytes beside its text. What is written may be half
	// as much more: blanks are written that are not kept.
	maxText   = 64 << 20
	lineBytes = 64
	// operatorWork, letterWork and formWork are what an operator, a letter and the drawing
	// of a form cost beside their bytes: forms that draw each other make much of little.
	operatorWork, letterWork, formWork = 24, 8, 256
	// maxSaved bounds the states of a page that are saved at a time.
	maxSaved = 256
	// wordGap is the gap, in parts of the size of the letters, that is a space, and
	// cellGap the one that divides columns.
	wordGap = 0.2
	cellGap = 2.5
)

// matrix is a, b, c, d, e, f of ISO 32000-1, 8.3.
type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

// times is m applied before n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// state is what a page's operators set.
type state struct {
	ctm              matrix
	font             *font
	size             float64
	spacing, wording float64
	scale, leading   float64
	rise             float64
	hidden           bool
}

// painter carries out the operators of a page that are about text.
type painter struct {
	*file
	state
	saved      []state
	text, line matrix
	out        *page
	lost       bool // there was text whose letters are unknown
}

// page is the lines of a page in the making.
type page struct {
	lines []Line
	open  strings.Builder
	bytes int
	// Where the open line is, and where its last letter ended.
	x, y, size float64
	any        bool
	before     float64 // the y of the line before
}

// Line is one line of a page. Gap says that there is more room above it than
// between lines, Size how large its letters are in points.
type Line struct {
	Text string
	Size float64
	Gap  bool
}

// run carries out a content stream.
func (p *painter) run(data []byte, resources dict, forms int) {
	l := lexer{data: data}
	var stack []object
	from := 0
	for {
		o, ok := l.next()
		if !ok || p.stopped != nil {
			return
		}
		if l.pos-from > 4096 {
			if !p.spend(workPerByte * (l.pos - from)) {
				return
			}
			from = l.pos
		}
		op, is := o.(operator)
		if !is {
			if stack = append(stack, o); len(stack) > maxOperands || l.memory > maxMemory {
				clear(stack)
				stack, l.memory = stack[:0], 0
			}
			continue
		}
		l.memory = 0
		if op == "ID" {
			l.pos = afterImage(data, l.pos)
		} else {
			p.operate(op, stack, resources, forms)
		}
		stack = stack[:0]
		if !p.spend(operatorWork) {
			return
		}
	}
}

// workPerByte is what a byte of a page costs to be read.
const workPerByte = 3

// afterImage finds the end of a picture that stands in a page.
func afterImage(data []byte, from int) int {
	for at := from; ; {
		i := bytes.Index(data[at:], []byte("EI"))
		if i < 0 {
			return len(data)
		}
		at += i + 2
		if isSpace(data[at-3]) && (at >= len(data) || isSpace(data[at])) {
			return at
		}
	}
}

func (p *painter) numbers(stack []object, n int) []float64 {
	out := make([]float64, n)
	if len(stack) < n {
		return out
	}
	for i, o := range stack[len(stack)-n:] {
		out[i] = p.float(o)
	}
	return out
}

func last(stack []object) object {
	if len(stack) == 0 {
		return nil
	}
	return stack[len(stack)-1]
}

func (p *painter) operate(op operator, stack []object, resources dict, forms int) {
	switch op {
	case "q":
		if len(p.saved) < maxSaved {
			p.saved = append(p.saved, p.state)
		}
	case "Q":
		if n := len(p.saved); n > 0 {
			p.state, p.saved = p.saved[n-1], p.saved[:n-1]
		}
	case "cm":
		p.ctm = matrix(p.numbers(stack, 6)).times(p.ctm)
	case "BT":
		p.text, p.line = identity, identity
	case "Tf":
		if len(stack) >= 2 {
			fonts := p.dict(resources["Font"])
			key, _ := stack[len(stack)-2].(name)
			p.font, p.size = p.fonts.of(fonts[key]), p.float(last(stack))
		}
	case "Tc":
		p.spacing = p.float(last(stack))
	case "Tw":
		p.wording = p.float(last(stack))
	case "Tz":
		p.scale = p.float(last(stack)) / 100
	case "TL":
		p.leading = p.float(last(stack))
	case "Ts":
		p.rise = p.float(last(stack))
	case "Tr":
		p.hidden = p.int(last(stack)) == 7 // 3 is what was recognised behind a picture
	case "Td":
		n := p.numbers(stack, 2)
		p.move(n[0], n[1])
	case "TD":
		n := p.numbers(stack, 2)
		p.leading = -n[1]
		p.move(n[0], n[1])
	case "Tm":
		p.line = matrix(p.numbers(stack, 6))
		p.text = p.line
	case "T*":
		p.move(0, -p.leading)
	case "Tj":
		p.show(last(stack))
	case "'":
		p.move(0, -p.leading)
		p.show(last(stack))
	case "\"":
		n := p.numbers(stack[:max(0, len(stack)-1)], 2)
		p.wording, p.spacing = n[0], n[1]
		p.move(0, -p.leading)
		p.show(last(stack))
	case "TJ":
		list, _ := last(stack).(array)
		for _, o := range list {
			if t, ok := o.(text); ok {
				p.show(t)
				continue
			}
			p.text = matrix{1, 0, 0, 1, -p.float(o) / 1000 * p.size * p.scale, 0}.times(p.text)
		}
	case "Do":
		key, _ := last(stack).(name)
		p.form(p.dict(resources["XObject"])[key], resources, forms)
	}
}

func (p *painter) move(x, y float64) {
	p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
	p.text = p.line
}

// form carries out what is drawn as one thing.
func (p *painter) form(o object, resources dict, forms int) {
	s, ok := p.object(o).(*stream)
	if !ok || p.name(s.dict["Subtype"]) != "Form" || forms >= maxForms || !p.spend(formWork) {
		return
	}
	if own := p.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	before, saved, text, line := p.state, p.saved, p.text, p.line
	p.saved = nil
	if m := p.array(s.dict["Matrix"]); len(m) == 6 {
		p.ctm = matrix(p.numbers(m, 6)).times(p.ctm)
	}
	data, free := p.decode(s)
	p.run(data, resources, forms+1)
	free()
	p.state, p.saved, p.text, p.line = before, saved, text, line
}

// show writes a text where it stands.
func (p *painter) show(o object) {
	t, ok := o.(text)
	if !ok || p.font == nil || p.hidden || !p.spend(letterWork*len(t)) {
		return
	}
	if p.font.lost && len(t) > 0 {
		p.lost = true
	}
	p.font.show(t, func(s string, width float64, space bool) {
		at := matrix{1, 0, 0, 1, 0, p.rise}.times(p.text).times(p.ctm)
		size := math.Abs(p.size) * math.Hypot(at[2], at[3])
		advance := (width/1000*p.size + p.spacing) * p.scale
		if space {
			advance += p.wording * p.scale
		}
		p.text = matrix{1, 0, 0, 1, advance, 0}.times(p.text)
		end := p.text.times(p.ctm)
		p.out.put(s, at[4], at[5], end[4], size)
	})
	if p.written+p.out.bytes > p.most.written {
		p.stop(ErrTooLarge)
	}
}

// put adds a letter. What stands at another height, or before what was written last,
// begins a line: text is written in the order in which it is read.
func (g *page) put(s string, x, y, end, size float64) {
	if s == "" || s[0] < ' ' {
		s = ""
	}
	if strings.TrimSpace(s) == "" {
		if g.any && math.Abs(y-g.y) < 0.5*g.size {
			g.x = max(g.x, min(x, g.x)) // a space is seen as the gap that it is
		}
		return
	}
	same := g.any && math.Abs(y-g.y) < 0.5*max(g.size, size)
	switch {
	case g.any && same && x > g.x-0.5*size && x < g.x+200*size:
		switch gap := x - g.x; {
		case gap > cellGap*size:
			g.write(" | ")
		case gap > wordGap*size:
			g.write(" ")
		}
	default:
		g.end()
		g.y = y
	}
	g.write(s)
	g.x, g.any = end, true
	g.size = max(g.size, size)
}

func (g *page) write(s string) {
	g.open.WriteString(s)
	g.bytes += len(s)
}

// end ends the open line.
func (g *page) end() {
	if !g.any {
		return
	}
	line := Line{Text: g.open.String(), Size: g.size}
	if len(g.lines) > 0 {
		drop := g.before - g.y
		line.Gap = drop > 1.8*g.size || drop < -0.5*g.size
	}
	g.lines = append(g.lines, line)
	g.bytes += lineBytes
	g.before = g.y
	g.open.Reset()
	g.any, g.size = false, 0
}
