package api

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/proto/canon"
)

// measure is a share, a likelihood, a mean or an amount; it is answered as
// canon.Measure rounds it.
type measure float64

// MarshalJSONTo implements json.MarshalerTo.
func (m measure) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, canon.Measure(float64(m)))
}

// Schema implements huma.SchemaProvider.
func (measure) Schema(huma.Registry) *huma.Schema { return numberSchema() }

// score is what results are ranked by; it is answered as canon.Score rounds it.
type score float64

// MarshalJSONTo implements json.MarshalerTo.
func (s score) MarshalJSONTo(e *jsontext.Encoder) error {
	return json.MarshalEncode(e, canon.Score(float64(s)))
}

// Schema implements huma.SchemaProvider.
func (score) Schema(huma.Registry) *huma.Schema { return numberSchema() }

func numberSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeNumber, Format: "double"} }

// shares are measures that add up to a whole.
func shares(xs []float64) []measure {
	out := make([]measure, 0, len(xs))
	for _, x := range canon.Shares(xs) {
		out = append(out, measure(x))
	}
	return out
}
