package orgmem_test

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite docs/interface-coverage.md")

const coveragePage = "docs/interface-coverage.md"

// paragraphs are the paragraphs of the interface, by section and a label of our
// own. A test names what it holds in its comment, "// interface: <label>". The
// value says what a paragraph without a test waits for; empty: nothing.
var paragraphs = map[string]string{
	"Authentication/1 header or bearer":                      "",
	"Authentication/10 a key that is not the caller's":       "",
	"Authentication/11 OAuth for assistants":                 "it does not apply to /v1",
	"Authentication/12 webhook signature":                    "",
	"Authentication/2 form of a key":                         "",
	"Authentication/3 principal":                             "",
	"Authentication/4 minting":                               "",
	"Authentication/5 shown once":                            "",
	"Authentication/6 scopes":                                "",
	"Authentication/7 sandbox keys":                          "",
	"Authentication/8 acting as a subject":                   "",
	"Authentication/9 isolation between organizations":       "",
	"Endpoints/Brain":                                        "",
	"Endpoints/Coding sessions":                              "",
	"Endpoints/Condition scaffold":                           "",
	"Endpoints/Condition session":                            "",
	"Endpoints/Contradictions":                               "",
	"Endpoints/Conventions Idempotency-Key":                  "",
	"Endpoints/Conventions JSON":                             "",
	"Endpoints/Conventions X-Svc-Subject":                    "",
	"Endpoints/Conventions credential":                       "",
	"Endpoints/Conventions key owner's routes":               "",
	"Endpoints/Conventions lists":                            "",
	"Endpoints/DELETE /v1/me":                                "",
	"Endpoints/Events":                                       "",
	"Endpoints/Exports":                                      "",
	"Endpoints/GET /v1/me":                                   "",
	"Endpoints/Graph domains":                                "",
	"Endpoints/Graph edges":                                  "",
	"Endpoints/Graph history":                                "",
	"Endpoints/Graph nodes":                                  "",
	"Endpoints/Identity":                                     "",
	"Endpoints/Import":                                       "",
	"Endpoints/Ingest":                                       "",
	"Endpoints/Jobs":                                         "",
	"Endpoints/Keys":                                         "",
	"Endpoints/Proposals":                                    "",
	"Endpoints/Purge":                                        "",
	"Endpoints/Recall node and search":                       "",
	"Endpoints/Recall sessions":                              "",
	"Endpoints/Recall views":                                 "",
	"Endpoints/Retrieve":                                     "",
	"Endpoints/Sandbox":                                      "",
	"Endpoints/Search":                                       "",
	"Endpoints/Settings":                                     "",
	"Endpoints/Subjects":                                     "",
	"Endpoints/Team":                                         "",
	"Endpoints/Usage":                                        "",
	"Endpoints/Webhooks":                                     "",
	"Errors/Codes":                                           "",
	"Errors/Problem body":                                    "",
	"Events/Delivery signature":                              "",
	"Events/Stream frames":                                   "",
	"Events/Stream reach":                                    "",
	"Events/Stream without a bus":                            "",
	"Events/Delivery attempts, retries and disabling":        "",
	"Events/basin.shifted":                                   "",
	"Events/belief.superseded":                               "",
	"Events/brain.trained":                                   "",
	"Events/contradiction.detected":                          "",
	"Events/graph.updated":                                   "",
	"Events/identity.* on the stream":                        "",
	"Events/insight.proposed":                                "",
	"Events/job.completed":                                   "",
	"Events/webhook.test":                                    "",
	"Limits/Asserted weight and confidence":                  "",
	"Limits/Concurrent event streams":                        "",
	"Limits/Families":                                        "",
	"Limits/Headers":                                         "",
	"Limits/Import history":                                  "",
	"Limits/Key token":                                       "",
	"Limits/Page size":                                       "",
	"Limits/Session batch":                                   "",
	"Limits/Stream heartbeat":                                "",
	"Limits/Tombstone retention":                             "",
	"Limits/Webhook attempts and time-out":                   "",
	"Limits/Webhook URL":                                     "",
	"Limits/Webhook endpoints and types":                     "",
	"Resources/API key":                                      "",
	"Resources/Brain info":                                   "",
	"Resources/Coding-session status":                        "",
	"Resources/Conditioning pack":                            "",
	"Resources/Event envelope":                               "",
	"Resources/Export":                                       "",
	"Resources/Graph records":                                "",
	"Resources/Ingest job":                                   "",
	"Resources/Organization":                                 "",
	"Resources/Pagination envelope":                          "",
	"Resources/Principal":                                    "",
	"Resources/Purge report":                                 "",
	"Resources/Recall identity view":                         "",
	"Resources/Search hit":                                   "",
	"Resources/Settings":                                     "",
	"Resources/Subject":                                      "",
	"Resources/Usage bucket":                                 "",
	"Resources/Webhook endpoint":                             "",
	"States/API key revoked":                                 "",
	"States/Brain parity gate":                               "",
	"States/Brain training":                                  "",
	"States/Edge forgotten":                                  "",
	"States/Export":                                          "",
	"States/Ingest job":                                      "",
	"States/Node forgotten":                                  "",
	"States/Node restored":                                   "",
	"States/Node superseded":                                 "",
	"States/Purge":                                           "",
	"States/Session backfill":                                "",
	"States/Webhook":                                         "",
	"Versioning/export format":                               "",
	"Versioning/path prefix":                                 "",
	"What the service does/1 graph and chunks":               "",
	"What the service does/2 partitions by subject":          "",
	"What the service does/3 asynchronous ingestion":         "",
	"What the service does/4 kinds of reads":                 "",
	"What the service does/5 edits with an audit trail":      "",
	"What the service does/6 contradictions and proposals":   "",
	"What the service does/7 export, purge, usage, settings": "",
	"What the service does/8 events":                         "",
	"What the service does/9 sandbox keys":                   "",
	"What the service does/derived views are empty at first": "",
}

// TestInterfaceCoverage fails for a paragraph that no test names, for a name that
// is no paragraph's, and when the page that lists them is stale. Rewrite it with:
// go test . -run TestInterfaceCoverage -update
func TestInterfaceCoverage(t *testing.T) {
	tests := map[string][]string{}
	for _, p := range packages(t) {
		for _, name := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
			for _, found := range namedIn(t, filepath.Join(p.Dir, name)) {
				if _, known := paragraphs[found.label]; !known {
					t.Errorf("%s names %q, which is no paragraph", found.test, found.label)
				}
				tests[found.label] = append(tests[found.label], strings.TrimPrefix(p.ImportPath, "orgmem/")+"."+found.test)
			}
		}
	}
	var page strings.Builder
	page.WriteString("# Which tests hold which paragraph of the interface\n\n" +
		"Made by `go test . -run TestInterfaceCoverage -update` from the comments of the tests. Beside what stands here,\n" +
		"`TestAccessMatrix` sends every route with every kind of credential, and holds every answer to the OpenAPI document.\n")
	section := ""
	for _, label := range slices.Sorted(maps.Keys(paragraphs)) {
		waits := paragraphs[label]
		name, paragraph, _ := strings.Cut(label, "/")
		if name != section {
			section = name
			fmt.Fprintf(&page, "\n## %s\n\n| Paragraph | Tests |\n|---|---|\n", section)
		}
		slices.Sort(tests[label])
		switch {
		case len(tests[label]) > 0 && waits != "":
			t.Errorf("%s has a test and waits for nothing more", label)
		case len(tests[label]) > 0:
			fmt.Fprintf(&page, "| %s | %s |\n", paragraph, strings.Join(tests[label], ", "))
		case waits != "":
			fmt.Fprintf(&page, "| %s | none: %s |\n", paragraph, waits)
		default:
			t.Errorf("%s: no test names it", label)
		}
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
