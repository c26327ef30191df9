package main

import (
	"strings"
	"testing"
)

// The table is of this repository: it names each aim, and its figures are those of
// package measure.
func TestTable(t *testing.T) {
	t.Parallel()
	var short, long strings.Builder
	if err := run(&short, []string{"../.."}); err != nil {
		t.Fatal(err)
	}
	if err := run(&long, []string{"-list", "../.."}); err != nil {
		t.Fatal(err)
	}
	for _, aim := range []string{
		"largest package", "structs over 15 fields or 40 methods", "upward imports", "lines over 120 columns",
		"functions over 100 lines", "blocks of 6 lines",
	} {
		if !strings.Contains(short.String(), aim) {
			t.Errorf("the table says nothing of %s", aim)
		}
	}
	if !strings.HasPrefix(long.String(), short.String()) || !strings.Contains(long.String(), "\nwrite 1: ") {
		t.Error("the list does not follow the table")
	}
}
