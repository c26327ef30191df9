package orgmem_test

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "rewrite docs/interface-coverage.md")
	// specification is the text in which the interface was asked for; a copy of it holds
	// the list of its paragraphs.
	specification = flag.String("interface", "", "the interface's text: its paragraphs must be those of "+paragraphsList)
)

const (
	coveragePage   = "docs/interface-coverage.md"
	paragraphsList = "docs/interface-paragraphs.tsv"
)

// paragraph is one promise of the interface: a row of a table, an item of a list or a
// paragraph of its own. Headings, heads of tables and what only says that something is
// not shown are none.
type paragraph struct {
	digest  string // of its text: the first 12 hex digits of its SHA-256
	section string
	anchor  string   // how it begins
	labels  []string // what a test of it says in its comment: "// interface: <label>"
	none    string   // why no test can be of it; empty: one must
}

// paragraphs reads the committed list of them: a line each, with digest, section, anchor,
// labels (parted by semicolons) and perhaps why there is no test, parted by tabs.
func paragraphs(t *testing.T) (all []paragraph) {
	t.Helper()
	raw, err := os.ReadFile(paragraphsList)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) < 4 || len(fields) > 5 {
			t.Fatalf("%s: %d fields in %q", paragraphsList, len(fields), line)
		}
		p := paragraph{digest: fields[0], section: fields[1], anchor: fields[2], labels: strings.Split(fields[3], ";")}
		if len(fields) == 5 {
			p.none = fields[4]
		}
		all = append(all, p)
	}
	if len(all) < 250 {
		t.Fatalf("only %d paragraphs in %s", len(all), paragraphsList)
	}
	return all
}

// TestInterfaceCoverage fails for a paragraph that no test names, for a name that
// is no paragraph's, and when the page that lists them is stale. Rewrite it with:
// go test . -run TestInterfaceCoverage -update
func TestInterfaceCoverage(t *testing.T) {
	all := paragraphs(t)
	known := map[string]bool{}
	for _, p := range all {
		for _, label := range p.labels {
			known[label] = true
		}
	}
	tests := map[string][]string{}
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			for _, found := range namedIn(t, filepath.Join(p.Dir, name)) {
				if !known[found.label] {
					t.Errorf("%s names %q, which is no paragraph's", found.test, found.label)
				}
				tests[found.label] = append(tests[found.label], strings.TrimPrefix(p.ImportPath, "orgmem/")+"."+found.test)
			}
		}
	}
	var page strings.Builder
	page.WriteString("# Which tests hold which paragraph of the interface\n\n" +
		"The interface is [openapi.json](openapi.json) and [interface.md](interface.md). Before there was either\n" +
		"it was asked for in some 270 paragraphs; this page says which tests hold what each of them asked.\n" +
		"The text of the paragraphs is not in this repository, and nobody needs it to build, test or change the\n" +
		"project.\n\n" +
		"Made by `go test . -run TestInterfaceCoverage -update` from two things: `docs/interface-paragraphs.tsv`,\n" +
		"which lists the paragraphs by their digests and how they begin (`-interface FILE` holds the list to a\n" +
		"copy of them), each with the labels that a person gave it; and the comments of the tests, where `//\n" +
		"interface: <label>` says what a test is of. A paragraph is held by the tests of any of its labels, and a\n" +
		"label may stand for several paragraphs: that a test is about all that they say is its author's word and\n" +
		"its reviewer's. The test fails for a paragraph that no test names, and for a label that is no\n" +
		"paragraph's. Beside what stands here, `TestAccessMatrix` sends every route with every kind of\n" +
		"credential, and holds every answer to the OpenAPI document.\n")
	section := ""
	for _, p := range all {
		if p.section != section {
			section = p.section
			fmt.Fprintf(&page, "\n## %s\n\n| Paragraph | Tests |\n|---|---|\n", section)
		}
		var of []string
		for _, label := range p.labels {
			if len(tests[label]) == 0 && p.none == "" {
				t.Errorf("%s, %q: no test names %q", p.section, p.anchor, label)
			}
			of = append(of, tests[label]...)
		}
		slices.Sort(of)
		switch of = slices.Compact(of); {
		case len(of) > 0 && p.none != "":
			t.Errorf("%q has tests, and says that there are none: %s", p.anchor, p.none)
		case p.none != "":
			of = []string{"none: " + p.none}
		}
		fmt.Fprintf(&page, "| %s | %s |\n", strings.ReplaceAll(p.anchor, "|", "\\|"), strings.Join(of, ", "))
	}
	if *update {
		if err := os.WriteFile(coveragePage, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	committed, err := os.ReadFile(coveragePage)
	if err != nil {
		t.Fatal(err)
	}
	if string(committed) != page.String() {
		t.Errorf("%s is stale; run: go test . -run TestInterfaceCoverage -update", coveragePage)
	}
}

// TestParagraphsAreTheInterfaces holds the list of paragraphs to the text of the
// interface, where -interface says where that is.
func TestParagraphsAreTheInterfaces(t *testing.T) {
	if *specification == "" {
		t.Skip("-interface does not say where the interface's text is")
	}
	raw, err := os.ReadFile(*specification)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for _, p := range paragraphs(t) {
		listed[p.digest]++
	}
	ruler := regexp.MustCompile(`^\|[-| ]+\|$`)
	lines, sub := strings.Split(string(raw), "\n"), ""
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "### "); ok {
			sub = name
		} else if strings.HasPrefix(line, "#") {
			sub = ""
		}
		head := strings.HasPrefix(line, "|") && i+1 < len(lines) && ruler.MatchString(strings.TrimSpace(lines[i+1]))
		open := strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "Complete scope")
		hidden := strings.HasSuffix(line, "not shown.") && open || line == "Open items:" || strings.HasPrefix(sub, "Gaps")
		if line == "" || strings.HasPrefix(line, "#") || head || hidden || ruler.MatchString(line) {
			continue
		}
		sum := sha256.Sum256([]byte(line))
		digest := hex.EncodeToString(sum[:])[:12]
		if listed[digest]--; listed[digest] < 0 {
			t.Errorf("no line of %s is %s: %.60q", paragraphsList, digest, line)
		}
	}
	for digest, n := range listed {
		if n > 0 {
			t.Errorf("%s of %s is no paragraph of the interface", digest, paragraphsList)
		}
	}
}

type naming struct{ test, label string }

// namedIn reads which paragraphs the tests of a file name.
func namedIn(t *testing.T, file string) (all []naming) {
	t.Helper()
	source, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range source.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil || !strings.HasPrefix(f.Name.Name, "Test") {
			continue
		}
		for _, c := range f.Doc.List {
			if label, ok := strings.CutPrefix(c.Text, "// interface: "); ok {
				all = append(all, naming{f.Name.Name, label})
			}
		}
	}
	return all
}
