// Package reading is what the readers of all formats share: the limits of a file and
// the meter of what reading it costs, the documents that come of it, the builder that
// writes them as Markdown, text in any encoding, and the files of archives.
//
// A Reader belongs to one file and one goroutine. Each reader of a format tells it what
// it is about to hold and to do (Hold, Step), before it does, and what becomes content
// (Keep). The errors are written for the person who uploaded the file: Errorf's text
// completes the sentence "the file …", and never quotes the file.
//
// It knows no format. Where one contains files of any other, Reader.Inner reads them;
// package format sets it.
package reading
