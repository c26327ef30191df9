package text

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// Languages as the word lists of the Snowball project call them (github.com/snowballstem/snowball-data; three-clause
// BSD licence, some drawn from Wikipedia and newspapers). Kept of them are counts of letters, and single words.
var listed = []struct {
	name string
	lang Lang
}{
	{"english", English},
	{"german", German},
	{"french", French},
	{"spanish", Spanish},
	{"portuguese", Portuguese},
	{"italian", Italian},
	{"dutch", Dutch},
	{"swedish", Swedish},
	{"norwegian", Norwegian},
	{"danish", Danish},
	{"finnish", Finnish},
	{"hungarian", Hungarian},
	{"romanian", Romanian},
	{"turkish", Turkish},
	{"polish", Polish},
	{"indonesian", Indonesian},
}

// longestListed is the longest word of a list that is looked at, in letters: longer ones are names and errors.
const longestListed = 20

// Bounds of compounds.txt: how many others a word must begin or end, and how many words a language has.
const (
	productive  = 2
	mostListed  = 4000
	shortestEnd = 3 // letters of a stem
)

// deriving are beginnings and endings that look like words and make no compound.
const deriving = `schaft haft keit lich lichen liche licher liches bare barer isch ische ischen ungen über unter gegen
nach ieren ierte ende enden ster sten lose aufg abge ange eing vorg ausg zuge lings schap heid lijk lijke over onder
tegen ingen eren baar loos aren eerde sche skap ande under arna erna orna ning ningar lösa liga lig isk iska are bara
ling skab inger lige iske else elser erne lese`

// TestMakeTables writes letters.bin and compounds.txt anew from a checkout of the word lists, which the variable names.
// What they are changes the terms: AnalysisVersion goes up with it.
func TestMakeTables(t *testing.T) {
	folder := os.Getenv("ORGMEM_WORD_LISTS")
	if folder == "" {
		t.Skip("ORGMEM_WORD_LISTS names no checkout of the word lists")
	}
	var lists [len(lettered)][]string
	var parts strings.Builder
	for k, l := range listed {
		if lettered[k] != l.lang {
			t.Fatalf("%s is not where lettered has it", l.name)
		}
		data, err := os.ReadFile(filepath.Join(folder, l.name, "voc.txt"))
		if err != nil {
			t.Fatal(err)
		}
		commas := strings.NewReplacer("ş", "ș", "ţ", "ț")
		for w := range strings.FieldsSeq(commas.Replace(strings.ToLower(string(data)))) {
			if l.lang == Turkish {
				w = strings.ReplaceAll(w, "ș", "ş")
			}
			other := func(r rune) bool { return !unicode.IsLetter(r) }
			if utf8.RuneCountInString(w) <= longestListed && !strings.ContainsFunc(w, other) {
				lists[k] = append(lists[k], w)
			}
		}
		if joints[l.lang] != nil && l.lang != Finnish { // its words were chosen by hand
			parts.WriteString(l.name + ": " + strings.Join(partsOf(l.lang, lists[k]), " ") + "\n")
		}
	}
	for name, data := range map[string]string{"letters.bin": letterTable(lists), "compounds.txt": parts.String()} {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func letterTable(lists [len(lettered)][]string) string {
	counts := make([][len(lettered)]float64, letterBuckets)
	var totals [len(lettered)]float64
	for k, list := range lists {
		for _, w := range list {
			framed := []rune("^" + w + "$")
			for i := range len(framed) - 2 {
				counts[trigram(uint32(framed[i]), uint32(framed[i+1]), uint32(framed[i+2]))][k]++
				totals[k]++
			}
		}
	}
	table := make([]byte, 0, letterBuckets*len(lettered))
	for _, row := range counts {
		for k, n := range row {
			table = append(table, byte(min(255, math.Round(-16*math.Log((n+.5)/(totals[k]+.5*letterBuckets))))))
		}
	}
	return string(table)
}

// partsOf gives the words that most others of a list are made of.
func partsOf(l Lang, list []string) []string {
	none := make(map[string]bool)
	for w := range strings.FieldsSeq(deriving) {
		none[w] = true
	}
	words, shortest := make(map[string]bool), make(map[string]string)
	for _, w := range list {
		if utf8.RuneCountInString(w) < shortestPart || none[w] || stopTable[w] != 0 {
			continue
		}
		words[w] = true
		s := stem(l, w)
		if o, ok := shortest[s]; !ok || len(w) < len(o) || len(w) == len(o) && w < o {
			shortest[s] = w
		}
	}
	begins, ends := make(map[string]int), make(map[string]int)
	for w := range words {
		letters := []rune(w)
		for at := shortestPart; at+shortestPart <= len(letters); at++ {
			s := stem(l, string(letters[at:]))
			end, ok := shortest[s]
			if !ok || none[string(letters[at:])] || utf8.RuneCountInString(s) < shortestEnd {
				continue
			}
			for _, joint := range joints[l] {
				m, ok := strings.CutSuffix(string(letters[:at]), joint)
				if ok && utf8.RuneCountInString(m) >= shortestPart && words[m] {
					begins[m]++
					ends[end]++
					break
				}
			}
		}
	}
	var kept []string
	for w := range words {
		if begins[w] >= productive || ends[w] >= productive {
			kept = append(kept, w)
		}
	}
	slices.SortFunc(kept, func(x, y string) int {
		return cmp.Or(cmp.Compare(begins[y]+ends[y], begins[x]+ends[x]), cmp.Compare(x, y))
	})
	kept = kept[:min(len(kept), mostListed)]
	slices.Sort(kept)
	return kept
}

// TestMakeVariants writes variants.txt anew from the tables of characters of OpenCC (github.com/BYVoid/OpenCC; Apache
// License 2.0), as the package opencc-js has them, in a folder that the variable names. It changes the terms, too.
func TestMakeVariants(t *testing.T) {
	folder := os.Getenv("ORGMEM_HAN_VARIANTS")
	if folder == "" {
		t.Skip("ORGMEM_HAN_VARIANTS names no folder with the tables")
	}
	read := func(name string) map[rune]rune {
		data, err := os.ReadFile(filepath.Join(folder, name+".js"))
		if err != nil {
			t.Fatal(err)
		}
		pairs := map[rune]rune{}
		_, list, _ := strings.Cut(string(data), `"`)
		for entry := range strings.SplitSeq(list, "|") {
			from, to, _ := strings.Cut(entry, " ")
			r, n := utf8.DecodeRuneInString(from)
			if first, _ := utf8.DecodeRuneInString(to); n == len(from) && to != "" {
				pairs[r] = first
			}
		}
		return pairs
	}
	toSimplified, simple := read("TSCharacters"), read("STCharacters")
	japanese, taiwan, hongKong := read("JPShinjitaiCharacters"), read("TWVariantsRev"), read("HKVariantsRev")
	next := func(r rune) rune {
		old, isJapanese := japanese[r]
		_, isSimple := simple[r]
		for _, to := range []rune{
			toSimplified[r], only(isJapanese && !isSimple, old), only(isJapanese, toSimplified[old]), taiwan[r], hongKong[r],
		} {
			if to != 0 {
				return to
			}
		}
		return r
	}
	fold := map[rune]rune{}
	for _, table := range []map[rune]rune{toSimplified, japanese, taiwan, hongKong} {
		for r := range table {
			if to, ok := last(r, next); ok {
				fold[r] = to
			}
		}
	}
	var from []rune
	for r := range fold {
		from = append(from, r)
	}
	slices.Sort(from)
	for _, r := range from { // two that stand for each other: the smaller number stays
		if to, ok := fold[r]; ok && fold[to] == r {
			delete(fold, min(r, to))
		}
	}
	var out strings.Builder
	for _, r := range from {
		to, ok := fold[r]
		for ok && fold[to] != 0 {
			to = fold[to]
		}
		if ok && to != r {
			out.WriteString(string([]rune{r, to}))
		}
	}
	if err := os.WriteFile("variants.txt", []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

func only(is bool, r rune) rune {
	if is {
		return r
	}
	return 0
}

// last follows a character to what stands for it in the end.
func last(r rune, next func(rune) rune) (rune, bool) {
	inBlock := func(r rune) bool { return r >= firstHan && r <= lastHan }
	seen := []rune{r}
	to := r
	for {
		n := next(to)
		if n == to || slices.Contains(seen, n) || !inBlock(n) {
			return to, to != r && inBlock(r)
		}
		to = n
		seen = append(seen, n)
	}
}
