package cluster

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"testing"
)

// TestCommitNamesItsTests: the commit's comment promises a crash test for each
// gap. Each test that it names must be there.
func TestCommitNamesItsTests(t *testing.T) {
	fset := token.NewFileSet()
	there := map[string]bool{}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var comment string
	for _, name := range files {
		f, err := parser.ParseFile(fset, name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				there[fn.Name.Name] = true
				if fn.Name.Name == "ProposeAsync" {
					comment = fn.Doc.Text()
				}
			}
		}
	}
	named := regexp.MustCompile("Test[A-Z][A-Za-z]+").FindAllString(comment, -1)
	if len(named) < 10 {
		t.Errorf("the commit names %d tests", len(named))
	}
	for _, name := range named {
		if !there[name] {
			t.Errorf("the commit names %s, which is not there", name)
		}
	}
}
