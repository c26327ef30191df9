package remoting

import (
	"github.com/asynkron/protoactor-go/actor"
	protocluster "github.com/asynkron/protoactor-go/cluster"

	"orgmem/cluster/wire"
)

// registered makes protoactor's kinds of the names that a node's actors have for theirs. What protoactor spawns of
// one, should it ever do so, hands everything on to the node's gateway: an actor that decides for an organization is
// made by the gateway's node alone, once its host has said that the organization lives there.
func registered(names []string, self wire.ServerID) []*protocluster.Kind {
	var kinds []*protocluster.Kind
	for _, name := range names {
		kinds = append(kinds, protocluster.NewKind(name, actor.PropsFromFunc(func(ctx actor.Context) {
			switch ctx.Message().(type) {
			case actor.SystemMessage, actor.AutoReceiveMessage, *protocluster.ClusterInit:
			default:
				ctx.Forward(gatewayOf(self))
			}
		})))
	}
	return kinds
}
