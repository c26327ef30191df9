package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cluster"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
)

// recovered is what `cluster recover` tells.
type recovered struct {
	Server string     `json:"server"`
	Done   bool       `json:"done"` // else only looked
	Groups int        `json:"groups"`
	Newest string     `json:"newest,omitempty"`
	Lost   []lostNode `json:"lost"`
}

type lostNode struct {
	ID      string `json:"id"`
	Name    string `json:"name,omitempty"`
	Address string `json:"address,omitempty"`
}

// errUnconfirmed ends a look: a script must not take it for a recovery.
var errUnconfirmed = errors.New("nothing was changed: name the lost nodes with --lost to confirm")

func newClusterRecover(w world) *cobra.Command {
	var settings settingFlags
	var names []string
	c := &cobra.Command{
		Use:   "recover",
		Short: "Let a stopped node go on alone after the disks of a majority are gone for good; what only they had is lost",
		Args:  noArgs,
		RunE: func(c *cobra.Command, _ []string) (err error) {
			server, _, err := settings.load(c, w)
			if err != nil {
				return err
			}
			creds, err := readCredentials(server.Data)
			if err != nil {
				return err
			}
			if creds == nil {
				return fmt.Errorf("cluster recover: %s belongs to no cluster", server.Data)
			}
			log := newLogger(w, server)
			store, err := openStorage(w, server, log)
			if err != nil {
				return fmt.Errorf("cluster recover: %w (a server that runs on this directory must be stopped first)", err)
			}
			defer closeWith(&err, "storage", store.Close)
			cfg := cluster.RecoverConfig{Storage: store, Credentials: creds, Clock: w.clock, Logger: log}
			loss, err := cluster.SurveyLoss(cfg)
			if err != nil {
				return err
			}
			if len(names) > 0 {
				lost, err := lostByName(loss.Nodes, names)
				if err != nil {
					return err
				}
				if loss, err = cluster.Recover(c.Context(), cfg, lost...); err != nil {
					return err
				}
			}
			told := tellLoss(loss, len(names) > 0)
			if err := w.answer(c, told, func(out io.Writer) { printLoss(out, told, server.Data) }); err != nil || told.Done {
				return err
			}
			return errUnconfirmed
		},
	}
	settings.register(c)
	c.Flags().StringSliceVar(&names, "lost", nil, "id or name of a node whose disk is gone for good; all of them have "+
		"to be named")
	return c
}

// lostByName finds the nodes that the operator names by id, or by name where only
// one has it.
func lostByName(nodes []*pb.NodeEntry, names []string) ([]wire.ServerID, error) {
	var lost []wire.ServerID
	for _, name := range names {
		var found []wire.ServerID
		for _, n := range nodes {
			if n.GetServer() == name {
				found = []wire.ServerID{wire.ServerID(name)}
				break
			}
			if n.GetName() == name {
				found = append(found, wire.ServerID(n.GetServer()))
			}
		}
		if len(found) != 1 {
			return nil, fmt.Errorf("%w: %d nodes besides this one have the id or name %q; without --lost all are shown",
				errUsage, len(found), name)
		}
		lost = append(lost, found[0])
	}
	return lost, nil
}

func tellLoss(l cluster.Loss, done bool) recovered {
	r := recovered{Server: string(l.Server), Done: done, Groups: len(l.Groups), Lost: []lostNode{}}
	if !l.Newest.IsZero() {
		r.Newest = l.Newest.UTC().Format(time.RFC3339)
	}
	for _, n := range l.Nodes {
		r.Lost = append(r.Lost, lostNode{n.GetServer(), n.GetName(), n.GetAddress()})
	}
	return r
}

func printLoss(out io.Writer, r recovered, data string) {
	if r.Done {
		fmt.Fprintf(out, "%s goes on alone: start it, and let new machines join. Never start the others again with their "+
			"old disks.\n", r.Server)
	} else {
		fmt.Fprintf(out, "%s would go on alone with its own copy of %d groups that have no majority any more.\n\n",
			r.Server, r.Groups)
		fmt.Fprintf(out, "  EVERYTHING THAT ONLY THE OTHERS HAVE IS LOST, also where it was acknowledged.\n  The newest "+
			"entry here is of %s.\n",
			cmp.Or(r.Newest, "a time before this node's logs were last cut"))
	}
	fmt.Fprintln(out, "\nGiven up for good:")
	var again strings.Builder
	for _, n := range r.Lost {
		fmt.Fprintf(out, "  %s  %s  %s\n", n.ID, n.Name, n.Address)
		fmt.Fprintf(&again, " --lost %s", n.ID)
	}
	if !r.Done {
		fmt.Fprintf(out, "\nIf a majority can come back with its disks, start those machines instead. If not, and only "+
			"then:\n\n  orgmem cluster recover --data %s%s\n", data, &again)
	}
}
