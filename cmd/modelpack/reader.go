package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
	"orgmem/brain/reader"
)

// modelReader is the model that this project trains itself (train/train.py); its weights come from no package.
const modelReader = "reader"

// start is a model that a reader's layers began as, other than the base.
type start struct{ licence, upstream string }

var starts = map[string]start{
	"e5-small-v2": {licence: "MIT AND Apache-2.0", upstream: "intfloat/e5-small-v2, over the words of "},
}

// readerPack makes the reader's pack out of what training wrote, over the pack of the embedder whose words it shares,
// with weights of so many bits (0: of twelve). Over one in blocks it is a patch of its layers. Else its layers began as
// those of the base, or of another model.
func readerPack(trained, base []byte, licence, began string, bits int) ([]byte, embed.ModelID, error) {
	f, err := packfile.Open(base)
	if err != nil {
		return nil, "", fmt.Errorf("open base: %w", err)
	}
	tensors, err := readSafetensors(trained)
	if err != nil {
		return nil, "", fmt.Errorf("read trained weights: %w", err)
	}
	h, by := f.Header, "train/train.py"
	var w packfile.Weights
	if h.Patch = f.InBlocks(); h.Patch {
		w, err = patchedTower(tensors, f.Layers)
		by, bits = "train/reads.py", f.WeightBits
	} else {
		w, err = trainedTower(tensors, f.Dim)
	}
	if err != nil {
		return nil, "", err
	}
	baseHash, weights := f.Hash(), sha256.Sum256(trained)
	h.Name, h.Layers, h.Pooling, h.Base = modelReader, len(w.Layers), packfile.PoolMean, hex.EncodeToString(baseHash[:])
	h.CosineMean, h.CosineSpread, h.Centre, h.WeightBits = 0, 0, 0, bits
	from, ok := starts[began]
	if !ok && began != "" {
		return nil, "", fmt.Errorf("no start %q is known", began)
	}
	h.Source = packfile.Source{
		Package: by, Weights: "the output of training", WeightsSHA256: hex.EncodeToString(weights[:]),
		Licence: cmp.Or(from.licence, f.Source.Licence), LicenceText: licence,
		Upstream: "trained by this project from " + from.upstream + f.Source.Upstream,
	}
	pack, err := packfile.Build(h, w)
	if err != nil {
		return nil, "", err
	}
	m, err := embed.LoadPack(base, nil)
	if err != nil {
		return nil, "", err
	}
	r, err := reader.LoadPack(pack, m, nil)
	if err != nil {
		return nil, "", err
	}
	return pack, r.IDs()[0], nil
}

// trainedTower finds the parts of a reader by the names that train.py gives them.
func trainedTower(tensors map[string]tensor, dim int) (packfile.Weights, error) {
	r := weightReader{tensors: tensors}
	var w packfile.Weights
	for i := 0; tensors["encoder.layers."+strconv.Itoa(i)+".qkv.weight"].data != nil; i++ {
		at := "encoder.layers." + strconv.Itoa(i) + "."
		query, key, value := r.thirds(at+"qkv", dim)
		w.Layers = append(w.Layers, packfile.Layer{
			Query: query, Key: key, Value: value,
			Output:         r.linear(at + "output"),
			AfterAttention: r.norm(at + "attention_norm"),
			Up:             r.linear(at + "up"),
			Down:           r.linear(at + "down"),
			AfterFFN:       r.norm(at + "ffn_norm"),
		})
	}
	tagLayers := 0
	if tensors["tag_layers"].data != nil { // tags are read before the last layer
		tagLayers = int(r.tensor("tag_layers")[0])
	}
	w.Heads = heads(&r, tagLayers)
	return w, r.err
}

// patchedTower finds the parts of a patch by the names that reads.py gives them.
func patchedTower(tensors map[string]tensor, layers int) (packfile.Weights, error) {
	r := weightReader{tensors: tensors}
	linear := func(name string) packfile.Linear {
		return packfile.Linear{
			Blocks: tensors[name+".w"].bytes, Taken: tensors[name+".w.taken"].bytes, B: r.tensor(name + ".b"),
		}
	}
	norm := func(name string) packfile.Norm {
		return packfile.Norm{Gamma: r.tensor(name + ".w"), Beta: r.tensor(name + ".b")}
	}
	var w packfile.Weights
	for i := range layers {
		w.Layers = append(w.Layers, e5Layer(i, linear, norm))
	}
	w.Heads = heads(&r, 0)
	return w, r.err
}

// heads are those that were trained.
func heads(r *weightReader, tagLayers int) (all []packfile.Head) {
	for _, head := range []struct {
		trained, packed string
		after           int // how many layers lie before it; 0: all
	}{
		{"hidden", reader.HeadHidden, 0},
		{"out", reader.HeadOut, 0},
		{"ask_hidden", reader.AskHidden, 0},
		{"ask_out", reader.AskOut, 0},
		{"ask_span", reader.AskSpan, 0},
		{"tag_out", reader.HeadTags, tagLayers},
		{"tense_out", reader.HeadTense, tagLayers},
		{"spelling", reader.HeadSpelling, tagLayers},
		{"class_look", reader.HeadClassLook, tagLayers},
		{"class_hidden", reader.HeadClassHidden, tagLayers},
		{"class_out", reader.HeadClassOut, tagLayers},
	} {
		shape := r.tensors[head.trained+".weight"].dims
		if len(shape) != 2 { // of a task that it was not trained for
			continue
		}
		all = append(all, packfile.Head{
			Name: head.packed, Linear: r.linear(head.trained), In: shape[1], Out: shape[0], After: head.after,
		})
	}
	return all
}

// thirds cuts a matrix that makes queries, keys and values at once into the three.
func (r *weightReader) thirds(name string, dim int) (query, key, value packfile.Linear) {
	all := r.linear(name)
	if len(all.W) != 3*dim*dim || len(all.B) != 3*dim {
		r.err = fmt.Errorf("%w: %q has %d weights", errWeights, name, len(all.W))
		return query, key, value
	}
	part := func(i int) packfile.Linear {
		return packfile.Linear{W: all.W[i*dim*dim : (i+1)*dim*dim], B: all.B[i*dim : (i+1)*dim]}
	}
	return part(0), part(1), part(2)
}
