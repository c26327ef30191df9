package retriever

// flat gives every number of the parameters, in a fixed order, to change in place.
func (p *Parameters) flat() []*float64 {
	var out []*float64
	for _, s := range [][]float64{p.Step[:], p.Seed[:], p.Gate[:], p.Heard[:]} {
		for i := range s {
			out = append(out, &s[i])
		}
	}
	return append(out, &p.Sharp, &p.Meaning, &p.Words, &p.Further[furtherStart], &p.Further[furtherNear])
}
