// Package measure counts what house_test.go holds and `make house` prints: how large the
// packages, structs and functions are, which lines are too long, which imports run against
// the order of the packages, which blocks stand in more than one place, and how many files
// an accepted write passes through.
//
// Everything is read from the source with go/parser, without types: a few seconds for the
// whole repository, and the same figures on every machine. Generated files and testdata are
// left out of all figures; tests count for the lengths of lines and for nothing else.
package measure

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// What the house aims at. What is over an aim today stands in testdata/house.tsv with its
// size and may only become smaller.
const (
	MaxPackage  = 6000 // lines of a package, without its tests
	MaxFields   = 15   // fields of a struct; an embedded one is one field
	MaxMethods  = 40   // methods of a struct
	MaxFunction = 100  // lines of a function, from its first to its last
	MaxColumns  = 120  // characters of a line; a tab is one
	HardColumns = 140
	MaxWriting  = 12 // files on the path of an accepted write
)

// argument begins the sentence in a struct's doc comment by which it may be large.
const argument = "Large because "

// A Package is a folder of Go files.
type Package struct {
	Path  string   // from the root of the repository, with slashes; "." is the root
	Lines int      // of its files, without tests and generated files
	Wants []string // which packages of the repository these files import, sorted
}

// A Struct is over MaxFields or MaxMethods.
type Struct struct {
	Name    string // package path and name: actors/egress.Client
	At      string // file:line
	Fields  int
	Methods int
	Argued  bool // whether its doc comment says why it may be
}

// A Function is over MaxFunction.
type Function struct {
	Name  string // package path, receiver and name: cluster.Group.Apply
	At    string
	Lines int
}

// A Line is over MaxColumns.
type Line struct {
	At      string
	Columns int
	Folder  string // the top folder, "." for a file of the root
	Test    bool
}

// A House is what was measured.
type House struct {
	Packages  []Package  // the largest first
	Structs   []Struct   // those over a limit, the most methods first
	Functions []Function // those over the limit, the longest first
	Lines     []Line     // those over the limit, by place
	Blocks    []Block    // repeated ones, by place
	Upward    []string   // imports against Order: "actors/graph imports actors/tenant"
	Unordered []string   // packages below the folders of Order that it does not name
	Writing   []string   // files that the walk of an ingest names, in its order; empty without a walk
}

// source is a parsed file that people wrote.
type source struct {
	name string // from the root, with slashes
	dir  string
	test bool
	text []byte
	set  *token.FileSet
	ast  *ast.File
}

// Read measures the repository whose root is the folder named root.
func Read(root string) (*House, error) {
	tree := os.DirFS(root)
	files, err := sources(tree)
	if err != nil {
		return nil, err
	}
	h := new(House)
	h.packages(files)
	h.structs(files)
	h.functions(files)
	h.lines(files)
	h.Blocks = repeated(files)
	h.order()
	walk, err := fs.ReadFile(tree, "docs/architecture.md")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the walk of a write: %w", err)
	}
	h.Writing = Walk(string(walk))
	return h, nil
}

// sources parses the Go files of a tree, in the order of their names.
func sources(tree fs.FS) (all []source, err error) {
	set := token.NewFileSet()
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if base := entry.Name(); entry.IsDir() {
			if name != "." && (foreign[base] || strings.HasPrefix(base, ".")) {
				return fs.SkipDir
			}
			return nil
		} else if !strings.HasSuffix(base, ".go") {
			return nil
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		parsed, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if !ast.IsGenerated(parsed) {
			all = append(all, source{
				name: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"),
				text: text, set: set, ast: parsed,
			})
		}
		return nil
	})
	return all, err
}

// foreign are folders whose Go files are not the service's.
var foreign = map[string]bool{"bin": true, "node_modules": true, "testdata": true}

// at is the place of a node: file:line.
func (s *source) at(n ast.Node) string {
	p := s.set.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// module is the path of the repository's module, as imports spell it.
const module = "orgmem"

func (h *House) packages(files []source) {
	found := map[string]*Package{}
	for i := range files {
		s := &files[i]
		if s.test {
			continue
		}
		p := found[s.dir]
		if p == nil {
			p = &Package{Path: s.dir}
			found[s.dir] = p
		}
		p.Lines += strings.Count(string(s.text), "\n")
		for _, spec := range s.ast.Imports {
			if to, ours := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module+"/"); ours {
				p.Wants = append(p.Wants, to)
			}
		}
	}
	for _, p := range found {
		slices.Sort(p.Wants)
		p.Wants = slices.Compact(p.Wants)
		h.Packages = append(h.Packages, *p)
	}
	slices.SortFunc(h.Packages, func(a, b Package) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Path, b.Path))
	})
}

func (h *House) structs(files []source) {
	methods := map[string]int{}
	for i := range files {
		s := &files[i]
		for _, d := range s.ast.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil && !s.test {
				methods[s.dir+"."+receiver(f)]++
			}
		}
	}
	for i := range files {
		s := &files[i]
		for _, d := range s.ast.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.TYPE || s.test {
				continue
			}
			for _, spec := range group.Specs {
				named := spec.(*ast.TypeSpec)
				body, ok := named.Type.(*ast.StructType)
				if !ok {
					continue
				}
				one := Struct{Name: s.dir + "." + named.Name.Name, At: s.at(named)}
				one.Fields, one.Methods = body.Fields.NumFields(), methods[one.Name]
				if one.Fields <= MaxFields && one.Methods <= MaxMethods {
					continue
				}
				doc := named.Doc
				if doc == nil && !group.Lparen.IsValid() {
					doc = group.Doc
				}
				one.Argued = argues(doc.Text())
				h.Structs = append(h.Structs, one)
			}
		}
	}
	slices.SortFunc(h.Structs, func(a, b Struct) int {
		return cmp.Or(cmp.Compare(b.Methods, a.Methods), cmp.Compare(b.Fields, a.Fields), strings.Compare(a.Name, b.Name))
	})
}

// argues reports whether a sentence of a doc comment begins with the argument's words.
func argues(doc string) bool {
	doc = strings.Join(strings.Fields(doc), " ")
	return strings.HasPrefix(doc, argument) || strings.Contains(doc, ". "+argument)
}

// receiver is the name of the type that a method belongs to, "" for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	switch generic := of.(type) {
	case *ast.IndexExpr:
		of = generic.X
	case *ast.IndexListExpr:
		of = generic.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

func (h *House) functions(files []source) {
	for i := range files {
		s := &files[i]
		for _, d := range s.ast.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || s.test {
				continue
			}
			lines := s.set.Position(f.End()).Line - s.set.Position(f.Pos()).Line + 1
			if lines <= MaxFunction {
				continue
			}
			name := f.Name.Name
			if of := receiver(f); of != "" {
				name = of + "." + name
			}
			h.Functions = append(h.Functions, Function{Name: s.dir + "." + name, At: s.at(f), Lines: lines})
		}
	}
	slices.SortFunc(h.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Lines, a.Lines), strings.Compare(a.Name, b.Name))
	})
}

func (h *House) lines(files []source) {
	for i := range files {
		s := &files[i]
		folder, _, below := strings.Cut(s.name, "/")
		if !below {
			folder = "."
		}
		number := 0
		for line := range strings.Lines(string(s.text)) {
			number++
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > MaxColumns {
				at := fmt.Sprintf("%s:%d", s.name, number)
				h.Lines = append(h.Lines, Line{At: at, Columns: n, Folder: folder, Test: s.test})
			}
		}
	}
}
