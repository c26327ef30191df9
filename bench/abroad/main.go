// Command abroad says how well everyday notes in other languages than English are read: which insights,
// preferences, beliefs, names and amounts are found in them.
//
//	go run ./bench/abroad [-v] [-rules] [FOLDER]
//
// A folder (brain/insight/testdata/abroad/dev by default) holds a file for each language. A line is a note,
// "time writer | text"; below it stand lines of what a person expects, "> kind words", or may be told as well,
// "~ kind words". Behind an insight "@day/day" says by when, and "who=" who: both have to be right. "+" and "-" are
// what is liked and what is not. Anything else that is found counts as wrong.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orgmem/brain/embed"
	"orgmem/brain/reader"
)

func main() {
	verbose := flag.Bool("v", false, "print what is wrong and what is missing")
	rules := flag.Bool("rules", false, "read without the reader")
	flag.Parse()
	folder := "brain/insight/testdata/abroad/dev"
	if flag.NArg() > 0 {
		folder = flag.Arg(0)
	}
	var worker *reader.Worker
	if !*rules {
		model, err := embed.Load(nil)
		if err != nil {
			log.Fatal(err)
		}
		r, err := reader.Load(model, nil)
		if err != nil {
			log.Fatal(err)
		}
		worker = r.NewWorker()
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil || len(files) == 0 {
		log.Fatalf("there are no notes in %s", folder)
	}
	all := map[string]tally{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		notes, err := notesOf(string(raw))
		if err != nil {
			log.Fatalf("%s: %v", file, err)
		}
		if err := read(notes, worker); err != nil {
			log.Fatal(err)
		}
		code := strings.TrimSuffix(filepath.Base(file), ".txt")
		counts, wrong := score(notes)
		report(code, counts)
		if *verbose {
			fmt.Println(strings.Join(wrong, "\n"))
		}
		for group, t := range counts {
			all[group] = all[group].plus(t)
		}
	}
	report("all", all)
}

// report prints of each group how many of those that were told are right, and how many of those that are expected were
// found.
func report(code string, counts map[string]tally) {
	for _, group := range groups {
		if t := counts[group]; t.told+t.wanted > 0 {
			fmt.Printf("%-4s %-10s right %d of %d told, found %d of %d\n", code, group, t.right, t.told, t.found, t.wanted)
		}
	}
}

// groups are what is counted together.
var groups = []string{"insights", "opinions", "names", "types", "values"}

// groupOf is the group of a kind.
func groupOf(kind string) string {
	switch kind {
	case "preference", "belief":
		return "opinions"
	case "name":
		return "names"
	case "money", "number":
		return "values"
	}
	return "insights"
}

// tally counts what was told and is right, and what is expected and was found.
type tally struct{ told, right, wanted, found int }

func (t tally) plus(u tally) tally {
	return tally{t.told + u.told, t.right + u.right, t.wanted + u.wanted, t.found + u.found}
}

// score counts, and says what is wrong.
func score(notes []note) (map[string]tally, []string) {
	counts := map[string]tally{}
	var wrong []string
	for i := range notes {
		n := &notes[i]
		found := make([]bool, len(n.wants))
		for _, x := range n.told {
			group := groupOf(x.kind)
			t := counts[group]
			t.told++
			ok := false
			for k := range n.wants {
				if n.wants[k].matches(&x) {
					ok, found[k] = true, true
					if group == "names" {
						u := counts["types"]
						u.told++
						u.wanted++
						if n.wants[k].typ == x.typ {
							u.right++
							u.found++
						}
						counts["types"] = u
					}
				}
			}
			if ok {
				t.right++
			} else {
				wrong = append(wrong, fmt.Sprintf("  told     %s %s %s | %s", x.kind, x.typ, x.said, n.text))
			}
			counts[group] = t
		}
		for k, w := range n.wants {
			if w.optional {
				continue
			}
			t := counts[groupOf(w.kind)]
			t.wanted++
			if found[k] {
				t.found++
			} else {
				wrong = append(wrong, fmt.Sprintf("  missing  %s | %s", w.line, n.text))
			}
			counts[groupOf(w.kind)] = t
		}
	}
	slices.Sort(wrong)
	return counts, wrong
}
