// Package migrate takes in what other memory products export, and what orgmem
// itself writes as Markdown, each user's into a subject of its own.
//
// It promises that nothing is sent before all of the input was read once; that
// what a product marks as no longer true, forgotten or expired does not come back
// as true; that each record keeps an external id made of the product's own, so that a
// second run changes nothing; and that whatever is not taken, of a record or of a
// whole file, is counted with its reason.
//
// Order of calls: Find, Read, and with its plan Send. Read sends nothing and needs
// no service: it is the dry run.
//
// What it hides: the formats, one file for each product; reading them in pieces, so
// that the memory it takes does not grow with the files but by some hundred bytes
// for each record; and the journal, which knows what was taken in before.
package migrate
