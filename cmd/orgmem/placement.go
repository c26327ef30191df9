package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/proto/clock"
)

// lookEvery is how often a command that waits looks at the cluster: the
// controller looks as often.
const lookEvery = time.Second

// shownDecisions is how many decisions people are shown; --json has all.
const shownDecisions = 10

func newClusterStatus(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "status", Short: "Show the nodes, where the replicas are, and what the controller decided", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			s, err := operator.ClusterStatus(c.Context())
			if err != nil {
				return fmt.Errorf("cluster status: %w", err)
			}
			return w.answer(c, s.Raw, func(out io.Writer) { printCluster(out, s) })
		},
	}
}

func printCluster(out io.Writer, s client.ClusterStatus) {
	names := map[string]string{}
	for _, n := range s.Nodes {
		names[n.ID] = n.Name
	}
	name := func(id string) string {
		if names[id] != "" {
			return names[id]
		}
		return id
	}
	fmt.Fprintf(out, "Cluster %s, version %d, ", s.Cluster, s.Version)
	if s.Controller == "" {
		fmt.Fprintln(out, "no controller answers: this is what one node knows alone")
	} else {
		fmt.Fprintf(out, "controlled by %s\n", name(s.Controller))
	}
	fmt.Fprintln(out)
	table(out, "NODE\tNAME\tZONE\tADDRESS\tVERSION\tSTATE\tSINCE\tLOAD\tLEADS\tVOTERS\tLEARNERS", s.Nodes,
		func(n client.ClusterNode) string {
			state := n.State
			if n.Draining {
				state += ", draining"
			}
			if n.Leaving {
				state += ", leaving"
			}
			load := fmt.Sprintf("%d %%", (n.Load+5)/10)
			return fmt.Sprintf("%s\t%s\t%s\t%s\t%d\t%s\t%s\t%s\t%d\t%d\t%d", n.ID, n.Name, n.Zone, n.Address, n.Version, state,
				n.Since, load, n.Leads, n.Voters, n.Learners)
		})
	amiss := amissGroups(s)
	fmt.Fprintf(out, "\n%d of %d groups are as they should be.\n", len(s.Groups)-len(amiss), len(s.Groups))
	for _, line := range amiss {
		fmt.Fprintln(out, "  "+line)
	}
	if len(s.Decisions) > 0 {
		fmt.Fprintln(out, "\nLast decisions:")
	}
	for _, d := range s.Decisions[:min(len(s.Decisions), shownDecisions)] {
		what := strings.TrimSpace(d.Action + " " + name(d.Node))
		if d.Action != "remove-node" && d.Action != "raise-version" {
			what += fmt.Sprintf(", group %d", d.Group)
		}
		fmt.Fprintf(out, "  %s  %s (%s): %s\n", d.At, what, d.Why, d.Outcome)
	}
}

// amissGroups says of each group that is not as it should be what it waits for.
func amissGroups(s client.ClusterStatus) []string {
	var amiss []string
	for _, g := range s.Groups {
		voters := 0
		for _, r := range g.Replicas {
			if r.Voter {
				voters++
			}
		}
		if g.Leader != "" && g.Waits == "" && voters == len(g.Desired) {
			continue
		}
		waits := g.Waits
		if waits == "" {
			waits = "is being changed"
		}
		amiss = append(amiss, fmt.Sprintf("group %d: %s", g.Group, waits))
	}
	return amiss
}

func newClusterDrain(w world, at *operatorFlags) *cobra.Command {
	var undo bool
	var wait time.Duration
	c := &cobra.Command{
		Use: "drain NODE", Short: "Take all leaderships from a node, so that it can be stopped", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			s, err := operator.DrainNode(c.Context(), args[0], !undo)
			if err == nil && !undo {
				s, err = follow(c.Context(), w, operator, wait, s, func(s client.ClusterStatus) (string, bool) {
					n, there := s.Node(args[0])
					return fmt.Sprintf("%s leads %d groups", args[0], n.Leads), s.Controller != "" && (!there ||
						n.Draining && n.Leads == 0)
				})
			}
			if err != nil {
				return fmt.Errorf("cluster drain: %w", err)
			}
			return w.answer(c, s.Raw, func(out io.Writer) {
				if undo {
					fmt.Fprintf(out, "%s may lead again.\n", args[0])
					return
				}
				fmt.Fprintf(out, "%s leads nothing: it can be stopped. Started again it takes part as before.\n", args[0])
			})
		},
	}
	c.Flags().BoolVar(&undo, "undo", false, "let it lead again without a restart")
	c.Flags().DurationVar(&wait, "wait", time.Minute, "how long to wait until it is done; 0 only gives the order")
	return c
}

func newClusterRemove(w world, at *operatorFlags) *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use: "remove NODE", Short: "Remove a node for good, alive or dead, once its replicas are elsewhere",
		Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			s, err := operator.RemoveNode(c.Context(), args[0])
			if err == nil {
				s, err = follow(c.Context(), w, operator, wait, s, func(s client.ClusterStatus) (string, bool) {
					n, there := s.Node(args[0])
					return fmt.Sprintf("%s has %d replicas", args[0], n.Voters+n.Learners), s.Controller != "" && !there
				})
			}
			if err != nil {
				return fmt.Errorf("cluster remove: %w", err)
			}
			return w.answer(c, s.Raw, func(out io.Writer) {
				if _, there := s.Node(args[0]); there {
					fmt.Fprintf(out, "%s will be removed as soon as nothing depends on it.\n", args[0])
					return
				}
				fmt.Fprintf(out, "%s is removed. Stop it if it runs; its data directory is of no use any more.\n", args[0])
			})
		},
	}
	c.Flags().DurationVar(&wait, "wait", 30*time.Minute, "how long to wait until it is done; 0 only gives the order")
	return c
}

// follow tells how far an order is until it is done.
func follow(ctx context.Context, w world, operator *client.Client, wait time.Duration, s client.ClusterStatus,
	look func(client.ClusterStatus) (string, bool),
) (client.ClusterStatus, error) {
	until := w.clock.Now().Add(wait)
	told := ""
	for {
		text, done := look(s)
		if done || wait == 0 {
			return s, nil
		}
		if text != told {
			fmt.Fprintln(w.err, text)
			told = text
		}
		if w.clock.Now().After(until) {
			return s, fmt.Errorf("not done after %v: %s; `orgmem cluster status` says what it waits for", wait, text)
		}
		if err := clock.Wait(ctx, w.clock, lookEvery); err != nil {
			return s, err
		}
		fresh, err := operator.ClusterStatus(ctx)
		if err != nil {
			// The node that is asked may be the one that stops.
			fmt.Fprintln(w.err, err)
			continue
		}
		s = fresh
	}
}
