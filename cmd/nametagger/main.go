// Command nametagger remakes the model with which names are found: a lexicon and
// the weights of a linear tagger. Run it once after you have changed the
// lists, the features or the training data; the model it writes is committed and
// embedded in the service. The recipe, sources and licences included, stands
// beside the weights.
//
//	nametagger lexicon -sources DIR -out FILE.model
//	nametagger train -lexicon FILE.model -data FILE.jsonl.gz[,…] -out FILE.model
//	nametagger score -model FILE.model -data FILE.jsonl.gz [-split NAME]
//	nametagger types -data FILE.jsonl[,…] -out weights.tsv
//
// The last fits what the clues of brain/extract/typing weigh, to files of train/data's spans. All are deterministic:
// the same inputs make the same bytes.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "nametagger:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, args []string) error {
	if len(args) == 0 {
		return errors.New("one of lexicon, train, score and types is required")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	sources := flags.String("sources", "", "folder with the unpacked word lists")
	lexicon := flags.String("lexicon", "", "the lexicon to train with")
	data := flags.String("data", "", "labelled sentences, with commas between files")
	split := flags.String("split", "", "of the data, take this split only")
	epochs := flags.Int("epochs", defaultEpochs, "passes over the data")
	bias := flags.Float64("bias", 0, "what a name must gain over none")
	model := flags.String("model", "", "the model to score")
	out := flags.String("out", "", "the file to write")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	switch args[0] {
	case "lexicon":
		packed, err := makeLexicon(stdout, *sources)
		if err != nil {
			return err
		}
		return writeFile(*out, packed)
	case "train":
		sentences, err := readAll(strings.Split(*data, ","), *split)
		if err != nil {
			return err
		}
		packed, err := train(stdout, *lexicon, sentences, *epochs)
		if err != nil {
			return err
		}
		return writeFile(*out, packed)
	case "score":
		sentences, err := readAll(strings.Split(*data, ","), *split)
		if err != nil {
			return err
		}
		return score(stdout, *model, sentences, *bias)
	case "types":
		weights, err := fitTypes(stdout, strings.Split(*data, ","))
		if err != nil {
			return err
		}
		return writeFile(*out, weights)
	}
	return fmt.Errorf("unknown command %q", args[0])
}

// readFile and writeFile are the only ways to files: their names are those of the
// command line, which is its purpose.
func readFile(path string) ([]byte, error) {
	return os.ReadFile(filepath.Clean(path)) //nolint:gosec // see above
}

func writeFile(path string, data []byte) error {
	return os.WriteFile(filepath.Clean(path), data, 0o600) //nolint:gosec // see above
}
