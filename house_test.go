package orgmem_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orgmem/cmd/house/measure"
)

// pkg is what `go list` tells of a package.
type pkg struct {
	ImportPath   string
	Name         string
	Dir          string
	Doc          string
	GoFiles      []string
	Imports      []string
	TestGoFiles  []string
	XTestGoFiles []string
	TestImports  []string
	XTestImports []string
}

// folder is the top-level folder of a package of ours, "" for a foreign one.
func folder(importPath string) string {
	rest, ours := strings.CutPrefix(importPath, "orgmem/")
	if !ours {
		return ""
	}
	top, _, _ := strings.Cut(rest, "/")
	return top
}

func packages(t *testing.T) []pkg {
	t.Helper()
	const fields = "-json=ImportPath,Name,Dir,Doc,GoFiles,Imports,TestGoFiles,XTestGoFiles,TestImports,XTestImports"
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", fields, "./...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	if len(all) < 10 {
		t.Fatalf("only %d packages found", len(all))
	}
	return all
}

// arrows is what each folder may import of the others (docs/architecture.md).
var arrows = map[string][]string{
	"cmd":     {"cmd", "api", "actors", "cluster", "storage", "brain", "proto", "console"},
	"api":     {"api", "actors", "proto"},
	"actors":  {"actors", "cluster", "storage", "brain", "proto"},
	"cluster": {"cluster", "storage", "proto"},
	"storage": {"storage", "proto"},
	"brain":   {"brain", "proto"},
	"proto":   {"proto"},
	// Beside the house: bench drives the built binary from outside, and times the
	// embedding alone, to tell what a search costs without it.
	"bench": {"bench", "cmd", "brain", "proto"},
	// The binary takes the console's built files, and the console nothing of the service's.
	"console": {},
}

func TestImportsRunOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from := folder(p.ImportPath)
		if from == "" {
			continue
		}
		allowed, known := arrows[from]
		if !known {
			t.Errorf("%s: no rule says what %s may import", p.ImportPath, from)
			continue
		}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			if to := folder(path); to != "" && !slices.Contains(allowed, to) {
				t.Errorf("%s imports %s: %s may import only %v", p.ImportPath, path, from, allowed)
			}
		}
		if from == "bench" {
			for _, path := range p.Imports {
				harness := path == "orgmem/cmd/orgmem/process" || path == "orgmem/cmd/orgmem/pages"
				if folder(path) == "cmd" && !harness {
					t.Errorf("%s imports %s: benchmarks see the service from outside", p.ImportPath, path)
				}
			}
		}
	}
}

// technologies are hidden, each behind one folder. bench may use gin, since it
// compares with a bare gin route.
var technologies = map[string][]string{
	"github.com/gin-gonic/gin":          {"api", "bench"},
	"github.com/danielgtaylor/huma":     {"api"},
	"github.com/modelcontextprotocol":   {"api", "cmd"}, // in cmd a test is a client
	"github.com/google/jsonschema-go":   {"api"},
	"github.com/asynkron/protoactor-go": {"actors", "cluster"},
	"github.com/hashicorp/raft":         {"cluster"},
	"github.com/hashicorp/memberlist":   {"cluster"},
	"google.golang.org/grpc":            {"cluster"},
	"github.com/cockroachdb/pebble":     {"storage"},
	"gonum.org/v1/gonum":                {"brain"},
	"github.com/spf13/cobra":            {"cmd"},
	"github.com/knadh/koanf":            {"cmd"},
	"go.opentelemetry.io/otel":          {"proto", "cmd"}, // its interface in proto/tracing; what sends, in cmd
}

func TestEachTechnologyHasOneHome(t *testing.T) {
	for _, p := range packages(t) {
		from := folder(p.ImportPath)
		if from == "" {
			continue
		}
		for _, path := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			for tech, homes := range technologies {
				if (path == tech || strings.HasPrefix(path, tech+"/")) && !slices.Contains(homes, from) {
					t.Errorf("%s imports %s, which only %v may know", p.ImportPath, path, homes)
				}
				// cluster knows protoactor's cluster interfaces only, never its
				// actors; but these interfaces are spelled with its PID.
				spells := p.ImportPath == "orgmem/cluster/remoting"
				if tech == "github.com/asynkron/protoactor-go" && from == "cluster" && path == tech+"/actor" && !spells {
					t.Errorf("%s imports %s, which only actors may know", p.ImportPath, path)
				}
			}
		}
	}
}

// impure are the imports through which a computation would reach the world.
var impure = []string{
	"context", "crypto/rand", "database/sql", "io/fs", "io/ioutil", "log", "log/slog", "math/rand", "net", "net/http",
	"os", "os/exec", "os/signal", "path/filepath", "sync", "sync/atomic", "syscall", "testing", "time",
}

// brain takes values and returns values. Its tools (package main) and tests may
// do more.
func TestBrainIsPure(t *testing.T) {
	for _, p := range packages(t) {
		if folder(p.ImportPath) != "brain" || p.Name == "main" {
			continue
		}
		for _, path := range p.Imports {
			if slices.Contains(impure, path) && !pureUse(p.ImportPath, path) {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
		for _, name := range p.GoFiles {
			file := parse(t, filepath.Join(p.Dir, name))
			ast.Inspect(file.ast, func(n ast.Node) bool {
				switch n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine", file.at(n))
				case *ast.SelectStmt, *ast.ChanType:
					t.Errorf("%s uses a channel", file.at(n))
				}
				return true
			})
		}
	}
}

// pureUse lists impure-looking imports that do nothing impure.
func pureUse(importer, imported string) bool {
	switch imported {
	case "sync":
		// sync.Once and sync.Pool guard lazily built tables; neither is seen from
		// outside.
		return strings.HasPrefix(importer, "orgmem/brain/")
	case "time":
		// An export's document spells times as RFC 3339. That nobody reads the clock,
		// TestTimeAndChanceComeThroughConstructors holds.
		return importer == "orgmem/brain/document"
	}
	return false
}

func TestEachPackageExplainsItself(t *testing.T) {
	for _, p := range packages(t) {
		if p.Doc == "" && len(p.GoFiles) > 0 {
			t.Errorf("%s has no package comment", p.ImportPath)
		}
	}
	for top := range arrows {
		if _, err := os.Stat(filepath.Join(top, "doc.go")); err != nil && top != "cmd" {
			t.Errorf("%s has no doc.go", top)
		}
	}
}

// worldly are the functions that read a clock or a global source of chance.
var worldly = map[string][]string{
	"time": {"Now", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Since", "Until"},
}

// seeded are the parts of math/rand/v2 that take their chance from an argument.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewZipf", "Rand", "Source", "PCG", "ChaCha8", "Zipf"}

func TestTimeAndChanceComeThroughConstructors(t *testing.T) {
	for _, p := range packages(t) {
		from := folder(p.ImportPath)
		if from == "bench" || from == "cmd" || p.ImportPath == "orgmem/proto/clock" || p.Name == "main" {
			continue
		}
		for _, name := range p.GoFiles {
			file := parse(t, filepath.Join(p.Dir, name))
			file.eachUse(func(n ast.Node, path, name string) {
				if slices.Contains(worldly[path], name) {
					t.Errorf("%s uses %s.%s: take a clock.Clock", file.at(n), path, name)
				}
				if path == "math/rand" || path == "math/rand/v2" && !slices.Contains(seeded, name) {
					t.Errorf("%s uses %s.%s: take a seeded source", file.at(n), path, name)
				}
			})
		}
	}
}

// vocabulary is the file that has the words of the interface.
const vocabulary = "proto/vocabulary.go"

// wordsOfTheInterface are the words of the vocabulary that are looked for elsewhere, each with the constants that
// have it. A word without a mark, such as "read", is also a plain word of the language, or the name of a field.
func wordsOfTheInterface(t *testing.T) map[string][]string {
	t.Helper()
	words := map[string][]string{}
	file := parse(t, vocabulary)
	ast.Inspect(file.ast, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if len(spec.Values) != len(spec.Names) {
			t.Errorf("%s: give each name a value of its own", file.at(spec))
			return false
		}
		for i, name := range spec.Names {
			word, ok := stringOf(spec.Values[i])
			if !ok {
				t.Errorf("%s: %s is no string literal", file.at(spec), name)
			} else if strings.ContainsAny(word, "_.:") {
				words[word] = append(words[word], "pb."+name.Name)
			}
		}
		return false
	})
	if len(words) < 10 {
		t.Fatalf("%s has only %d such words", vocabulary, len(words))
	}
	return words
}

// Code that says a word of the interface uses its constant, so that each word is written
// once, and a misspelled one does not compile. Go wants literals in struct tags; there
// the words stand within longer texts, which this does not look into.
func TestWordsOfTheInterfaceAreWrittenOnce(t *testing.T) {
	words := wordsOfTheInterface(t)
	for _, top := range []string{"actors", "api", "cmd"} {
		err := filepath.WalkDir(top, func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file := parse(t, path)
			ast.Inspect(file.ast, func(n ast.Node) bool {
				if word, ok := stringOf(n); ok && words[word] != nil {
					t.Errorf("%s: %q is %s", file.at(n), word, strings.Join(words[word], " or "))
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// stringOf is the text of a string literal.
func stringOf(n ast.Node) (text string, ok bool) {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(literal.Value)
	return text, err == nil
}

// A test that sleeps is slow on a fast machine and wrong on a slow one.
func TestNoTestSleeps(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			file := parse(t, filepath.Join(p.Dir, name))
			file.eachUse(func(n ast.Node, path, name string) {
				if path == "time" && name == "Sleep" {
					t.Errorf("%s sleeps", file.at(n))
				}
			})
		}
	}
}

// What fuzzing finds is kept beside its target, where every test runs it: make fuzz,
// then make fuzz-keep.
func TestFuzzTargetsKeepWhatTheyFound(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			for _, d := range parse(t, filepath.Join(p.Dir, name)).ast.Decls {
				f, ok := d.(*ast.FuncDecl)
				if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Fuzz") {
					continue
				}
				if kept, err := os.ReadDir(filepath.Join(p.Dir, "testdata", "fuzz", f.Name.Name)); err != nil || len(kept) == 0 {
					t.Errorf("%s.%s keeps nothing: %v", p.ImportPath, f.Name.Name, err)
				}
			}
		}
	}
}

var grow = flag.Bool("grow", false, "let "+sizes+" say what is, also where it has grown")

// sizes lists what is larger than the house aims at, and how large it may be.
const sizes = "testdata/house.tsv"

// slack is how far the real size may lie under a line of sizes: further, and the line is
// tightened. So a size only falls, and small changes do not need to touch the list.
var slack = map[string]int{
	"package": 200, "fields": 3, "methods": 5, "function": 10, "wide": 20, "hard": 20, "blocks": 10,
	"writing": 2,
}

// TestHouseOnlyShrinks holds the sizes that make house prints: nothing grows over an aim
// that was within it, and what is over one only becomes smaller. What fell is written with
// go test . -run TestHouseOnlyShrinks -update, which raises nothing and adds nothing. With
// -grow it does, too: for what has moved or has another name, and for growth that the
// commit which brings it argues for. A struct may also say in its doc comment why
// it is as large as it is, in a sentence that begins with "Large because".
func TestHouseOnlyShrinks(t *testing.T) {
	h, err := measure.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(sizes)
	if err != nil {
		t.Fatal(err)
	}
	real, kept := overAims(h), ""
	for line := range strings.Lines(string(raw)) {
		if strings.HasPrefix(line, "#") {
			kept += line
			continue
		}
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 || slack[fields[0]] == 0 {
			t.Fatalf("%s: %q is not a kind, a name and a size", sizes, line)
		}
		most, err := strconv.Atoi(fields[2])
		if err != nil {
			t.Fatalf("%s: %q: %v", sizes, line, err)
		}
		name := fields[0] + "\t" + fields[1]
		is := real[name]
		delete(real, name)
		switch {
		case is > most && *grow:
			most = is
		case is > most:
			t.Errorf("%s has grown to %d, and may be %d", name, is, most)
		case *update || *grow:
			most = is
		case is == 0:
			t.Errorf("%s is within the aim, or is gone: drop its line from %s (-update does it)", name, sizes)
		case is < most-slack[fields[0]]:
			t.Errorf("%s has fallen to %d: say so in %s, instead of %d (-update does it)", name, is, sizes, most)
		}
		if most > 0 {
			kept += fmt.Sprintf("%s\t%d\n", name, most)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(real)) {
		if *grow {
			kept += fmt.Sprintf("%s\t%d\n", name, real[name])
			continue
		}
		t.Errorf("%s is %d, over the aim, and %s has no such line", name, real[name], sizes)
	}
	if *update || *grow {
		lines := slices.Collect(strings.Lines(kept))
		head := slices.IndexFunc(lines, func(line string) bool { return !strings.HasPrefix(line, "#") })
		slices.Sort(lines[head:])
		if err := os.WriteFile(sizes, []byte(strings.Join(lines, "")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// overAims are the sizes over an aim, each under its kind and name.
func overAims(h *measure.House) map[string]int {
	over := map[string]int{}
	for _, p := range h.Packages {
		if p.Lines > measure.MaxPackage {
			over["package\t"+p.Path] = p.Lines
		}
	}
	for _, s := range h.Structs {
		if s.Argued {
			continue
		}
		if s.Fields > measure.MaxFields {
			over["fields\t"+s.Name] = s.Fields
		}
		if s.Methods > measure.MaxMethods {
			over["methods\t"+s.Name] = s.Methods
		}
	}
	for _, f := range h.Functions {
		over["function\t"+f.Name] = f.Lines
	}
	for _, l := range h.Lines {
		over["wide\t"+l.Folder]++
		if l.Columns > measure.HardColumns {
			over["hard\t"+l.Folder]++
		}
	}
	if n := len(h.Blocks); n > 0 {
		over["blocks\t."] = n
	}
	if n := len(h.Writing); n > measure.MaxWriting {
		over["writing\t."] = n
	}
	return over
}

// Packages below actors, cluster and storage import in the order of measure.Order.
func TestRoomsHaveAnOrder(t *testing.T) {
	h, err := measure.Read(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, arrow := range h.Upward {
		t.Errorf("%s, which measure.Order does not allow", arrow)
	}
	for _, name := range h.Unordered {
		t.Errorf("%s has no place in measure.Order", name)
	}
}

// pagesOfCode are the pages that name files and functions of this repository.
var pagesOfCode = []string{"docs/architecture.md", "CONTRIBUTING.md", "docs/interface.md", "SECURITY.md"}

// inFile is a file between backticks, with the functions of it that follow in brackets.
var (
	inFile = regexp.MustCompile("`([a-z][a-z0-9_/]*/[a-z0-9_]+\\.go)`(?:,? \\(?`[A-Za-z]+`(?:, `[A-Za-z]+`)*\\)?)?")
	quoted = regexp.MustCompile("`([^`]+)`")
)

// What the pages say of the code is true: each file that they name is there, and declares
// the functions that stand behind it. The map has each package of the folders that are
// cut into rooms.
func TestPagesOfCodeAreTrue(t *testing.T) {
	for _, name := range pagesOfCode {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page := strings.Join(strings.Fields(string(raw)), " ")
		for _, match := range inFile.FindAllString(page, -1) {
			names := quoted.FindAllStringSubmatch(match, -1)
			file := names[0][1]
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			declared := declarations(parse(t, file))
			for _, function := range names[1:] {
				if !declared[function[1]] {
					t.Errorf("%s: %s declares no %s", name, file, function[1])
				}
			}
		}
		if name != pagesOfCode[0] {
			continue
		}
		for _, p := range packages(t) {
			path := strings.TrimPrefix(p.ImportPath, "orgmem/")
			if rooms := measure.Order[folder(p.ImportPath)]; rooms != nil && !strings.Contains(page, "`"+path+"`") {
				t.Errorf("%s does not say what %s is", name, path)
			}
		}
	}
}

// Pages name only tests that exist: one that was removed proves nothing.
func TestPagesNameTestsThatExist(t *testing.T) {
	there := map[string]bool{}
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			maps.Copy(there, declarations(parse(t, filepath.Join(p.Dir, name))))
		}
	}
	// Tests behind a build tag are no files of the package.
	tagged, err := filepath.Glob("cmd/orgmem/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range tagged {
		maps.Copy(there, declarations(parse(t, name)))
	}
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(pages, "README.md", "CONTRIBUTING.md", "SECURITY.md") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range quoted.FindAllStringSubmatch(string(raw), -1) {
			if test := match[1]; aTest.MatchString(test) && !there[test] {
				t.Errorf("%s names %s, which is not there", name, test)
			}
		}
	}
}

// aTest is the whole name of a test or benchmark.
var aTest = regexp.MustCompile(`^(Test|Fuzz|Benchmark)[A-Z][A-Za-z0-9]*$`)

// aPage is a Markdown page as prose and comments name it.
var aPage = regexp.MustCompile(`[\w./-]*\w\.md\b`)

// A page that a comment or a page names is in the repository: by its path from the root or
// from docs, beside who names it, or in the folder above.
func TestNothingCitesAPageThatIsNotHere(t *testing.T) {
	check := func(file, text string) {
		for _, name := range aPage.FindAllString(text, -1) {
			dir := filepath.Dir(file)
			there := slices.ContainsFunc([]string{".", "docs", dir, filepath.Dir(dir)}, func(in string) bool {
				_, err := os.Stat(filepath.Join(in, name))
				return err == nil
			})
			// A DESIGN.md of any package, and what docs/examples makes.
			if !there && name != "DESIGN.md" && name != "walk.md" {
				t.Errorf("%s names %s, which is not here", file, name)
			}
		}
	}
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			path := filepath.Join(strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, "orgmem"), "/"), name)
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, group := range file.Comments {
				check(path, group.Text())
			}
		}
	}
	for _, pattern := range []string{"*.md", "*/*.md", "*/*/*.md"} {
		pages, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range pages {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			check(path, string(raw))
		}
	}
}

// declarations are the names that a file declares: of functions, methods, types, variables
// and constants.
func declarations(file parsed) map[string]bool {
	names := map[string]bool{}
	for _, d := range file.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			names[d.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, id := range spec.Names {
						names[id.Name] = true
					}
				}
			}
		}
	}
	return names
}

// NOTICE names each module that is linked into the binary, and no other.
func TestNoticeNamesWhatIsLinked(t *testing.T) {
	raw, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(raw), "Go modules linked into the binary")
	list, _, _ = strings.Cut(list, "Notices that")
	named := map[string]bool{}
	for line := range strings.Lines(list) {
		if module, ok := strings.CutPrefix(line, "  "); ok {
			named[strings.TrimSpace(module)] = true
		}
	}
	const modules = "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}"
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", modules, "./cmd/orgmem").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	linked := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	for _, module := range linked {
		if !named[module] {
			t.Errorf("NOTICE does not name %s, which is linked", module)
		}
	}
	for module := range named {
		if !slices.Contains(linked, module) {
			t.Errorf("NOTICE names %s, which is not linked", module)
		}
	}
}

// maxLines is where a file must be split; at 500 one asks.
const maxLines = 900

func TestFilesStayShort(t *testing.T) {
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.GoFiles, p.TestGoFiles, p.XTestGoFiles) {
			raw, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if generated(raw) {
				continue
			}
			if n := bytes.Count(raw, []byte("\n")); n > maxLines {
				t.Errorf("%s/%s has %d lines", p.ImportPath, name, n)
			}
		}
	}
}

func generated(raw []byte) bool {
	head, _, _ := bytes.Cut(raw, []byte("\npackage "))
	return bytes.Contains(head, []byte("// Code generated ")) && bytes.Contains(head, []byte(" DO NOT EDIT."))
}

// parsed is a file with what is needed to name places in it.
type parsed struct {
	set *token.FileSet
	ast *ast.File
}

func parse(t *testing.T, path string) parsed {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return parsed{set, file}
}

func (p parsed) at(n ast.Node) string { return p.set.Position(n.Pos()).String() }

// eachUse reports each selector on an imported package. A local variable that
// shadows an import would be reported too; none of ours should.
func (p parsed) eachUse(report func(n ast.Node, path, name string)) {
	imports := make(map[string]string)
	for _, spec := range p.ast.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path[strings.LastIndex(path, "/")+1:]
		if path == "math/rand/v2" {
			name = "rand"
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		imports[name] = path
	}
	ast.Inspect(p.ast, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if id, ok := sel.X.(*ast.Ident); ok && imports[id.Name] != "" {
				report(sel, imports[id.Name], sel.Sel.Name)
			}
		}
		return true
	})
}
