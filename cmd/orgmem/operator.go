package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	pb "orgmem/proto"
)

// operatorFlags says how operator commands find the server and its token.
type operatorFlags struct{ address, tokenFile, data string }

func (f *operatorFlags) register(w world, c *cobra.Command) {
	flags := c.PersistentFlags()
	flags.StringVar(&f.address, "operator", w.env(config.EnvOperator, config.DefaultOperator),
		"address of the operator interface")
	flags.StringVar(&f.tokenFile, "operator-token", w.env(config.EnvOperatorToken, ""),
		"file with the operator's token (default: operator.token in --data)")
	flags.StringVar(&f.data, "data", w.env("ORGMEM_DATA", "./data"), "the server's data directory")
}

// maxTokenFile bounds the token file; a token has 64 characters.
const maxTokenFile = 4096

func (f *operatorFlags) client(w world) (*client.Client, error) {
	path := f.tokenFile
	if path == "" {
		path = filepath.Join(f.data, config.OperatorToken)
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("no operator token at %s: start the server first, or name its data directory with --data or "+
			"the file with --operator-token", path)
	}
	if err != nil {
		return nil, fmt.Errorf("operator token: %w", err)
	}
	token := strings.TrimSpace(string(raw))
	if token == "" || len(raw) > maxTokenFile {
		return nil, fmt.Errorf("operator token: %s does not hold a token", path)
	}
	return client.New(client.Options{
		Base: f.address, Token: token, Clock: w.clock, Waiting: w.waiting(),
		Advice: "start the server, or give the address of its operator interface with --operator",
	})
}

// organization reads ORG as an id, or finds it by its slug.
func organization(ctx context.Context, c *client.Client, arg string) (pb.OrgID, error) {
	if org, err := pb.ParseOrgID(arg); err == nil {
		return org, nil
	}
	orgs, err := c.Orgs(ctx)
	if err != nil {
		return pb.OrgID{}, err
	}
	for _, o := range orgs {
		if o.Slug == arg {
			return pb.ParseOrgID(o.OrgID)
		}
	}
	return pb.OrgID{}, fmt.Errorf("no organization has the id or slug %q", arg)
}
