package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// vocabularyOf reads the table of verbs that all clients share: the verbs, and the names of what
// they take. A verb that ends in ".*" stands for all below it.
func vocabularyOf(t *testing.T) (verbs, arguments map[string]bool) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "sdk", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(raw), "\n| Verb | Request | Answer |\n")
	table, _, closed := strings.Cut(table, "\n\n")
	if !found || !closed {
		t.Fatal("sdk/README.md has no table of verbs")
	}
	verbs, arguments = map[string]bool{}, map[string]bool{}
	for row := range strings.SplitSeq(table, "\n") {
		prefix := ""
		for _, code := range inCode(strings.SplitN(row, "|", 3)[1]) {
			name, rest, _ := strings.Cut(code, "(")
			for _, word := range regexp.MustCompile(`[A-Za-z]+`).FindAllString(rest, -1) {
				arguments[word] = true
			}
			for one := range strings.SplitSeq(name, "/") {
				switch at := strings.LastIndexByte(one, '.'); {
				case at > 0:
					prefix = one[:at+1]
				case at == 0:
					one = prefix + one[1:]
				case strings.Contains(name, "/"):
					one = prefix + one
				}
				verbs[one] = true
			}
		}
	}
	return verbs, arguments
}

// inCode are the pieces of a text that stand between backticks.
func inCode(text string) []string {
	var pieces []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		pieces = append(pieces, m[1])
	}
	return pieces
}

// The pages name no verb that does not exist.
func TestComingFromNamesOurVerbs(t *testing.T) {
	verbs, arguments := vocabularyOf(t)
	for _, known := range []string{
		"add", "recall.temporal", "subjects.erase", "proposals.reject", "imports.list", "connectors.*",
	} {
		if !verbs[known] {
			t.Fatalf("the table of verbs is not read: no %s in %v", known, verbs)
		}
	}
	spaces := map[string]bool{}
	for verb := range verbs {
		if space, _, below := strings.Cut(verb, "."); below {
			spaces[space] = true
		}
	}
	isVerb := func(name string) bool {
		space, _, _ := strings.Cut(name, ".")
		return verbs[name] || verbs[space+".*"]
	}
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "coming-from.md"))
	if err != nil {
		t.Fatal(err)
	}
	named, ours := 0, -1
	for line := range strings.SplitSeq(string(raw), "\n") {
		if !strings.HasPrefix(line, "|") {
			ours = -1
			for _, code := range inCode(line) {
				name, _, _ := strings.Cut(code, "(")
				if space, _, below := strings.Cut(name, "."); below && spaces[space] && !isVerb(name) {
					t.Errorf("%q names %s, which no client has", line, name)
				}
			}
			continue
		}
		cells := strings.Split(line, "|")
		if ours < 0 {
			if ours = slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(c) == "Ours" }); ours < 0 {
				t.Fatalf("%q has no column of ours", line)
			}
			continue
		}
		for _, code := range inCode(cells[ours]) {
			name, _, _ := strings.Cut(code, "(")
			space, _, _ := strings.Cut(name, ".")
			switch {
			case isVerb(name):
				named++
			case !arguments[space]:
				t.Errorf("%q names %s, which no client has", line, code)
			}
		}
	}
	if named < 50 {
		t.Errorf("only %d verbs are named: the tables are not read", named)
	}
}
