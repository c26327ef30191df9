package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
)

// e5Pieces are the vocabulary of the tiny file; the last two of the word vectors belong to no piece.
var e5Pieces = strings.Fields(`<s> <pad> </s> <unk> ▁ ▁query ▁passage : ▁tea t e a o w f h i s n y r d m b g c
	▁what ▁how ▁is
	▁the ▁it ▁we ▁was ▁Which ▁Who ▁does ▁When ▁did ▁in ▁on ▁her ▁he ▁a ▁I ▁you ▁to ▁for ▁my ▁are ▁of`)

// e5Writer makes a tiny file of the form that readE5 reads.
type e5Writer struct {
	directory, body bytes.Buffer
	entries         uint32
	chance          *rand.Rand
}

func (w *e5Writer) number(to *bytes.Buffer, x ...any) {
	for _, v := range x {
		if err := binary.Write(to, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
}

func (w *e5Writer) entry(name string, blocks bool, n int, data []byte) {
	kind := uint8(0)
	if blocks {
		kind = 1
	}
	w.number(&w.directory, uint16(len(name)))
	w.directory.WriteString(name)
	w.number(&w.directory, kind, uint32(n), uint64(w.body.Len()), uint64(len(data)))
	w.body.Write(data)
	w.entries++
}

func (w *e5Writer) floats(name string, n int) {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(w.chance.NormFloat64())
	}
	w.entry(name, false, n, rawFloats(x))
}

func (w *e5Writer) blocks(name string, n int) {
	b := make([]byte, packfile.BlocksLen(n))
	for i := range b {
		b[i] = byte(w.chance.Uint32())
	}
	for at := 0; at < len(b); at += packfile.BlockBytes {
		b[at+1] = b[at+1]&0x83 | 0x2c // scales around 0.07 of both signs
	}
	w.entry(name, true, n, b)
}

// e5Bytes is a model of one layer; change may rewrite its tensors' names.
func e5Bytes(rename func(string) string) []byte {
	const dim, ffn = 32, 64
	w := &e5Writer{chance: rand.New(rand.NewPCG(51, 52))}
	w.blocks(rename("emb.word"), (len(e5Pieces)+2)*dim)
	w.floats("emb.pos", 16*dim)
	w.floats("emb.type", 2*dim)
	for _, n := range []string{"emb.ln", "l0.aln", "l0.oln"} {
		w.floats(n+".w", dim)
		w.floats(n+".b", dim)
	}
	for _, m := range []struct {
		name    string
		in, out int
	}{{"q", dim, dim}, {"k", dim, dim}, {"v", dim, dim}, {"ao", dim, dim}, {"fi", dim, ffn}, {"fo", ffn, dim}} {
		w.blocks("l0."+m.name+".w", m.in*m.out)
		w.floats(rename("l0."+m.name+".b"), m.out)
	}
	var head bytes.Buffer
	head.WriteString(e5Magic)
	w.number(&head, uint32(e5Version), uint32(dim), uint32(1), uint32(1), uint32(ffn), uint32(len(e5Pieces)+2),
		uint32(16), uint32(2), float32(1e-12), uint32(packfile.BlockLen))
	text := strings.Join(e5Pieces, "")
	w.number(&head, uint32(len(e5Pieces)), uint32(0), uint32(2), uint32(1), uint32(3), uint64(len(text)), uint32(0))
	end := uint32(0)
	for _, p := range e5Pieces {
		end += uint32(len(p))
		w.number(&head, end)
	}
	for i := range e5Pieces {
		w.number(&head, float32(-i)/4)
	}
	head.WriteString(text)
	w.number(&head, uint32(2), uint32(9+9), uint32('T'), uint8(1), uint32('t'),
		uint32('\t'), uint8(1), uint32(' '), w.entries)
	// What the directory says counts from the file's beginning.
	directory := w.directory.Bytes()
	start := uint64(head.Len() + len(directory))
	for at := 0; at < len(directory); {
		at += 2 + int(binary.LittleEndian.Uint16(directory[at:])) + 1 + 4
		binary.LittleEndian.PutUint64(directory[at:], binary.LittleEndian.Uint64(directory[at:])+start)
		at += 16
	}
	return append(append(head.Bytes(), directory...), w.body.Bytes()...)
}

func asItIs(name string) string { return name }

func TestReadE5(t *testing.T) {
	t.Parallel()
	data := e5Bytes(asItIs)
	f, err := readE5(data)
	if err != nil {
		t.Fatal(err)
	}
	if f.dim != 32 || f.layers != 1 || f.ffn != 64 || strings.Join(f.pieces, " ") != strings.Join(e5Pieces, " ") ||
		f.scores[8] != -2 || f.unknown != 3 || len(f.rules) != 2 || f.rules[0].from != 'T' ||
		string(f.rules[1].to) != " " {
		t.Errorf("read %+v", f)
	}
	w, err := f.weights()
	if err != nil {
		t.Fatal(err)
	}
	if want := f.tensors["emb.word"].blocks[:packfile.BlocksLen(len(e5Pieces)*32)]; !bytes.Equal(w.Blocks, want) {
		t.Error("words are not those of the pieces")
	}
	if l := w.Layers[0]; !bytes.Equal(l.Down.Blocks, f.tensors["l0.fo.w"].blocks) || len(l.Up.B) != 64 ||
		len(w.TokenType) != 32 || math.IsNaN(float64(w.Norm.Gamma[0])) {
		t.Errorf("weights: %+v", l.Up.B)
	}
	f.pieces = append(f.pieces, "more", "than", "words")
	if _, err := f.weights(); !errors.Is(err, errWeights) {
		t.Errorf("a piece without a word: %v", err)
	}
	for _, gone := range []string{"emb.word", "l0.k.b"} {
		f, err := readE5(e5Bytes(func(name string) string { return strings.ReplaceAll(name, gone, gone+"?") }))
		if err == nil {
			_, err = f.weights()
		}
		if !errors.Is(err, errWeights) {
			t.Errorf("without %s: %v", gone, err)
		}
	}
	for n := range 700 { // every cut through the head, and some through the body
		if _, err := readE5(data[:n]); !errors.Is(err, errE5) {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
	}
	if _, err := readE5(data[:len(data)-1]); !errors.Is(err, errE5) {
		t.Errorf("cut by one byte: %v", err)
	}
}

// Layers that were trained further take the place of those published, all of them or none.
func TestTune(t *testing.T) {
	t.Parallel()
	whole := func() map[string][]byte { // of every tensor of the layer, another's bytes
		f, err := readE5(e5Bytes(asItIs))
		if err != nil {
			t.Fatal(err)
		}
		tensors := map[string][]byte{}
		for name, x := range f.tensors {
			switch {
			case !strings.HasPrefix(name, "l0."):
			case x.blocks != nil:
				tensors[name] = bytes.Repeat(x.blocks[:packfile.BlockBytes], len(x.blocks)/packfile.BlockBytes)
			default:
				tensors[name] = rawFloats(slices.Repeat([]float32{.25}, len(x.floats)))
			}
		}
		return tensors
	}
	tuned := whole()
	f, err := readE5(e5Bytes(asItIs))
	if err != nil {
		t.Fatal(err)
	}
	words := f.tensors["emb.word"].blocks
	if err := f.tune(e5Tuned(t, tuned)); err != nil {
		t.Fatal(err)
	}
	w, err := f.weights()
	if err != nil {
		t.Fatal(err)
	}
	if l := w.Layers[0]; !bytes.Equal(l.Query.Blocks, tuned["l0.q.w"]) || l.AfterFFN.Beta[3] != .25 || l.Up.B[0] != .25 {
		t.Error("the layer is not the tuned one")
	}
	if !bytes.Equal(w.Blocks, words[:len(w.Blocks)]) {
		t.Error("words have changed")
	}
	for name, change := range map[string]func(map[string][]byte){
		"one is missing": func(x map[string][]byte) { delete(x, "l0.k.w") },
		"one is shorter": func(x map[string][]byte) { x["l0.k.w"] = x["l0.k.w"][packfile.BlockBytes:] },
		"one is unknown": func(x map[string][]byte) { x["l1.k.w"] = x["l0.k.w"] },
		"another kind":   func(x map[string][]byte) { x["l0.k.b"] = x["l0.k.w"] },
	} {
		bad := whole()
		change(bad)
		f, err := readE5(e5Bytes(asItIs))
		if err != nil {
			t.Fatal(err)
		}
		if err := f.tune(e5Tuned(t, bad)); !errors.Is(err, errWeights) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// e5Tuned is a file of tensors, of bytes where a matrix is in blocks.
func e5Tuned(t *testing.T, tensors map[string][]byte) []byte {
	t.Helper()
	var body []byte
	header := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(tensors)) {
		x, kind, n := tensors[name], "F32", len(tensors[name])/4
		if strings.HasSuffix(name, ".w") && !strings.HasSuffix(name, "ln.w") || strings.HasSuffix(name, ".taken") ||
			name == "l0.k.b" && n > 32 {
			kind, n = "U8", len(x)
		}
		header[name] = map[string]any{"dtype": kind, "shape": []int{n}, "data_offsets": []int{len(body), len(body) + len(x)}}
		body = append(body, x...)
	}
	head, err := json.Marshal(header)
	if err != nil {
		t.Fatal(err)
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(head))), head...), body...)
}

// Of what reads.py wrote, blocks stand in the place of the base's, and what is missing is named.
func TestPatchedTower(t *testing.T) {
	t.Parallel()
	r, pkg := tinyE5(t)
	base, err := makePack(r, pkg, "licence text")
	if err != nil {
		t.Fatal(err)
	}
	m, err := embed.LoadPack(base, nil)
	if err != nil {
		t.Fatal(err)
	}
	f, err := readE5(e5Bytes(asItIs))
	if err != nil {
		t.Fatal(err)
	}
	tensors := map[string][]byte{}
	for name, x := range f.tensors {
		switch {
		case !strings.HasPrefix(name, "l0."):
		case x.blocks != nil: // every eighth block
			for at := 0; at < len(x.blocks); at += 8 * packfile.BlockBytes {
				tensors[name] = append(tensors[name], x.blocks[at:at+packfile.BlockBytes]...)
				tensors[name+".taken"] = append(tensors[name+".taken"], 1)
			}
		default:
			tensors[name] = rawFloats(x.floats)
		}
	}
	build := func() error {
		read, err := readSafetensors(e5Tuned(t, tensors))
		if err != nil {
			return err
		}
		w, err := patchedTower(read, 1)
		if err != nil {
			return err
		}
		opened, err := packfile.Open(base)
		if err != nil {
			return err
		}
		h, sum := opened.Header, opened.Hash()
		h.Base, h.Patch, h.CosineMean, h.CosineSpread = hex.EncodeToString(sum[:]), true, 0, 0
		pack, err := packfile.Build(h, w)
		if err != nil {
			return err
		}
		_, err = embed.LoadTower(pack, m, nil)
		return err
	}
	if err := build(); err != nil {
		t.Fatal(err)
	}
	tensors["l0.fi.w.taken"][0] = 3
	if err := build(); !errors.Is(err, packfile.ErrPack) {
		t.Errorf("two are taken and one is there: %v", err)
	}
	tensors["l0.fi.w.taken"][0] = 1
	delete(tensors, "l0.fi.b")
	if err := build(); !errors.Is(err, errWeights) {
		t.Errorf("without a bias: %v", err)
	}
}

func FuzzReadE5(f *testing.F) {
	data := e5Bytes(asItIs)
	f.Add(data[:900])
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := readE5(data)
		if err != nil {
			return
		}
		if file.layers < 100 { // the rest is what packfile.Build refuses
			if _, err := file.weights(); err != nil && !errors.Is(err, errWeights) {
				t.Fatal(err)
			}
		}
	})
}

// tinyE5 is a package of the form, and the recipe for it.
func tinyE5(t *testing.T) (r recipe, pkg []byte) {
	t.Helper()
	data := e5Bytes(asItIs)
	pkg = archive(t, map[string][]byte{"x/m.bin": data})
	r = recipe{header: multilingual(), source: packfile.Source{
		Weights: "x/m.bin", PackageSHA256: hash(pkg), WeightsSHA256: hash(data),
	}}
	r.header.Layers, r.header.Dim, r.header.Heads, r.header.FFN, r.header.MaxTokens = 1, 32, 1, 64, 16
	r.header.Tiers = []packfile.Tier{{Pieces: len(e5Pieces) - 9}, {Pieces: 5, PairBits: 4}, {Pieces: 4, PairBits: 3}}
	return r, pkg
}

// A package of the form makes the same pack twice, which knows its words and its range.
func TestPackOfE5(t *testing.T) {
	r, pkg := tinyE5(t)
	few := r
	few.header.Tiers = multilingual().Tiers
	if _, err := makePack(few, pkg, "licence text"); !errors.Is(err, errWeights) {
		t.Errorf("fewer words than the first tier has: %v", err)
	}
	pack, err := makePack(r, pkg, "licence text")
	if err != nil {
		t.Fatal(err)
	}
	again, err := makePack(r, pkg, "licence text")
	if err != nil || !bytes.Equal(pack, again) {
		t.Fatalf("made twice, two packs (%v)", err)
	}
	if f, err := packfile.Open(pack); err != nil || len(f.Tiers) != 3 {
		t.Errorf("the words are in %v (%v)", f.Tiers, err)
	}
	m, err := embed.LoadPack(pack, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f, _ := m.CosineLine(); f == 1 {
		t.Error("no range of cosines")
	}
	// <s>, "passage:" in two pieces, and </s>.
	if n := m.CountTokens("tea  Tea\ttea"); n != 3 || m.MaxTokens() != 16-4 {
		t.Errorf("%d tokens, at most %s", n, strconv.Itoa(m.MaxTokens()))
	}
}
