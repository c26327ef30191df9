package migrate

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// Bounds of reading.
const (
	// maxRecord bounds one record, which is held in memory: three times the longest
	// content that the service takes.
	maxRecord = 16 << 20
	// maxNesting is how deep a list of records may lie in an object.
	maxNesting = 3
)

// errLong ends the reading of a file: what follows a value that was not read to its
// end cannot be told from the rest of it.
var errLong = fmt.Errorf("holds a record of more than %d MiB, behind which nothing is read", maxRecord>>20)

// errNoRecord means that a file holds neither a list nor an object.
var errNoRecord = errors.New("holds no records")

// whole is the section of an object whose lists were read one by one: what else it
// says.
const whole = "{}"

// layout says how the objects of a product are made.
type layout struct {
	// lists hold records, which are read one by one.
	lists []string
	// around are objects that only hold such lists, or objects like these.
	around []string
}

// visitor is given a record: the list that it stands in ("" for one of the file's own
// list, or a line), what the object around that list has said so far, and the record.
type visitor func(section string, head map[string]json.RawMessage, raw []byte) error

// stream reads the records of JSON one by one: a list of them, an object with lists of
// them, or any number of either one behind the other.
func stream(in io.Reader, l layout, visit visitor) error {
	limited := &gauge{in: in}
	s := streamer{
		layout: l, visit: visit, limited: limited,
		json: jsontext.NewDecoder(limited, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)),
	}
	for n := 0; ; n++ {
		s.limited.left = maxRecord
		switch s.json.PeekKind() {
		case '[':
			if err := s.list("", nil); err != nil {
				return s.fault(err)
			}
		case '{':
			if err := s.object(0); err != nil {
				return s.fault(err)
			}
		default:
			if _, err := s.json.ReadToken(); errors.Is(err, io.EOF) && n > 0 {
				return nil
			} else if err != nil && !errors.Is(err, io.EOF) {
				return s.fault(err)
			}
			return errNoRecord
		}
	}
}

type streamer struct {
	layout
	visit   visitor
	limited *gauge
	json    *jsontext.Decoder
}

// fault says in a few words what is wrong with the JSON; other errors stay.
func (s *streamer) fault(err error) error {
	if _, syntactic := errors.AsType[*jsontext.SyntacticError](err); syntactic || errors.Is(err, io.ErrUnexpectedEOF) {
		if errors.Is(err, errLong) {
			return errLong
		}
		return fmt.Errorf("is broken JSON at byte %d, behind which nothing is read", s.json.InputOffset())
	}
	if errors.Is(err, errLong) {
		return errLong
	}
	return err
}

// list visits the elements of a list.
func (s *streamer) list(section string, head map[string]json.RawMessage) error {
	if _, err := s.json.ReadToken(); err != nil {
		return err
	}
	for s.json.PeekKind() != ']' {
		s.limited.left = maxRecord
		raw, err := s.json.ReadValue()
		if err != nil {
			return err
		}
		if err := s.visit(section, head, raw); err != nil {
			return err
		}
	}
	_, err := s.json.ReadToken()
	return err
}

// object visits what is in the lists of an object, and then the object without them.
func (s *streamer) object(depth int) error {
	if _, err := s.json.ReadToken(); err != nil {
		return err
	}
	head := make(map[string]json.RawMessage)
	held, lists := 0, false
	for s.json.PeekKind() == '"' {
		s.limited.left = maxRecord
		name, err := s.json.ReadToken()
		if err != nil {
			return err
		}
		switch key, kind := name.String(), s.json.PeekKind(); {
		case kind == '[' && slices.Contains(s.lists, key):
			lists = true
			if err := s.list(key, head); err != nil {
				return err
			}
		case kind == '{' && depth < maxNesting && slices.Contains(s.around, key):
			lists = true
			if err := s.object(depth + 1); err != nil {
				return err
			}
		default:
			value, err := s.json.ReadValue()
			if err != nil {
				return err
			}
			if held += len(value); held > maxRecord {
				return errLong
			}
			head[key] = bytes.Clone(value)
		}
	}
	if _, err := s.json.ReadToken(); err != nil {
		return err
	}
	section := ""
	if lists || depth > 0 {
		section = whole
	}
	raw, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return s.visit(section, head, raw)
}

// gauge ends a stream where one value of it gets too long.
type gauge struct {
	in   io.Reader
	left int
}

func (g *gauge) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, errLong
	}
	n, err := g.in.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// lines reads JSON line by line. A line that cannot be read is reported and skipped.
func lines(in io.Reader, visit func(line int, raw []byte) error, fault func(line int, reason string)) error {
	reader := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	for n := 1; ; n++ {
		line = line[:0]
		long := false
		var err error
		for {
			var part []byte
			part, err = reader.ReadSlice('\n')
			if long = long || len(line)+len(part) > maxRecord; !long {
				line = append(line, part...)
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				break
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch text := bytes.TrimSpace(line); {
		case long:
			fault(n, fmt.Sprintf("is longer than %d MiB", maxRecord>>20))
		case len(text) > 0:
			if verr := visit(n, text); verr != nil {
				return verr
			}
		}
		if err != nil {
			return nil //nolint:nilerr // it is the end of the file
		}
	}
}
