package text

import "testing"

func TestFunctionWordsOfTheQueryMatchNoForeignPassage(t *testing.T) {
	var a Analyzer
	french := a.Passage("", "Le directeur de la gare est né dans la ville où il est mort, et son père aussi.")
	if !french.Langs.Has(French) {
		t.Fatal("the passage is not taken for French: the test would prove nothing")
	}
	langs := french.Langs.With(English)
	for query, want := range map[string]int{
		"Where is the place of birth of the director?": 3, // place, birth, director
		"What is the name of the city?":                2,
		"Où est la gare?":                              1,
		"the":                                          1, // nothing else: kept
	} {
		terms := a.Query(query, langs)
		if len(terms) != want {
			t.Errorf("%q has %d terms, want %d: %v", query, len(terms), want, terms)
		}
	}
	// A word that is a function word elsewhere only stays a word.
	if terms := a.Query("die hard", langs.With(German)); len(terms) != 2 {
		t.Errorf("die hard: %v", terms)
	}
}
