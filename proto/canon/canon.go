// Package canon says what a client's JSON and text must be like to be kept, and
// how kept JSON is spelled. Bodies (api), files (brain) and what the service adds
// to either (actors) share it, so that a value is judged alike on every way in, and
// equal values have equal bytes. It also says what is seen of a kept text, and how one
// is cut.
package canon

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxDepth is how deep JSON may be nested (docs/interface.md, "Conventions"): deeper
	// is refused. It keeps every recursive walk over a client's JSON shallow.
	MaxDepth = 64
	// MaxBytes bounds the canonical form of one item's metadata: identifiers and
	// small scalars are its purpose, and it is copied into each listing of the node.
	MaxBytes = 64 << 10
	// maxRaw bounds what is looked at for a value of at most MaxBytes canonical
	// bytes: an escape takes six bytes for one.
	maxRaw = 6 * MaxBytes
)

// The reasons why a value cannot be kept; each completes "the value …".
var (
	ErrOversized = fmt.Errorf("is larger than %d bytes of JSON", MaxBytes)
	ErrTooDeep   = fmt.Errorf("is nested deeper than %d levels", MaxDepth)
	ErrNUL       = errors.New("must not contain the character U+0000")
	ErrRange     = errors.New("holds a number out of range")
	ErrNoObject  = errors.New("is no JSON object that names each field once")
)

// options sort the members and shorten fractions (RFC 8785), but leave whole
// numbers alone: beyond 2^53 they would lose digits, and identifiers are what
// metadata is for.
var options = []jsontext.Options{
	jsontext.Multiline(false),
	jsontext.SpaceAfterColon(false),
	jsontext.SpaceAfterComma(false),
	jsontext.PreserveRawStrings(false),
	jsontext.CanonicalizeRawInts(false),
	jsontext.CanonicalizeRawFloats(true),
	jsontext.ReorderRawObjects(true),
}

// Value copies a value that was checked into its canonical form; the error is
// ErrOversized or says that it is not well-formed.
func Value(raw jsontext.Value) (jsontext.Value, error) {
	if len(raw) > maxRaw {
		return nil, ErrOversized
	}
	v := raw.Clone()
	if err := v.Format(options...); err != nil {
		return nil, err
	}
	if len(v) > MaxBytes {
		return nil, ErrOversized
	}
	return v, nil
}

// Object checks an object that nobody looked at before and returns its canonical
// form. The error is one of the above.
func Object(raw []byte) (jsontext.Value, error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if d.PeekKind() != '{' {
		return nil, ErrNoObject
	}
	v, err := Next(d)
	if _, syntactic := errors.AsType[*jsontext.SyntacticError](err); syntactic || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, ErrNoObject
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) { // another value follows
		return nil, ErrNoObject
	}
	return v, nil
}

// Next checks the next value of a decoder and returns its canonical form. It holds
// no more of it than may be kept, whatever comes. The error is one of the above, or
// the decoder's.
func Next(d *jsontext.Decoder) (jsontext.Value, error) {
	var kept bytes.Buffer
	e := jsontext.NewEncoder(&kept, jsontext.AllowDuplicateNames(true)) // d has looked
	base, begin := d.StackDepth(), d.InputOffset()
	for {
		token, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		kind := token.Kind()
		if kind == '"' && strings.IndexByte(token.String(), 0) >= 0 {
			return nil, ErrNUL
		}
		if kind == '0' {
			if f, err := token.Float(); err != nil || math.IsInf(f, 0) {
				return nil, ErrRange
			}
		}
		switch depth := d.StackDepth() - base; {
		case d.InputOffset()-begin > maxRaw:
			return nil, ErrOversized
		case depth > MaxDepth:
			return nil, ErrTooDeep
		case e.WriteToken(token) != nil: // a well-formed token in its place
			return nil, ErrNoObject
		case depth == 0:
			return Value(kept.Bytes())
		}
	}
}

// Blank reports whether text shows nothing: white space, controls and invisible
// format characters only.
func Blank(text string) bool { return strings.IndexFunc(text, Visible) < 0 }

// Visible reports whether a character shows something.
func Visible(r rune) bool { return !unicode.IsSpace(r) && !unicode.In(r, unicode.Cc, unicode.Cf) }
