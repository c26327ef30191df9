package packfile

import (
	"fmt"
	"slices"

	"orgmem/brain/embed/trellis"
)

// FormatVersion changes with every incompatible change of the layout.
const FormatVersion = 1

// Pooling says how token vectors become one.
type Pooling string

// The poolings of the models we can pack.
const (
	PoolMean Pooling = "mean" // average over all tokens, [CLS] and [SEP] too
	PoolCLS  Pooling = "cls"  // the vector of [CLS]
)

// Header describes a model. All of it is covered by the hash. Large because each field is
// one of the figures that a pack's file begins with.
type Header struct {
	Format int    `json:"format"`
	Name   string `json:"name"` // as published, such as "all-minilm-l6-v2"
	Source Source `json:"source"`

	Layers    int     `json:"layers"`
	Dim       int     `json:"dim"`       // width of a token and of the result
	Heads     int     `json:"heads"`     // Dim/Heads must be 32
	FFN       int     `json:"ffn"`       // width of the feed-forward layer
	MaxTokens int     `json:"maxTokens"` // longest input, [CLS] and [SEP] included
	Epsilon   float32 `json:"epsilon"`   // of every layer norm
	Pooling   Pooling `json:"pooling"`

	// Put before every text of its kind, as the model was trained; empty for
	// models without prefixes.
	QueryPrefix   string `json:"queryPrefix"`
	PassagePrefix string `json:"passagePrefix"`

	Tokenizer string `json:"tokenizer"` // "wordpiece-uncased" or "unigram"
	CLS       int32  `json:"cls"`       // id of [CLS], or of what stands for it
	SEP       int32  `json:"sep"`       // id of [SEP], or of what stands for it

	// Mean and standard deviation of the model's cosines over the sample of
	// cmd/modelpack; both 0 for the model that scores were made for.
	CosineMean   float64 `json:"cosineMean,omitempty"`
	CosineSpread float64 `json:"cosineSpread,omitempty"`

	// Centre is how many rows the centre has: what all of the model's vectors share, and behind it directions that
	// tell languages apart rather than meanings (package embed takes both out). 0: it has none.
	Centre int `json:"centre,omitempty"`

	// Base is set in the pack of a tower: layers that run over the words, positions and norm
	// of another pack, the one whose hash (hex) this is. Its own tokenizer and prefixes say nothing.
	Base string `json:"base,omitempty"`
	// Patch says of a tower that its matrices, in blocks of four bits, are its base's with some blocks exchanged.
	Patch bool `json:"patch,omitempty"`
	// TaskHeads are what a tower's tasks read from its layers. Filled by Build.
	TaskHeads []TaskHead `json:"taskHeads,omitempty"`

	// WeightBits is how the weights of the layers are stored: 4 in blocks, 8, or 12 if it is 0.
	WeightBits int `json:"weightBits,omitempty"`
	// WordBits is how the word vectors are stored: 4 in blocks, or 12 if it is 0.
	WordBits int `json:"wordBits,omitempty"`
	// Tiers, of word vectors of 4 bits, cut the pieces, in order, into those that have so many and those that have fewer.
	// Absent: all are in blocks.
	Tiers []Tier `json:"tiers,omitempty"`

	Matrices []Matrix  `json:"matrices"` // filled by Build
	Sections []Section `json:"sections"` // filled by Build
}

// Tier is a run of word vectors in the same form.
type Tier struct {
	Pieces int `json:"pieces"`
	// PairBits is how many bits two values of a vector have in a code of package trellis; 0: the vectors are in blocks.
	PairBits int `json:"pairBits,omitempty"`
}

// Source is the provenance of the weights.
type Source struct {
	Package       string `json:"package"` // registry kind and name, such as "maven:group:artifact"
	Version       string `json:"version"`
	PackageSHA256 string `json:"packageSha256"` // hex, of the published archive
	Weights       string `json:"weights"`       // path inside the archive
	WeightsSHA256 string `json:"weightsSha256"`
	Licence       string `json:"licence"`     // SPDX identifier of the weights
	LicenceText   string `json:"licenceText"` // in full
	Upstream      string `json:"upstream"`    // the model's own name and makers
	// TunedSHA256 is of the file with the layers that this project trained further; absent: they are as published.
	TunedSHA256 string `json:"tunedSha256,omitempty"`
}

// Matrix is a packed linear layer.
type Matrix struct {
	Name string `json:"name"`
	In   int    `json:"in"`
	Out  int    `json:"out"`
	// ActMax is the largest integer an input may be scaled to so that no sum
	// of products leaves int32: 2^31-1 over the largest row's sum of absolute
	// weights, at most 32767. Absent where weights are in blocks.
	ActMax int `json:"actMax,omitempty"`
}

// TaskHead is a dense layer in float32 behind a tower.
type TaskHead struct {
	Name string `json:"name"`
	In   int    `json:"in"`
	Out  int    `json:"out"`
	// After is how many of the layers lie before it; 0: all.
	After int `json:"after,omitempty"`
}

// Section is a named run of bytes, Offset counted from the first section.
type Section struct {
	Name   string `json:"name"`
	Offset int    `json:"offset"`
	Length int    `json:"length"`
}

// The tokenizers: packages wordpiece and unigram.
const (
	TokenizerWordPiece = "wordpiece-uncased"
	TokenizerUnigram   = "unigram"
)

// Limits of what Open accepts; far above any model that would be embedded in a
// binary, low enough that no product of them overflows.
const (
	maxLayers = 48
	maxWidth  = 8192
	maxTokens = 8192
	maxHeads  = 64
	maxCentre = 64
	maxTiers  = 8
	maxPieces = 1 << 20
)

// Bits of a weight, as WeightBits and WordBits say them.
const (
	bits4  = 4
	bits8  = 8
	bits12 = 12 // what 0 means
)

// InBlocks tells whether the weights of the layers are in blocks of four bits.
func (h *Header) InBlocks() bool { return h.WeightBits == bits4 }

// impossible tells whether no vectors can be of the form.
func (t Tier) impossible() bool {
	return t.Pieces < 1 || t.Pieces > maxPieces ||
		t.PairBits != 0 && (t.PairBits < trellis.LeastBits || t.PairBits > trellis.MostBits)
}

// minSpread bounds how far a range of cosines is stretched: e5's, the narrowest
// we know, has 0.03.
const minSpread = 0.0001

// validate reports the first way in which the shape is not one the encoder can
// run. The kernels need whole vectors: 32 values per head, panels of 16.
func (h *Header) validate() error {
	switch {
	case h.Format != FormatVersion:
		return fmt.Errorf("%w: format %d, this binary reads %d", ErrPack, h.Format, FormatVersion)
	case h.Name == "":
		return fmt.Errorf("%w: no name", ErrPack)
	case h.Layers < 1 || h.Layers > maxLayers:
		return fmt.Errorf("%w: %d layers", ErrPack, h.Layers)
	case h.Dim < 32 || h.Dim > maxWidth || h.Heads < 1 || h.Dim != 32*h.Heads:
		return fmt.Errorf("%w: width %d in %d heads", ErrPack, h.Dim, h.Heads)
	case h.FFN < 32 || h.FFN > maxWidth || h.FFN%32 != 0:
		return fmt.Errorf("%w: feed-forward width %d", ErrPack, h.FFN)
	case h.MaxTokens < 3 || h.MaxTokens > maxTokens:
		return fmt.Errorf("%w: limit of %d tokens", ErrPack, h.MaxTokens)
	case !(h.Epsilon > 0):
		return fmt.Errorf("%w: epsilon %g", ErrPack, h.Epsilon)
	case h.Pooling != PoolMean && h.Pooling != PoolCLS:
		return fmt.Errorf("%w: pooling %q", ErrPack, h.Pooling)
	case (h.CosineMean != 0 || h.CosineSpread != 0) &&
		!(h.CosineMean >= -1 && h.CosineMean <= 1 && h.CosineSpread >= minSpread && h.CosineSpread <= 1):
		return fmt.Errorf("%w: cosines of %g with a spread of %g", ErrPack, h.CosineMean, h.CosineSpread)
	case h.Centre < 0 || h.Centre > maxCentre || h.Base != "" && h.Centre > 0:
		return fmt.Errorf("%w: a centre of %d rows over base %q", ErrPack, h.Centre, h.Base)
	case h.Patch && (h.Base == "" || h.WeightBits != bits4):
		return fmt.Errorf("%w: a patch of weights of %d bits over base %q", ErrPack, h.WeightBits, h.Base)
	case len(h.TaskHeads) > maxHeads || h.Base == "" && len(h.TaskHeads) > 0:
		return fmt.Errorf("%w: %d task heads over base %q", ErrPack, len(h.TaskHeads), h.Base)
	case slices.ContainsFunc(h.TaskHeads, func(t TaskHead) bool { return t.After < 0 || t.After > h.Layers }):
		return fmt.Errorf("%w: a task head behind a layer that is not there", ErrPack)
	case h.WeightBits != 0 && h.WeightBits != bits8 && h.WeightBits != bits4:
		return fmt.Errorf("%w: weights of %d bits", ErrPack, h.WeightBits)
	case h.WordBits != 0 && h.WordBits != bits4:
		return fmt.Errorf("%w: words of %d bits", ErrPack, h.WordBits)
	case len(h.Tiers) > maxTiers || h.WordBits == 0 && len(h.Tiers) > 0 || slices.ContainsFunc(h.Tiers, Tier.impossible):
		return fmt.Errorf("%w: words of %d bits in tiers %v", ErrPack, h.WordBits, h.Tiers)
	case h.Tokenizer != TokenizerWordPiece && h.Tokenizer != TokenizerUnigram:
		return fmt.Errorf("%w: tokenizer %q", ErrPack, h.Tokenizer)
	}
	return nil
}
