// Command compoundtable makes the table of brain/text/compound.
//
//	compoundtable [-out FILE] DIR
//
// DIR has a list of words for each language, one a line, in UTF-8: de, nl, sv, nb, da, fi. A word of a list counts as a
// compound where it falls into two others of the list, the first with or without what joins them. One word in ten is held
// out; on these precision and recall of the borders are printed, at the threshold that the package cuts at.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"orgmem/brain/text"
	"orgmem/brain/text/compound"
)

const (
	seed   = 24
	rate   = 0.1
	rounds = 6
	// minLexicon is the length from which any word of a list is a part; a shorter one must be in so many others.
	minLexicon = 4
	minShared  = 40
)

// joints are the letters between two parts, by language.
var joints = map[string][]string{
	"de": {"", "s", "es", "n", "en", "er", "e"}, "nl": {"", "s", "en", "e"}, "sv": {"", "s"}, "nb": {"", "s", "e"},
	"da": {"", "s", "e"}, "fi": {"", "n"},
}

func main() {
	out := flag.String("out", "brain/text/compound/table.bin", "the file to write")
	flag.Parse()
	if err := run(flag.Arg(0), *out); err != nil {
		fmt.Fprintln(os.Stderr, "compoundtable:", err)
		os.Exit(1)
	}
}

func run(folder, out string) error {
	var all []byte
	for k, code := range []string{"de", "nl", "sv", "nb", "da", "fi"} {
		words, err := read(filepath.Join(folder, code))
		if err != nil {
			return err
		}
		all = append(all, learn(code, compound.Language(k), words)...)
	}
	return os.WriteFile(out, all, 0o644)
}

// read reads a list, folded, each word once, in its order.
func read(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	seen := map[string]bool{}
	var words []string
	for scanner := bufio.NewScanner(f); scanner.Scan(); {
		w := text.Fold(scanner.Text())
		if w == "" || seen[w] || strings.ContainsFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }) {
			continue
		}
		seen[w] = true
		words = append(words, w)
	}
	return words, nil
}

// example is a word with its borders.
type example struct {
	letters []rune
	border  []bool
}

// label finds the borders of the words of a list.
func label(code string, words []string, l text.Lang) []example {
	lexicon := map[string]bool{}
	heads := map[string]int{}
	for _, w := range words {
		if n := len([]rune(w)); n >= minLexicon && text.FunctionWord(w)&(1<<l) == 0 {
			lexicon[w] = true
		}
	}
	for _, w := range words {
		r := []rune(w)
		if len(r) >= compound.MinWord && lexicon[string(r[:len(r)-3])] {
			heads[string(r[len(r)-3:])]++
		}
	}
	for _, w := range words {
		if n := len([]rune(w)); n == compound.MinPart && heads[w] >= minShared && text.FunctionWord(w)&(1<<l) == 0 {
			lexicon[w] = true
		}
	}
	for w := range strings.FieldsSeq(affixes[code]) {
		delete(lexicon, w)
	}
	var out []example
	for _, w := range words {
		r := []rune(w)
		if len(r) < compound.MinWord || len(r) > compound.MaxWord {
			continue
		}
		e := example{letters: r, border: make([]bool, len(r))}
		for at := compound.MinPart; at+compound.MinPart <= len(r); at++ {
			if !lexicon[string(r[at:])] {
				continue
			}
			for _, j := range joints[code] {
				if first, ok := strings.CutSuffix(string(r[:at]), j); ok && lexicon[first] {
					e.border[at] = true
				}
			}
		}
		out = append(out, e)
	}
	return out
}

// affixes are no parts, though they look like words.
var affixes = map[string]string{
	"de": `über unter gegen nach wieder heit keit schaft ung lich isch ische ischen ieren ierung ierungen ungen tion tionen
sion ität unge weise heiten keiten schaften barer bare baren lose loser losen mäßig mässig enden ende ender endes rin rinnen
rern innen erin erinnen tum eren erer erem eres este ester esten stes ster sten test iger igen iges igem bar sam lein chen`,
	"nl": `over onder tegen heid heden baar lijk lijke ingen ering eringen teren tering ische isch loos loze achtig achtige
schap schappen ster sters eren erend erende`,
	"sv": `över under efter fram ningen ningar ning else elser heten heter lighet lig liga ligt skap arna erna orna andet
ande andes aste are aren arnas erar erade erat ering eringen het het heter`,
	"nb": `over under etter ning ningen ninger heten heter lig lige skap else elsen ende ere eren erne ering eringen`,
	"da": `over under efter ning ningen ninger heden heder lig lige skab else elsen ende ere eren erne ering eringen`,
	"fi": `inen nen isen sta ssa lla lle lta ksi tta minen misen malla matta lainen laisen`,
}

func learn(code string, l compound.Language, words []string) []byte {
	langs := [...]text.Lang{text.German, text.Dutch, text.Swedish, text.Norwegian, text.Danish, text.Finnish}
	examples := label(code, words, langs[l])
	var train, held []example
	for k, e := range examples {
		if k%10 == 3 {
			held = append(held, e)
		} else {
			train = append(train, e)
		}
	}
	weights, squares := make([]float32, compound.Rows), make([]float32, compound.Rows)
	r := rand.New(rand.NewPCG(seed, uint64(l))) //nolint:gosec // repeatable by design
	var rows []uint32
	for range rounds {
		for range train {
			e := &train[r.IntN(len(train))]
			from := 0
			for at := compound.MinPart; at+compound.MinPart <= len(e.letters); at++ {
				rows = compound.Features(rows[:0], e.letters, from, at)
				sum := float64(-compound.Bias) / compound.Unit
				for _, row := range rows {
					sum += float64(weights[row])
				}
				want := 0.0
				if e.border[at] {
					want = 1
				}
				g := float32(1/(1+math.Exp(-sum)) - want)
				if g > -1e-3 && g < 1e-3 {
					continue
				}
				for _, row := range rows {
					squares[row] += g * g
					weights[row] -= rate * g / float32(math.Sqrt(float64(squares[row])+1e-2))
				}
			}
		}
	}
	out := make([]byte, compound.Rows)
	for k, w := range weights {
		out[k] = byte(int8(max(-127, min(127, math.Round(float64(w)*compound.Unit)))))
	}
	for _, at := range []int32{0, 12, 18, 24, 36} {
		report(code, out, held, len(examples), at)
	}
	return out
}

// report measures single borders against a threshold.
func report(code string, weights []byte, held []example, all int, sure int32) {
	var right, found, there int
	var rows []uint32
	for _, e := range held {
		for at := compound.MinPart; at+compound.MinPart <= len(e.letters); at++ {
			rows = compound.Features(rows[:0], e.letters, 0, at)
			sum := int32(-compound.Bias)
			for _, row := range rows {
				sum += int32(int8(weights[row]))
			}
			if e.border[at] {
				there++
			}
			if sum > sure {
				found++
				if e.border[at] {
					right++
				}
			}
		}
	}
	fmt.Fprintf(os.Stdout, "%s: %d words, %d borders held out; from score %d on precision %.3f recall %.3f\n", code, all, there, sure,
		float64(right)/float64(max(1, found)), float64(right)/float64(max(1, there)))
}
