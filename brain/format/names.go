package format

import "orgmem/brain/format/reading"

type (
	// Document is one text of a file.
	Document = reading.Document
	// Limits bound what is made of one file.
	Limits = reading.Limits
)

// The bounds of this package's own.
const (
	MaxRunes     = reading.MaxRunes
	MaxDocuments = reading.MaxDocuments
	MaxMemory    = reading.MaxMemory
	MaxWork      = reading.MaxWork
	FirstMemory  = reading.FirstMemory
)

// The formats that are read.
const (
	Text      = reading.Text
	Markdown  = reading.Markdown
	JSON      = reading.JSON
	JSONL     = reading.JSONL
	VTT       = reading.VTT
	SRT       = reading.SRT
	Lines     = reading.Lines
	HTML      = reading.HTML
	CSV       = reading.CSV
	EML       = reading.EML
	MBOX      = reading.MBOX
	ZIP       = reading.ZIP
	TAR       = reading.TAR
	DOCX      = reading.DOCX
	PPTX      = reading.PPTX
	XLSX      = reading.XLSX
	ODT       = reading.ODT
	ODS       = reading.ODS
	ODP       = reading.ODP
	EPUB      = reading.EPUB
	RTF       = reading.RTF
	ICS       = reading.ICS
	PDF       = reading.PDF
	Slack     = reading.Slack
	ChatGPT   = reading.ChatGPT
	Claude    = reading.Claude
	Mem0      = reading.Mem0
	Zep       = reading.Zep
	Canvas    = reading.Canvas
	OwnExport = reading.OwnExport
)

// ErrFile is wrapped by every error about a file; the text behind it completes the
// sentence "the file …". ErrTooLarge is wrapped beside it where the file, or a document
// in it, is above one of the Limits.
var (
	ErrFile     = reading.ErrFile
	ErrTooLarge = reading.ErrTooLarge
)

// Reason is the text of an error behind ErrFile.
func Reason(err error) string { return reading.Reason(err) }
