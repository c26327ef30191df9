package embed

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// Two hundred sentences and runs of sentences of this project's pages, of 4 to 238
// tokens, and a hundred hard cases of 3 to 256 (scripts, symbols, repetitions), with the
// token ids and vectors that the published fp32 weights give on onnxruntime (vectors
// as half floats, which costs 1e-7 of cosine). bench/retrieval/reference.py makes it.
//
//go:embed testdata/reference.json.gz
var referenceFile []byte

type reference struct {
	Text   string  `json:"text"`
	Hard   bool    `json:"hard"` // else a real sentence
	IDs    []int32 `json:"ids"`
	Vector string  `json:"vector"`
}

func references(t *testing.T) []reference {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(referenceFile))
	if err != nil {
		t.Fatal(err)
	}
	var all []reference
	if err := json.NewDecoder(zr).Decode(&all); err != nil {
		t.Fatal(err)
	}
	sentences := 0
	for _, r := range all {
		if !r.Hard {
			sentences++
		}
	}
	if sentences != 200 || len(all)-sentences < 100 {
		t.Fatalf("%d reference sentences and %d hard cases, want 200 and a hundred", sentences, len(all)-sentences)
	}
	return all
}

func (r reference) vector(t *testing.T) []float32 {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(r.Vector)
	if err != nil {
		t.Fatal(err)
	}
	return DecodeF16(nil, raw)
}

func loaded(t testing.TB) *Model {
	t.Helper()
	m, err := Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func cosine(a, b []float32) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i := range a {
		ab += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

func TestTokenIDsEqualTheReference(t *testing.T) {
	m := loaded(t)
	for _, r := range references(t) {
		if ids := m.appendTokens(nil, m.passage, r.Text); !slices.Equal(ids, r.IDs) {
			t.Errorf("%q\n got %v\nwant %v", r.Text, ids, r.IDs)
		}
	}
}

func TestVectorsEqualTheReference(t *testing.T) {
	m := loaded(t)
	all := references(t)
	if m.Kernel() == KernelPortable {
		// Forty times slower, and the same bits: see the tests of kernels.
		all = slices.DeleteFunc(all, func(r reference) bool { return len(r.IDs) > 8 })
	}
	nearOriginal(t, m, all, 0.9995)
}

// nearOriginal holds a model's vectors to the original's, and returns their mean cosine.
func nearOriginal(t *testing.T, m *Model, all []reference, atLeast float64) (mean float64) {
	t.Helper()
	texts := make([]string, len(all))
	for i, r := range all {
		texts[i] = r.Text
	}
	least, sum := 1.0, 0.0
	for i, v := range passages(m, texts...) {
		c := cosine(v, all[i].vector(t))
		if c < atLeast {
			t.Errorf("cosine %.6f to the original: %q", c, all[i].Text)
		}
		least, sum = min(least, c), sum+c
	}
	mean = sum / float64(len(all))
	t.Logf("%s on %s: least cosine %.6f, mean %.6f over %d texts", m.ID(), m.Kernel(), least, mean, len(all))
	return mean
}

// A vector's bits are the same on every machine, so they can be written down.
// If this fails on a new architecture, its compiler fused what must not be
// fused; if it fails after a change of kernels or weights, stored vectors no
// longer compare and ModelID must change.
func TestVectorBitsAreForever(t *testing.T) {
	sameBits(t, loaded(t), "Who keeps the old key?", "78f63f1c43afcbdfb5fc95ea")
}

// sameBits holds the bits of a question's vector, on the portable kernel and on the fastest, to their hash.
func sameBits(t *testing.T, m *Model, question, want string) {
	t.Helper()
	kernels := []Kernel{KernelPortable}
	if m.Kernel() != KernelPortable {
		kernels = append(kernels, m.Kernel())
	}
	for _, k := range kernels {
		on, err := m.WithKernel(k)
		if err != nil {
			t.Fatal(err)
		}
		h := sha256.New()
		for _, x := range on.NewEncoder().Query(question) {
			var b [4]byte
			binary.LittleEndian.PutUint32(b[:], math.Float32bits(x))
			h.Write(b[:])
		}
		if got := hex.EncodeToString(h.Sum(nil)[:12]); got != want {
			t.Errorf("%s: vector bits hash to %s, want %s", k, got, want)
		}
	}
}

func TestLoadedModelTellsItsOrigin(t *testing.T) {
	m := loaded(t)
	s := m.Source()
	if m.Dim() != 384 || m.MaxTokens() != 254 || s.Licence != "Apache-2.0" || len(s.LicenceText) < 10000 ||
		len(s.PackageSHA256) != 64 {
		t.Errorf("dim %d, limit %d, source %+v", m.Dim(), m.MaxTokens(), s)
	}
}

func TestMeaningDecides(t *testing.T) {
	m := loaded(t)
	if m.Kernel() == KernelPortable {
		t.Skip("too slow without vector kernels; the reference vectors cover it")
	}
	e := m.NewEncoder()
	docs := make([][]float32, 3)
	e.Passages(docs, []string{
		"The dentist moved the appointment to Thursday afternoon.",
		"Our database runs out of disk space about once a month.",
		"For the picnic we need bread, cheese and a large blanket.",
	})
	for i, q := range []string{
		"When do I have to see the doctor about my teeth?", "storage of the server is full again",
		"What should we take along to eat outside?",
	} {
		v := e.Query(q)
		best := 0
		for j := range docs {
			if cosine(v, docs[j]) > cosine(v, docs[best]) {
				best = j
			}
		}
		if best != i {
			t.Errorf("%q finds document %d", q, best)
		}
	}
}
