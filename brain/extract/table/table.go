// Package table reads where in a table of Markdown something stands.
//
// # Promises
//
//   - Pure functions of the text: no I/O, no clock. Any string is accepted, and what is looked at is bounded.
//
// # What it hides
//
// How cells, rows and heads are written.
package table

import "strings"

// maxLooked is how many bytes above a row its head is looked for, and maxRow the longest row.
const (
	maxLooked = 8 << 10
	maxRow    = 1 << 10
)

// Head is what stands over the column of a cell that holds nothing but the bytes [start, end) of s; not ok: there is no
// such cell, or no head.
func Head(s string, start, end int) (head string, ok bool) {
	from, to := start, end
	for from > 0 && s[from-1] != '\n' {
		from--
		if start-from > maxRow {
			return "", false
		}
	}
	for to < len(s) && s[to] != '\n' && to-end < maxRow {
		to++
	}
	before, behind := strings.TrimRight(s[from:start], " *_"), strings.TrimLeft(s[end:to], " *_")
	if !strings.HasSuffix(before, "|") || !strings.HasPrefix(behind, "|") {
		return "", false
	}
	column := strings.Count(before, "|")
	if !strings.HasPrefix(strings.TrimSpace(before), "|") {
		column++ // a row without the first bar
	}
	rows := strings.Split(strings.TrimSuffix(s[max(0, from-maxLooked):from], "\n"), "\n")
	rule := len(rows) - 1
	for rule > 0 && !ruled(rows[rule]) {
		if !strings.Contains(rows[rule], "|") {
			return "", false
		}
		rule--
	}
	if rule == 0 {
		return "", false
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(rows[rule-1]), "|"), "|")
	if column < 1 || column > len(cells) {
		return "", false
	}
	return strings.Trim(cells[column-1], " *_"), true
}

// ruled tells whether a row parts the head of a table from its body.
func ruled(row string) bool {
	return strings.Contains(row, "-") && strings.Contains(row, "|") && strings.Trim(row, " |:-\t\r") == ""
}
