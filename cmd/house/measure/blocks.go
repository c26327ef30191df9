package measure

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"hash/maphash"
	"slices"
)

// BlockLines is from how many lines of code on a repeated block counts.
const BlockLines = 6

// A Block is a run of lines of one function that stand in another place, too.
type Block struct {
	At    string // where it begins
	Lines int    // of code
}

// place is where six lines begin: the line's index in a function.
type place struct{ function, line int }

// function is the code of a function's body, a statement or a line of one each: its tokens,
// parted by one space. Comments and blank lines are left out, and a statement that is
// wrapped is one line, so that wrapping changes no figure.
type function struct {
	file  string
	lines []string
	at    []int // the number of each in its file
}

// repeated finds the blocks of BlockLines lines and more that stand in more than one place
// of the functions that are not tests. Lines are compared by their tokens: names count,
// spaces, comments and wrapping do not. Every window of six lines that stands elsewhere is marked, and
// marked windows of a function that touch are one block: so each copy of a block counts as
// one, the first included.
func repeated(files []source) (blocks []Block) {
	var all []function
	for i := range files {
		if !files[i].test {
			all = append(all, bodies(&files[i])...)
		}
	}
	seed := maphash.MakeSeed()
	windows := map[uint64][]place{}
	for f := range all {
		for i := range len(all[f].lines) - BlockLines + 1 {
			var h maphash.Hash
			h.SetSeed(seed)
			for _, line := range all[f].lines[i : i+BlockLines] {
				_, _ = h.WriteString(line)
				_ = h.WriteByte('\n')
			}
			windows[h.Sum64()] = append(windows[h.Sum64()], place{f, i})
		}
	}
	var marked []place
	for _, places := range windows {
		for k, p := range places {
			// A row of equal lines is no copy of itself.
			apart := func(o place) bool {
				return o.function != p.function || max(o.line, p.line)-min(o.line, p.line) >= BlockLines
			}
			if slices.ContainsFunc(places[:k], apart) || slices.ContainsFunc(places[k+1:], apart) {
				marked = append(marked, p)
			}
		}
	}
	slices.SortFunc(marked, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.function, b.function), cmp.Compare(a.line, b.line))
	})
	for i := 0; i < len(marked); {
		first, last := marked[i], marked[i]
		touches := func(p place) bool { return p.function == first.function && p.line <= last.line+BlockLines }
		for i++; i < len(marked) && touches(marked[i]); i++ {
			last = marked[i]
		}
		f := &all[first.function]
		blocks = append(blocks, Block{
			At:    fmt.Sprintf("%s:%d", f.file, f.at[first.line]),
			Lines: last.line + BlockLines - first.line,
		})
	}
	return blocks
}

// bodies reads the lines of code of a file's functions, without the lines of the outermost
// braces.
func bodies(s *source) (all []function) {
	lines := codeLines(s)
	for _, d := range s.ast.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		one := function{file: s.name}
		first, last := s.set.Position(f.Body.Lbrace).Line+1, s.set.Position(f.Body.Rbrace).Line
		for _, line := range lines {
			if line.at >= first && line.at < last {
				one.lines = append(one.lines, line.code)
				one.at = append(one.at, line.at)
			}
		}
		all = append(all, one)
	}
	return all
}

// codeLine is a line of code: it ends where a statement ends, and behind a brace or a colon
// that ends a line of the file.
type codeLine struct {
	at   int
	code string
}

func codeLines(s *source) (lines []codeLine) {
	set := token.NewFileSet()
	file := set.AddFile(s.name, -1, len(s.text))
	var tokens scanner.Scanner
	tokens.Init(file, s.text, nil, 0)
	var now codeLine
	end := func() {
		if now.code != "" {
			lines = append(lines, now)
		}
		now = codeLine{}
	}
	before, number := token.ILLEGAL, 0
	for {
		pos, kind, literal := tokens.Scan()
		if kind == token.EOF {
			end()
			return lines
		}
		if kind == token.SEMICOLON && literal == "\n" {
			end()
			before = kind
			continue
		}
		if at := file.Line(pos); at != number {
			if before == token.LBRACE || before == token.COLON {
				end()
			}
			number = at
		}
		if now.code == "" {
			now.at = number
		}
		if !kind.IsLiteral() {
			literal = kind.String()
		}
		now.code += literal + " "
		before = kind
	}
}
