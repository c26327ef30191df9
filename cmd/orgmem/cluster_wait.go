package main

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
)

// newcomer is for how long a node that is alive may hold nothing without anything
// being amiss: the controller waits ten seconds, and needs a round or two.
const newcomer = 15 * time.Second

func newClusterWait(w world, at *operatorFlags) *cobra.Command {
	var wait time.Duration
	c := &cobra.Command{
		Use: "wait", Short: "Wait until every group is as it should be", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			s, err := operator.ClusterStatus(c.Context())
			if err == nil {
				s, err = follow(c.Context(), w, operator, wait, s, func(s client.ClusterStatus) (string, bool) {
					text := w.amiss(s)
					return text, text == ""
				})
			}
			if err != nil {
				return fmt.Errorf("cluster wait: %w", err)
			}
			return w.answer(c, s.Raw, func(out io.Writer) {
				fmt.Fprintf(out, "All %d groups are as they should be.\n", len(s.Groups))
			})
		},
	}
	c.Flags().DurationVar(&wait, "wait", 30*time.Minute, "how long to wait")
	return c
}

// amiss says what is not as it should be, or not yet.
func (w world) amiss(s client.ClusterStatus) string {
	if s.Controller == "" {
		return "no controller answers"
	}
	for _, n := range s.Nodes {
		if n.Leaving {
			return n.ID + " is being removed"
		}
		since, err := time.Parse(time.RFC3339, n.Since)
		if err == nil && n.Voters+n.Learners <= 1 && w.clock.Now().Sub(since) < newcomer {
			return n.ID + " has just come" // and has the directory at most
		}
	}
	groups := amissGroups(s)
	if len(groups) > 0 {
		return fmt.Sprintf("%d of %d groups are not, %s", len(groups), len(s.Groups), groups[0])
	}
	return ""
}
