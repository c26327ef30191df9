// Command grounding measures by which sentences brain/grounding lets itself be taken in,
// and which it refuses although a passage says so.
//
//	go run ./bench/grounding -pairs PAIRS.jsonl.gz
//
// PAIRS holds lines of {a, b, label}: passage, sentence, and what the one says of the
// other, "entailment" or anything else. For each label it prints how many of the
// sentences pass.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"maps"
	"slices"
	"strings"

	"orgmem/bench/internal/data"
	"orgmem/brain/grounding"
)

func main() {
	pairs := flag.String("pairs", "", "file of labelled pairs")
	flag.Parse()
	var checker grounding.Checker
	all, passed := map[string]int{}, map[string]int{}
	err := data.Lines(*pairs, func(line []byte) error {
		var x struct{ A, B, Label string }
		if err := json.Unmarshal(line, &x); err != nil {
			return err
		}
		label := strings.ToLower(x.Label)
		if all[label]++; checker.Holds(x.B, x.A) {
			passed[label]++
		}
		return nil
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, label := range slices.Sorted(maps.Keys(all)) {
		fmt.Printf("%s: %d of %d pass, %.1f %%\n", label, passed[label], all[label],
			100*float64(passed[label])/float64(all[label]))
	}
}
