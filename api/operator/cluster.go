package operator

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/gin-gonic/gin"

	"orgmem/actors/tenant"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Cluster is what the operator does with the cluster that a node belongs to.
// Errors wrap actors.tenant.ErrInvalid and actors.tenant.ErrConflict where the operator can do
// something about them.
type Cluster interface {
	// JoinToken makes a token with which one machine may join within a time.
	JoinToken(ctx context.Context, life time.Duration) (JoinToken, error)
	// Rotate begins to replace the cluster's certificate authority.
	Rotate(ctx context.Context) error
	// Rotation tells how far that is.
	Rotation(ctx context.Context) (Rotation, error)
	// Status tells how the cluster is, as its controller sees it.
	Status(ctx context.Context) (*pb.ClusterStatus, error)
	// Drain lets a node, named by its id or its name, lead nothing and get nothing
	// new, or takes that back. It returns when that is agreed, not when it is done.
	Drain(ctx context.Context, node string, drain bool) error
	// Remove removes a node for good, as soon as nothing depends on it.
	Remove(ctx context.Context, node string) error
}

// JoinToken lets one machine join.
type JoinToken struct {
	Token   string
	Expires time.Time
}

// Rotation is how far a rotation of the certificate authority is.
type Rotation struct {
	Generations []uint64 // trusted now, oldest first; more than one while it is under way
	Signing     uint64
	Waiting     []string  // nodes that have not taken the present step
	Expires     time.Time // of this node's certificate
}

// errNoCluster tells an operator how to get a cluster.
var errNoCluster = fmt.Errorf("%w: this node is alone; stop it, run `orgmem cluster init` on its data directory and "+
	"serve it with --cluster-listen", tenant.ErrConflict)

// defaultTokenLife is for the minute between making a token and starting the
// machine that joins with it, and a phone call in between.
const defaultTokenLife = time.Hour

// ClusterRoutes are the rows about the cluster.
var ClusterRoutes = []Route{
	{
		Method: http.MethodPost, Path: "/operator/cluster/tokens", status: http.StatusCreated,
		Body: reflect.TypeFor[tokenBody](),
		handle: withCluster(func(ctx context.Context, c Cluster, body any) (any, error) {
			life := defaultTokenLife
			if ttl := body.(*tokenBody).TTLSeconds; ttl > 0 {
				life = time.Duration(ttl) * time.Second
			}
			t, err := c.JoinToken(ctx, life)
			return joinToken{t.Token, wire.Timestamp(clock.Millis(t.Expires))}, err
		}),
	},
	{
		Method: http.MethodPost, Path: "/operator/cluster/rotation", status: http.StatusAccepted,
		handle: withCluster(func(ctx context.Context, c Cluster, _ any) (any, error) {
			if err := c.Rotate(ctx); err != nil {
				return nil, err
			}
			return rotationOf(c.Rotation(ctx))
		}),
	},
	{
		Method: http.MethodGet, Path: "/operator/cluster/rotation", status: http.StatusOK,
		handle: withCluster(func(ctx context.Context, c Cluster, _ any) (any, error) {
			return rotationOf(c.Rotation(ctx))
		}),
	},
	{
		Method: http.MethodGet, Path: "/operator/cluster", status: http.StatusOK,
		handle: withCluster(func(ctx context.Context, c Cluster, _ any) (any, error) {
			s, err := c.Status(ctx)
			return clusterStatusOf(s), err
		}),
	},
	{
		Method: http.MethodPut, Path: "/operator/cluster/nodes/{node}/drain", status: http.StatusAccepted,
		handle: withNamedNode(func(ctx context.Context, c Cluster, node string) error { return c.Drain(ctx, node, true) }),
	},
	{
		Method: http.MethodDelete, Path: "/operator/cluster/nodes/{node}/drain", status: http.StatusAccepted,
		handle: withNamedNode(func(ctx context.Context, c Cluster, node string) error { return c.Drain(ctx, node, false) }),
	},
	{
		Method: http.MethodDelete, Path: "/operator/cluster/nodes/{node}", status: http.StatusAccepted,
		handle: withNamedNode(func(ctx context.Context, c Cluster, node string) error { return c.Remove(ctx, node) }),
	},
}

// withCluster refuses where the node belongs to no cluster.
func withCluster(do func(ctx context.Context, c Cluster, body any) (any, error)) func(
	context.Context, *server, gin.Params, any,
) (any, error) {
	return func(ctx context.Context, s *server, _ gin.Params, body any) (any, error) {
		if s.cfg.Cluster == nil {
			return nil, errNoCluster
		}
		return do(ctx, s.cfg.Cluster, body)
	}
}

// withNamedNode is withCluster for what is done to a node; the answer is the cluster's
// status right after, from which the rest can be followed.
func withNamedNode(do func(ctx context.Context, c Cluster, node string) error) func(
	context.Context, *server, gin.Params, any,
) (any, error) {
	return func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
		if s.cfg.Cluster == nil {
			return nil, errNoCluster
		}
		if err := do(ctx, s.cfg.Cluster, path.ByName("node")); err != nil {
			return nil, err
		}
		status, err := s.cfg.Cluster.Status(ctx)
		return clusterStatusOf(status), err
	}
}

// tokenBody: 0 is an hour.
type tokenBody struct {
	TTLSeconds int `json:"ttlSeconds,omitempty" minimum:"1" maximum:"604800"`
}

type joinToken struct {
	Token     string         `json:"token"`
	ExpiresAt wire.Timestamp `json:"expiresAt"`
}

type rotation struct {
	Generations []uint64       `json:"generations"`
	Signing     uint64         `json:"signing"`
	Waiting     []string       `json:"waiting"`
	ExpiresAt   wire.Timestamp `json:"expiresAt"`
}

func rotationOf(r Rotation, err error) (any, error) {
	out := rotation{
		Generations: r.Generations, Signing: r.Signing, Waiting: r.Waiting,
		ExpiresAt: wire.Timestamp(clock.Millis(r.Expires)),
	}
	if out.Waiting == nil {
		out.Waiting = []string{} // a list, always
	}
	return out, err
}

// clusterStatus is the cluster as its controller sees it. Lists are there, always.
type clusterStatus struct {
	Cluster    string       `json:"cluster"`
	Controller string       `json:"controller"` // empty: none answers, and this is what the asked node knows alone
	Version    uint32       `json:"version"`
	Nodes      []nodeStatus `json:"nodes"`
	Groups     []groupPlace `json:"groups"`
	Decisions  []decision   `json:"decisions"` // newest first
}

type nodeStatus struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Zone     string         `json:"zone"`
	Address  string         `json:"address"`
	Version  uint32         `json:"version"`
	State    string         `json:"state"` // alive, left or failed
	Since    wire.Timestamp `json:"since"`
	Draining bool           `json:"draining"`
	Leaving  bool           `json:"leaving"`
	Voters   uint32         `json:"voters"`
	Learners uint32         `json:"learners"`
	Leads    uint32         `json:"leads"`
	Load     uint32         `json:"load"` // thousandths of its processors, lately
}

type groupPlace struct {
	Group    uint32         `json:"group"` // 0 is the meta group
	Leader   string         `json:"leader"`
	Replicas []replicaPlace `json:"replicas"`
	Desired  []string       `json:"desired"` // should be its voters
	Waits    string         `json:"waits"`   // why nothing is done although something is amiss
}

type replicaPlace struct {
	Node     string `json:"node"`
	Voter    bool   `json:"voter"`
	CaughtUp bool   `json:"caughtUp"`
}

type decision struct {
	At      wire.Timestamp `json:"at"`
	Action  string         `json:"action"`
	Group   uint32         `json:"group"`
	Node    string         `json:"node"`
	Why     string         `json:"why"`
	Outcome string         `json:"outcome"`
	Times   uint32         `json:"times"`
}

func clusterStatusOf(s *pb.ClusterStatus) clusterStatus {
	out := clusterStatus{
		Cluster: s.GetCluster(), Controller: s.GetController(), Version: s.GetVersion(),
		Nodes: []nodeStatus{}, Groups: []groupPlace{}, Decisions: []decision{},
	}
	for _, n := range s.GetNodes() {
		out.Nodes = append(out.Nodes, nodeStatus{
			n.GetServer(), n.GetName(), n.GetZone(), n.GetAddress(), n.GetVersion(), n.GetState(),
			wire.Timestamp(n.GetSinceMs()),
			n.GetDraining(), n.GetLeaving(), n.GetVoters(), n.GetLearners(), n.GetLeads(), n.GetLoad(),
		})
	}
	for _, g := range s.GetGroups() {
		place := groupPlace{g.GetGroup(), g.GetLeader(), []replicaPlace{}, g.GetDesired(), g.GetWaits()}
		if place.Desired == nil {
			place.Desired = []string{}
		}
		for _, r := range g.GetReplicas() {
			place.Replicas = append(place.Replicas, replicaPlace{r.GetServer(), r.GetVoter(), r.GetCaughtUp()})
		}
		out.Groups = append(out.Groups, place)
	}
	for _, d := range s.GetDecisions() {
		out.Decisions = append(out.Decisions, decision{
			wire.Timestamp(d.GetAtMs()), d.GetAction(), d.GetGroup(), d.GetServer(), d.GetWhy(), d.GetOutcome(), d.GetTimes(),
		})
	}
	return out
}
