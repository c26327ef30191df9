package mesh

import (
	"context"
	"net"
	"slices"
	"time"

	"orgmem/proto/clock"
)

const (
	// discoverEvery is how often a node looks for those it should know and does not see.
	// memberlist gives up a dead node after half a minute, so without this two halves
	// of a cluster that were cut apart for longer would never find each other again.
	discoverEvery = 5 * time.Second
	// maxDiscover bounds the addresses that are tried each time: a cluster's size, and
	// what a host name of it may resolve to.
	maxDiscover = 128
)

// resolveAll turns host:port, where a host may be a name of many addresses, into
// addresses, in order and without repetition. What cannot be resolved now is left
// out; it is tried again the next time.
func resolveAll(ctx context.Context, r Resolver, given []string) []string {
	var all []string
	for _, address := range given {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			continue // the configuration has refused it
		}
		hosts := []string{host}
		if net.ParseIP(host) == nil {
			if hosts, err = r.LookupHost(ctx, host); err != nil {
				continue
			}
		}
		for _, h := range hosts {
			if found := net.JoinHostPort(h, port); !slices.Contains(all, found) && len(all) < maxDiscover {
				all = append(all, found)
			}
		}
	}
	return all
}

// discover finds the other nodes: those that were given, until one of them answers,
// and those in the node table that gossip does not see.
func (g *gossip) discover() {
	for {
		if missing := g.missing(); len(missing) > 0 {
			if found, err := g.list.Join(missing); err != nil {
				g.cfg.Logger.Debug("cluster: looking for other nodes", "tried", len(missing), "found", found, "error", err)
			}
		}
		if clock.Wait(g.life, g.cfg.Clock, g.cfg.discover) != nil {
			return
		}
	}
}

// missing are the addresses where there may be nodes that gossip does not see.
func (g *gossip) missing() []string {
	var given []string
	if len(g.members.peers()) == 0 {
		given = slices.Clone(g.cfg.Join)
	}
	for _, who := range g.members.list() {
		if who.State != MemberAlive && who.Address != "" {
			given = append(given, who.Address)
		}
	}
	ctx, cancel := context.WithTimeout(g.life, dialTimeout)
	defer cancel()
	return slices.DeleteFunc(resolveAll(ctx, g.cfg.Resolver, given), func(a string) bool { return a == g.advertise })
}
