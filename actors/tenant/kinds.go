package tenant

import (
	"maps"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/partition"
)

// Kinds are the kinds of virtual actor that a node has, by the names that protoactor's cluster knows them by, and how
// the actor of each is made. A virtual actor has an identity and a place whether or not it is in memory: an
// organization lives where its shard leads, a subject with its organization. Every actor of a kind is spawned by this
// table, on a node that is alone and on one of several; the names are what a node announces to the others.
type Kinds map[string]func(Incarnation) actor.Actor

// Incarnation is what an actor of a kind is made for.
type Incarnation struct {
	System     *System
	Activation *Activation

	// Of a subject: its organization, its partition, and what the organization knows it as.
	Org  *View
	Part *partition.Ref
	Self *Child
}

// Names returns the kinds' names in their order.
func (k Kinds) Names() []string { return slices.Sorted(maps.Keys(k)) }

// props says how the actor of an incarnation is spawned.
func (k Kinds) props(kind string, of Incarnation) *actor.Props {
	produce := k[kind]
	return actor.PropsFromProducer(func() actor.Actor { return produce(of) }, actor.WithSupervisor(StopFailed))
}

func newOrganization(of Incarnation) actor.Actor { return newOrgActor(of.System, of.Activation) }
