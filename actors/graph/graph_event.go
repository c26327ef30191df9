package graph

import (
	"orgmem/actors/commit"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
)

// The changeType of graph.updated events (docs/interface.md, "Events").
const (
	changeCreated = "created"
	changeUpdated = "updated"
	// ChangeForgotten says that nodes were forgotten.
	ChangeForgotten        = "forgotten"
	changeRestored         = "restored"
	changeSuperseded       = "superseded"
	changeEdgeAsserted     = "edge_asserted"
	changeEdgeForgotten    = "edge_forgotten"
	changeProposalAccepted = "proposal_accepted"
	changeProposalRejected = "proposal_rejected"
	// ChangePurged says that whole memories were purged.
	ChangePurged = "purged"
)

// AddGraphUpdated adds the event that every change of a partition's graph causes. A nil partition stands for all of the
// organization's. affected is the number of nodes that were touched. target is the node, edge or proposal, empty when
// there is no single one.
func AddGraphUpdated(
	c *commit.Change, o *tenant.View, part *partition.Ref, changeType, target string, affected int,
) error {
	data := map[string]any{"changeType": changeType, "affectedNodes": affected, "subject": part.EventSubject()}
	if target != "" {
		data["targetId"] = target
	}
	return c.Event(o, pb.EventGraphUpdated, part, data)
}

// Announce adds the events of what a slice of ingestion did, by job: the stream brings them to the senders of the
// content.
func (h *History) Announce(jobs map[pb.JobID]*pb.Job) error {
	changeTypes := map[string]string{
		ActionCreated: changeCreated, ActionSuperseded: changeSuperseded,
		ActionUpdated: changeUpdated, ActionRevived: changeUpdated,
	}
	type group struct {
		job        pb.JobID
		changeType string
	}
	var order []group
	nodes := map[group]map[pb.NodeID]bool{}
	for _, d := range h.done {
		g := group{d.job, changeTypes[d.name]}
		if nodes[g] == nil {
			nodes[g] = map[pb.NodeID]bool{}
			order = append(order, g)
		}
		nodes[g][d.node] = true
	}
	for _, g := range order {
		target := ""
		if len(nodes[g]) == 1 {
			for id := range nodes[g] {
				target = string(id)
			}
		}
		h.Batch.User = jobs[g.job].GetUser()
		if err := AddGraphUpdated(h.Batch, h.Org, h.Part, g.changeType, target, len(nodes[g])); err != nil {
			return err
		}
	}
	return nil
}
