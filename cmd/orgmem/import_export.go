package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/restore"
)

// documentBuffer is how much of a document is read at a time.
const documentBuffer = 1 << 20

func newImportExport(w world) *cobra.Command {
	var (
		at   operatorFlags
		org  string
		user string
	)
	c := &cobra.Command{
		Use: "import-export FILE", Short: "Bring an exported document back, into any organization (operator)",
		Long: "Reads a document that GET /v1/exports/{export_id}/download gave, and restores its memories:\n" +
			"a subject's under the subject's id, a member's for the same person (by id or e-mail address)\n" +
			"or for --user. What is there already stays, so an interrupted import is simply repeated.",
		Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) (err error) {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			id, err := organization(c.Context(), operator, org)
			if err != nil {
				return err
			}
			file, err := os.Open(args[0])
			if err != nil {
				return fmt.Errorf("import-export: %w", err)
			}
			defer func() { err = errors.Join(err, file.Close()) }()
			sum, err := restore.Import(c.Context(), bufio.NewReaderSize(file, documentBuffer), restore.Options{
				User: user,
				Send: func(ctx context.Context, part restore.Part) (restore.Answer, error) {
					r, err := operator.Restore(ctx, id, part)
					return restore.Answer{NodeIDs: r.NodeIDs, Created: r.Created, Unchanged: r.Unchanged, Unread: r.Unread}, err
				},
			})
			if err != nil {
				return fmt.Errorf("import-export: after %d nodes: %w", sum.Created+sum.Unchanged, err)
			}
			return w.answer(c, sum, func(out io.Writer) {
				fmt.Fprintf(out, "%d memories: %d nodes restored, %d were there, %d edges\n", sum.Partitions, sum.Created,
					sum.Unchanged, sum.Edges)
			})
		},
	}
	at.register(w, c)
	c.Flags().StringVar(&org, "org", "", "the organization, by id or slug")
	c.Flags().StringVar(&user, "user", "", "the member into whose memory a member's goes (default: the same person)")
	required(c, "org")
	return c
}
