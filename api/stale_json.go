package api

import (
	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/wire"
	pb "orgmem/proto"
)

// groundName names what something was derived from: the id of a node, or an external id.
type groundName string

// Schema implements huma.SchemaProvider.
func (groundName) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, MinLength: new(1), MaxLength: new(maxGroundName)}
	s.PrecomputeMessages()
	return s
}

// maxGroundName bounds the name of what something was derived from, as that of any node or document.
const maxGroundName = 512

func groundNames(names []groundName) (out []string) {
	for _, name := range names {
		out = append(out, string(name))
	}
	return out
}

// stale is what became of one of the nodes that something rests on.
type stale struct {
	Because string         `json:"because" doc:"The id of the node."`
	Reason  string         `json:"reason" enum:"superseded,forgotten,ended,contradicted" doc:"@stale.reason"`
	Since   wire.Timestamp `json:"since" nullable:"true" doc:"@stale.since"`
}

// staleOf is the field that names what no longer stands under something; nil where all of it stands.
func staleOf(s *pb.Staleness) (out []stale) {
	for _, e := range s.GetEntries() {
		out = append(out, stale{e.GetBecause(), e.GetReason(), wire.Timestamp(e.GetSinceMs())})
	}
	return out
}

// nodesOf are the ids of what something was derived from.
func nodesOf(grounds []*pb.Ground) (ids []string) {
	for _, g := range grounds {
		ids = append(ids, g.GetNode())
	}
	return ids
}

// appendStale adds the fields stale and staleIncomplete to an object that has some, each where there is something to
// tell.
func appendStale(b []byte, because []stale, incomplete bool) []byte {
	for i, e := range because {
		if i == 0 {
			b = append(b, `,"stale":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"because":`...)
		b = wire.AppendText(b, e.Because)
		b = append(b, `,"reason":`...)
		b = wire.AppendText(b, e.Reason)
		b = append(b, `,"since":`...)
		b = append(e.Since.Append(b), '}')
	}
	if len(because) > 0 {
		b = append(b, ']')
	}
	if incomplete {
		b = append(b, `,"staleIncomplete":true`...)
	}
	return b
}
