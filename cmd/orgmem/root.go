package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orgmem/proto/clock"
)

// Exit statuses; the package comment promises them.
const (
	exitDone        = 0
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// world is what commands see of the machine.
type world struct {
	in        io.Reader
	out, err  io.Writer
	lookupEnv func(string) (string, bool)
	environ   func() []string
	clock     clock.Clock
	program   string // as it was called, for commands that are printed to be pasted
}

// env returns a variable or fallback.
func (w world) env(name, fallback string) string {
	if v, ok := w.lookupEnv(name); ok && v != "" {
		return v
	}
	return fallback
}

// errUsage marks a command line that cannot be carried out.
var errUsage = errors.New("wrong usage")

// errSilent marks a failure that the command has already explained.
var errSilent = errors.New("explained")

// run carries out one command line and returns the exit status.
func run(ctx context.Context, args []string, w world) int {
	root := newRoot(w)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, errSilent):
		return exitFailed
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(w.err, "orgmem: interrupted")
		return exitInterrupted
	case errors.Is(err, errUsage):
		fmt.Fprintf(w.err, "orgmem: %v\nTry: orgmem help\n", err)
		return exitUsage
	}
	fmt.Fprintf(w.err, "orgmem: %v\n", err)
	return exitFailed
}

func newRoot(w world) *cobra.Command {
	root := &cobra.Command{
		Use:           "orgmem",
		Short:         "A memory for an organization: push text in, find it again by meaning",
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArgs,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(w.out)
	root.SetErr(w.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return fmt.Errorf("%w: %w", errUsage, err) })
	root.PersistentFlags().Bool("json", false, "print one JSON object")
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		newServe(w), newOrg(w), newMember(w), newKey(w), newCluster(w),
		newImport(w), newExport(w), newImportExport(w), newSessions(w), newPlugin(w), newSearch(w), newEval(w), newMCP(w),
		newWebhook(w), newBackup(w), newDoctor(w), newDebug(w), newConfig(w), newCompletion(w), newMan(w), newVersion(w),
	)
	return root
}

// wantArgs is cobra.ExactArgs with our exit status.
func wantArgs(n int) cobra.PositionalArgs { return usageArgs(cobra.ExactArgs(n)) }

func noArgs(c *cobra.Command, args []string) error { return usageArgs(cobra.NoArgs)(c, args) }

func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return fmt.Errorf("%w: %s: %w", errUsage, c.CommandPath(), err)
		}
		return nil
	}
}

// group is a command that only has subcommands.
func group(use, short string, subs ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{Use: use, Short: short, Args: noArgs, RunE: func(c *cobra.Command, _ []string) error {
		return fmt.Errorf("%w: %s needs a subcommand", errUsage, c.CommandPath())
	}}
	c.AddCommand(subs...)
	return c
}

// answer prints v as one JSON object with --json, and calls human without.
func (w world) answer(c *cobra.Command, v any, human func(io.Writer)) error {
	asJSON, err := c.Flags().GetBool("json")
	if err != nil {
		return err
	}
	if !asJSON {
		human(w.out)
		return nil
	}
	encoder := json.NewEncoder(w.out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
