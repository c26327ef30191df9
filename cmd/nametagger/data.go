package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// labelled is a sentence with its names.
type labelled struct {
	text  string
	names []name
}

// name is a span of bytes and the tag it begins with.
type name struct {
	start, end int
	tag        tagger.Tag
}

// classes maps the labels of the training data to tags; a label that is not here
// is a work, or a name of no class of ours.
var classes = map[string]tagger.Tag{
	"person": tagger.BeginPerson, "location": tagger.BeginPlace, "group": tagger.BeginOrganization,
	"corporation": tagger.BeginOrganization, "product": tagger.BeginWork, "creative-work": tagger.BeginWork,
}

// readAll reads files of JSON lines, {tokens, tags}.
func readAll(paths []string, split string) ([]labelled, error) {
	var all []labelled
	for _, path := range paths {
		raw, err := readFile(path)
		if err != nil {
			return nil, err
		}
		z, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if err := eachRecord(z, func(line []byte) error {
			var s struct {
				Tokens []string
				Tags   []string
				Split  string
			}
			if err := json.Unmarshal(line, &s); err != nil {
				return err
			}
			if split == "" || s.Split == split {
				all = append(all, join(s.Tokens, s.Tags))
			}
			return nil
		}); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return all, nil
}

// eachRecord calls do for each line of up to a megabyte.
func eachRecord(r io.Reader, do func(line []byte) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if err := do(lines.Bytes()); err != nil {
			return err
		}
	}
	return lines.Err()
}

var (
	noSpaceBefore = regexp.MustCompile(`\s+([.,;:!?%)\]}]|'s\b|n't\b|'re\b|'ve\b|'ll\b|'m\b|'d\b)`)
	noSpaceAfter  = regexp.MustCompile(`([(\[{$#])\s+`)
)

// join makes running text of tokens, as a person writes it, and finds the names
// in it: they are counted in characters that are not spaces, since joining only
// takes spaces away.
func join(tokens, tags []string) labelled {
	l := labelled{text: noSpaceAfter.ReplaceAllString(noSpaceBefore.ReplaceAllString(strings.Join(tokens, " "), "$1"),
		"$1")}
	var at []int // offset of each character that is no space
	for i, r := range l.text {
		if !unicode.IsSpace(r) {
			at = append(at, i)
		}
	}
	at = append(at, len(l.text))
	chars, open := 0, -1
	var kind string
	flush := func(end int) {
		if open >= 0 {
			stop := len(l.text)
			if end > 0 && end < len(at) {
				stop = at[end-1] + len(string([]rune(l.text[at[end-1]:])[:1]))
			}
			tag, ok := classes[kind]
			if !ok {
				tag = tagger.BeginWork
			}
			l.names = append(l.names, name{at[open], stop, tag})
			open = -1
		}
	}
	for i, token := range tokens {
		label := tags[i]
		if !strings.HasPrefix(label, "I-") || open < 0 {
			flush(chars)
		}
		if strings.HasPrefix(label, "B-") || strings.HasPrefix(label, "I-") && open < 0 {
			open, kind = chars, label[2:]
		}
		for _, r := range token {
			if !unicode.IsSpace(r) {
				chars++
			}
		}
	}
	flush(chars)
	return l
}

// tokens cuts the sentence and gives each token its tag.
func (l labelled) tokens() (tokens []tagger.Token, tags []tagger.Tag) {
	for sp := range text.Sentences(l.text) {
		tokens = tagger.Tokens(tokens, l.text, sp)
	}
	tags = make([]tagger.Tag, len(tokens))
	for _, n := range l.names {
		inside := false
		for i, t := range tokens {
			if t.Start < n.end && t.End > n.start {
				tags[i] = n.tag
				if inside {
					tags[i] = n.tag.Inside()
				}
				inside = true
			}
		}
	}
	return tokens, tags
}
