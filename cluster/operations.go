package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// ErrAlone means that the node belongs to no cluster, so there is nobody to hand
// anything to.
var ErrAlone = errors.New("this node is alone")

// ErrLastNode means that no other node would be left.
var ErrLastNode = errors.New("no other node would be left")

// operations are what an operator may ask of the cluster and tell it.
type operations struct {
	*node
	controller *controller // nil for a node alone
}

// ControllerStats returns the figures of this node's controller.
func (o *operations) ControllerStats() ControllerStats {
	c := o.controller
	if c == nil {
		return ControllerStats{}
	}
	return c.figures()
}

// ClusterStatus returns the cluster as its controller sees it, wherever that is.
// While no controller answers it is what this node knows by itself: then
// Controller is empty and the replicas are those of the shard map. The error is
// ErrAlone.
func (o *operations) ClusterStatus(ctx context.Context) (*pb.ClusterStatus, error) {
	if o.controller == nil {
		return nil, ErrAlone
	}
	return o.controller.clusterStatus(ctx), nil
}

// DrainNode lets a node lead nothing and get nothing new, while it keeps its
// replicas, or takes that back. It returns when that is agreed; ClusterStatus
// tells when it has been done. A restart of the node takes it back, too. Errors:
// ErrAlone, ErrNodeUnknown, ErrNodeRemoved and the proposal's.
func (o *operations) DrainNode(ctx context.Context, id wire.ServerID, drain bool) error {
	return o.changeNode(ctx, id, func(e *pb.NodeEntry) { e.Draining = drain })
}

// LeaveNode removes a node for good: its replicas are moved to others, at once
// where it is dead, and when no group counts on it any more it is taken out of the
// cluster. It returns when that is agreed. Errors: as DrainNode, and ErrLastNode.
func (o *operations) LeaveNode(ctx context.Context, id wire.ServerID) error {
	if o.controller != nil && !slices.ContainsFunc(o.Meta().Nodes(), func(e *pb.NodeEntry) bool {
		return wire.ServerID(e.GetServer()) != id && !e.GetRemoved() && !e.GetLeaving()
	}) {
		return fmt.Errorf("remove %s: %w", id, ErrLastNode)
	}
	return o.changeNode(ctx, id, func(e *pb.NodeEntry) { e.Leaving = true })
}

// changeNode changes a node's entry as it is now.
func (o *operations) changeNode(ctx context.Context, id wire.ServerID, change func(*pb.NodeEntry)) error {
	if o.controller == nil {
		return ErrAlone
	}
	if err := o.directory.Fresh(ctx); err != nil {
		return err
	}
	old, ok := o.Meta().Node(id)
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", id, wire.ErrNodeUnknown)
	case old.GetRemoved():
		return fmt.Errorf("%s: %w", id, wire.ErrNodeRemoved)
	}
	fresh := proto.CloneOf(old)
	change(fresh)
	if proto.Equal(old, fresh) {
		return nil
	}
	return o.Meta().PutNode(ctx, fresh)
}
