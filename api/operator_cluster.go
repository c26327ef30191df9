package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/gin-gonic/gin"

	"orgmem/actors"
	"orgmem/proto/clock"
)

// Cluster is what the operator does with the cluster that a node belongs to.
// Errors wrap actors.ErrInvalid and actors.ErrConflict where the operator can do
// something about them.
type Cluster interface {
	// JoinToken makes a token with which one machine may join within a time.
	JoinToken(ctx context.Context, life time.Duration) (JoinToken, error)
	// Rotate begins to replace the cluster's certificate authority.
	Rotate(ctx context.Context) error
	// Rotation tells how far that is.
	Rotation(ctx context.Context) (Rotation, error)
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
var errNoCluster = fmt.Errorf("%w: this node is alone; stop it, run `orgmem cluster init` on its data directory and serve it with --cluster-listen", actors.ErrConflict)

// defaultTokenLife is for the minute between making a token and starting the
// machine that joins with it, and a phone call in between.
const defaultTokenLife = time.Hour

var clusterRoutes = []operatorRoute{
	{
		method: http.MethodPost, path: "/operator/cluster/tokens", status: http.StatusCreated, body: reflect.TypeFor[tokenBody](),
		handle: withCluster(func(ctx context.Context, c Cluster, body any) (any, error) {
			life := defaultTokenLife
			if ttl := body.(*tokenBody).TTLSeconds; ttl > 0 {
				life = time.Duration(ttl) * time.Second
			}
			t, err := c.JoinToken(ctx, life)
			return joinToken{t.Token, timestamp(clock.Millis(t.Expires))}, err
		}),
	},
	{
		method: http.MethodPost, path: "/operator/cluster/rotation", status: http.StatusAccepted,
		handle: withCluster(func(ctx context.Context, c Cluster, _ any) (any, error) {
			if err := c.Rotate(ctx); err != nil {
				return nil, err
			}
			return rotationOf(c.Rotation(ctx))
		}),
	},
	{
		method: http.MethodGet, path: "/operator/cluster/rotation", status: http.StatusOK,
		handle: withCluster(func(ctx context.Context, c Cluster, _ any) (any, error) {
			return rotationOf(c.Rotation(ctx))
		}),
	},
}

// withCluster refuses where the node belongs to no cluster.
func withCluster(do func(ctx context.Context, c Cluster, body any) (any, error)) func(context.Context, *Server, gin.Params, any) (any, error) {
	return func(ctx context.Context, s *Server, _ gin.Params, body any) (any, error) {
		if s.cfg.Cluster == nil {
			return nil, errNoCluster
		}
		return do(ctx, s.cfg.Cluster, body)
	}
}

// tokenBody: 0 is an hour.
type tokenBody struct {
	TTLSeconds int `json:"ttlSeconds,omitempty" minimum:"1" maximum:"604800"`
}

type joinToken struct {
	Token     string    `json:"token"`
	ExpiresAt timestamp `json:"expiresAt"`
}

type rotation struct {
	Generations []uint64  `json:"generations"`
	Signing     uint64    `json:"signing"`
	Waiting     []string  `json:"waiting"`
	ExpiresAt   timestamp `json:"expiresAt"`
}

func rotationOf(r Rotation, err error) (any, error) {
	out := rotation{Generations: r.Generations, Signing: r.Signing, Waiting: r.Waiting, ExpiresAt: timestamp(clock.Millis(r.Expires))}
	if out.Waiting == nil {
		out.Waiting = []string{} // a list, always
	}
	return out, err
}
