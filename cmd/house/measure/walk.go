package measure

import (
	"regexp"
	"slices"
	"strings"
)

// walkOfAWrite is how the section of docs/architecture.md begins that follows an ingest from
// the request to the 202. The section ends where the next heading stands.
const walkOfAWrite = "### An ingest, until it is accepted"

var goFile = regexp.MustCompile("`([a-z][a-z0-9_/]*/[a-z0-9_]+\\.go)`")

// Walk returns the Go files that the walk of an ingest names in a page, each once and in
// the page's order. A page without such a walk gives none.
func Walk(page string) []string {
	_, rest, found := strings.Cut(page, "\n"+walkOfAWrite)
	if !found {
		return nil
	}
	rest, _, _ = strings.Cut(rest, "\n#")
	return Named(rest)
}

// Named returns the Go files that a page names between backticks with their folder, each
// once and in the page's order.
func Named(page string) (files []string) {
	for _, match := range goFile.FindAllStringSubmatch(page, -1) {
		if !slices.Contains(files, match[1]) {
			files = append(files, match[1])
		}
	}
	return files
}
