package actors

import pb "orgmem/proto"

// The changeType of graph.updated events (decisions.md, section 13).
const (
	changeCreated          = "created"
	changeUpdated          = "updated"
	changeForgotten        = "forgotten"
	changeRestored         = "restored"
	changeSuperseded       = "superseded"
	changeEdgeAsserted     = "edge_asserted"
	changeEdgeForgotten    = "edge_forgotten"
	changeProposalAccepted = "proposal_accepted"
	changeProposalRejected = "proposal_rejected"
	changePurged           = "purged"
)

// graphUpdated adds the event that every change of a partition's graph causes.
// affected is the number of nodes that it touched; target is the node, edge or
// proposal that it was about, empty when there is no single one.
func (c *change) graphUpdated(o *orgView, part *partitionRef, changeType, target string, affected int) error {
	data := map[string]any{"changeType": changeType, "affectedNodes": affected, "subject": part.eventSubject()}
	if target != "" {
		data["targetId"] = target
	}
	return c.event(o, "graph.updated", part, data)
}

// eventSubject is what events call a partition: the subject's key, or a member's
// user id.
func (p *partitionRef) eventSubject() string {
	if p.subject != "" {
		return string(p.subject)
	}
	return pb.UserID(p.id).String()
}
