package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// FormFile is the form of a setting that names a file; those that hold secrets or certificates
// may come as credentials of systemd.
const FormFile = "file"

// fileColumns is how wide the comments of File are.
const fileColumns = 96

// File is a configuration file in which every setting is described. Those of given are in
// force; of all others the default stands there as a comment, so that the file changes nothing
// by being there.
func File(given map[string]string) string {
	var b strings.Builder
	b.WriteString("# The settings of `orgmem serve`; orgmem.toml(5) has them as a page.\n" +
		"# A line that begins with \"#\" and a name shows the default: take the # away to change it.\n" +
		"# Stronger than this file are environment variables (ORGMEM_LISTEN) and flags (--listen).\n" +
		"# `orgmem doctor --config FILE` says what is in force, and what is wrong with it.\n")
	for _, s := range Settings {
		b.WriteString("\n")
		for _, line := range wrap(Plain(s.Doc), fileColumns) {
			b.WriteString("# " + line + "\n")
		}
		fmt.Fprintf(&b, "# Form: %s.\n", s.Form)
		if v, ok := given[s.Name]; ok {
			fmt.Fprintf(&b, "%s = %s\n", s.Name, quoted(v))
		} else {
			fmt.Fprintf(&b, "#%s = %s\n", s.Name, quoted(s.Default))
		}
	}
	return b.String()
}

// quoted is a value as TOML writes a text; what JSON escapes, TOML escapes likewise.
func quoted(v string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic("config: a text did not encode: " + err.Error()) //nolint:forbidigo // broken invariant: texts always do
	}
	return strings.TrimSuffix(b.String(), "\n")
}

var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

// Plain is a description without its links to other pages, which only the page in docs/ can
// have.
func Plain(doc string) string { return link.ReplaceAllString(doc, "$1") }

// wrap breaks a text between words. A word that is longer than a line has one of its own.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case len(line)+1+len(word) > columns:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
