package embed

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"slices"
	"testing"

	"orgmem/brain/embed/packfile"
)

// 221 sentences and runs of sentences in 28 languages, and hard cases, with the ids that the
// pieces of the pack give in the tokenizers library, and the vectors that the published weights
// of four bits give in floating point. bench/retrieval/reference_multilingual.py makes it.
//
//go:embed testdata/multilingual.json.gz
var multilingualFile []byte

// What rare words in two bits and the arithmetic leave of the original at least and on average, of what differs between
// texts: the centre is taken out of both. The least are texts of rare pieces alone, such as runes or forty digits.
const (
	multilingualLeast = 0.95
	multilingualMean  = 0.99
)

type multilingualReference struct {
	Language string `json:"language"` // "--" of a hard case
	reference
}

func multilingualReferences(t *testing.T) (all []multilingualReference) {
	t.Helper()
	zr, err := gzip.NewReader(bytes.NewReader(multilingualFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(zr).Decode(&all); err != nil {
		t.Fatal(err)
	}
	languages := map[string]bool{}
	for _, r := range all {
		languages[r.Language] = true
	}
	if len(all) < 200 || len(languages) < 20 {
		t.Fatalf("%d texts in %d languages", len(all), len(languages))
	}
	return all
}

func multilingual(t testing.TB) *Model {
	t.Helper()
	m, err := LoadMultilingual(nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestMultilingualTokensEqualTheReference(t *testing.T) {
	t.Parallel()
	m := multilingual(t)
	for _, r := range multilingualReferences(t) {
		if ids := m.appendTokens(nil, m.passage, r.Text); !slices.Equal(ids, r.IDs) {
			t.Errorf("%s %q\n got %v\nwant %v", r.Language, r.Text, ids, r.IDs)
		}
	}
}

func TestMultilingualVectorsEqualTheReference(t *testing.T) {
	t.Parallel()
	m := multilingual(t)
	all := multilingualReferences(t)
	if m.Kernel() == KernelPortable {
		// Forty times slower, and the same bits: see the tests of kernels.
		all = slices.DeleteFunc(all, func(r multilingualReference) bool { return len(r.IDs) > 8 })
	}
	own := make([]reference, len(all))
	for i, r := range all {
		own[i] = r.reference
	}
	if mean := nearOriginal(t, m, own, multilingualLeast); mean < multilingualMean && len(all) > 200 {
		t.Errorf("a cosine of %f to the original on average", mean)
	}
}

// As TestVectorBitsAreForever: if this fails, stored vectors no longer compare and ModelID must change.
func TestMultilingualVectorBitsAreForever(t *testing.T) {
	t.Parallel()
	m := multilingual(t)
	sameBits(t, m, "Wer hat den alten Schlüssel? 誰が鍵を？", "00a141816a613c8d9b0848db")
}

// Real text through real weights: a vector depends neither on its neighbours nor on the order.
func TestMultilingualBatches(t *testing.T) {
	t.Parallel()
	m := multilingual(t)
	if m.Kernel() == KernelPortable {
		t.Skip("too slow without vector kernels; the tiny models cover it")
	}
	var texts []string
	for i, r := range multilingualReferences(t) {
		if i%4 == 0 {
			texts = append(texts, r.Text)
		}
	}
	together := passages(m, texts...)
	slices.Reverse(texts)
	turned := passages(m, texts...)
	slices.Reverse(turned)
	for i, v := range together {
		if !slices.Equal(v, turned[i]) {
			t.Errorf("text %d changes with its neighbours", i)
		}
	}
}

func TestMultilingualModelTellsItsOrigin(t *testing.T) {
	t.Parallel()
	m := multilingual(t)
	s := m.Source()
	if m.Dim() != 384 || m.MaxTokens() != 508 || s.Licence != "MIT" || !bytes.Contains([]byte(s.LicenceText),
		[]byte("Permission is hereby granted")) || len(s.PackageSHA256) != 64 {
		t.Errorf("dim %d, limit %d, source %+v", m.Dim(), m.MaxTokens(), s)
	}
	if m.ID() == loaded(t).ID() {
		t.Error("two models with one id")
	}
	if f, err := packfile.Open(MultilingualPack()); err != nil || f.Name != "multilingual-e5-small" {
		t.Errorf("its pack: %v", err)
	}
}

func TestMeaningDecidesAcrossLanguages(t *testing.T) {
	t.Parallel()
	m := multilingual(t)
	if m.Kernel() == KernelPortable {
		t.Skip("too slow without vector kernels; the reference vectors cover it")
	}
	e := m.NewEncoder()
	docs := make([][]float32, 4)
	e.Passages(docs, []string{
		"Der Zahnarzt hat den Termin auf Donnerstagnachmittag verschoben.",
		"我们的数据库大约每个月都会用完一次磁盘空间。",
		"Para el pícnic necesitamos pan, queso y una manta grande.",
		"Запасной ключ от архива хранится у Марии.",
	})
	for i, questions := range [][]string{
		{"When do I have to see the doctor about my teeth?", "歯医者はいつですか"},
		{"Why is the disk of the database full?", "لماذا امتلأ قرص قاعدة البيانات؟"},
		{"What should we take along to eat outside?", "Was nehmen wir zum Essen im Freien mit?"},
		{"Who has the spare key?", "Qui garde la clé de secours ?"},
	} {
		for _, q := range questions {
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
}
