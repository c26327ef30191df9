package document

import (
	"bytes"
	"encoding/json"
	"io"
)

// Writer writes a document, record by record, each on its line, so that neither it nor a
// reader need hold more than one. After an error it writes nothing more.
type Writer struct {
	to    io.Writer
	buf   bytes.Buffer
	comma bool
	err   error
}

// NewWriter begins a document with its head.
func NewWriter(to io.Writer, head Head) *Writer {
	w := &Writer{to: to}
	w.value(head, 1)
	return w
}

// Open begins a member that is an array, of the document or of the record that was begun
// last.
func (w *Writer) Open(name string) {
	w.text(",\n\"" + name + "\":[")
	w.comma = false
}

// Close ends the array that was opened last.
func (w *Writer) Close() {
	w.text("]")
	w.comma = true
}

// Record writes one element of an array.
func (w *Writer) Record(v any) { w.record(v, 0) }

// Begin writes one element of an array whose arrays follow, until End.
func (w *Writer) Begin(v any) { w.record(v, 1) }

// End ends the record that was begun last.
func (w *Writer) End() { w.text("}") }

// Finish ends the document. It returns the error of the whole, if there was one.
func (w *Writer) Finish() error {
	w.text("}\n")
	return w.err
}

// Err returns the first error of the writer below.
func (w *Writer) Err() error { return w.err }

func (w *Writer) text(s string) {
	if w.err == nil {
		_, w.err = io.WriteString(w.to, s)
	}
}

// value writes JSON without the line break that an encoder adds; cut is what is
// left out at its end.
func (w *Writer) value(v any, cut int) {
	if w.err != nil {
		return
	}
	w.buf.Reset()
	encoder := json.NewEncoder(&w.buf)
	encoder.SetEscapeHTML(false)
	if w.err = encoder.Encode(v); w.err != nil {
		return
	}
	_, w.err = w.to.Write(w.buf.Bytes()[:w.buf.Len()-1-cut])
}

func (w *Writer) record(v any, cut int) {
	if w.comma {
		w.text(",")
	}
	w.text("\n")
	w.value(v, cut)
	w.comma = true
}
