// Package manpage writes the manual pages orgmem(1) and orgmem.toml(5), from the tree of
// commands and from the table of settings: what a page says is what the program does.
//
// The pages are roff with the macros of man(7), which groff and mandoc read. They bear no date:
// the same program prints the same page.
package manpage
