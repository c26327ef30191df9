package wire

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/proto/canon"
)

// Measure is a share, a likelihood, a mean or an amount; it is answered as
// canon.Measure rounds it.
type Measure float64

// MarshalJSONTo implements json.MarshalerTo.
func (m Measure) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, canon.Measure(float64(m)))
}

// Schema implements huma.SchemaProvider.
func (Measure) Schema(huma.Registry) *huma.Schema { return numberSchema() }

// Score is what results are ranked by; it is answered as canon.Score rounds it.
type Score float64

// MarshalJSONTo implements json.MarshalerTo.
func (s Score) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, canon.Score(float64(s)))
}

// Schema implements huma.SchemaProvider.
func (Score) Schema(huma.Registry) *huma.Schema { return numberSchema() }

func numberSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeNumber, Format: "double"} }

// Shares are measures that add up to a whole.
func Shares(xs []float64) []Measure {
	out := make([]Measure, 0, len(xs))
	for _, x := range canon.Shares(xs) {
		out = append(out, Measure(x))
	}
	return out
}
