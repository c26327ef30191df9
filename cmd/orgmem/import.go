package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/importer"
	pb "orgmem/proto"
)

// memoryFlags say which memory a client command works on.
type memoryFlags struct{ base, subject string }

func (f *memoryFlags) register(w world, c *cobra.Command) {
	c.Flags().StringVar(&f.base, "base", w.env(config.EnvBase, config.DefaultBase), "address of the service")
	c.Flags().StringVar(&f.subject, "subject", "", "act as this provisioned subject (default: the key's owner)")
}

func (f *memoryFlags) client(w world) (*client.Client, error) {
	key := w.env(config.EnvAPIKey, "")
	if key == "" {
		return nil, fmt.Errorf("no API key: set %s, for example to the content of quickstart.key in the data directory", config.EnvAPIKey)
	}
	return client.New(client.Options{Base: f.base, APIKey: key, Subject: f.subject, Clock: w.clock})
}

func newImport(w world) *cobra.Command {
	var memory memoryFlags
	c := &cobra.Command{
		Use: "import PATH...", Short: "Take in files and folders; unchanged files are skipped",
		Long: "Takes in the text files at and below each PATH and waits until they can be found.\n" +
			"A file's external id is its path below PATH. Unchanged files are skipped, changed ones\n" +
			"replace what they were. An interrupted import goes on where it stopped.",
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return runImport(c, w, memory, args) },
	}
	memory.register(w, c)
	return c
}

func runImport(c *cobra.Command, w world, memory memoryFlags, paths []string) (err error) {
	service, err := memory.client(w)
	if err != nil {
		return err
	}
	files, skipped, err := importer.Scan(paths)
	if err != nil {
		return err
	}
	target, err := targetOf(c, service, memory.subject)
	if err != nil {
		return err
	}
	dir, err := stateDir(w)
	if err != nil {
		return err
	}
	state, err := importer.OpenState(dir, target)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, state.Close()) }()
	show, finish := progress(w, len(files))
	summary, err := importer.Import(c.Context(), importer.Options{
		Service: service, State: state, Clock: w.clock, Progress: show,
	}, files, skipped)
	finish()
	if state.Distrusted != "" {
		fmt.Fprintf(w.err, "What was remembered of earlier imports is not used: %s.\n", state.Distrusted)
	}
	if aerr := w.answer(c, summary, func(out io.Writer) { printSummary(out, summary) }); aerr != nil {
		return errors.Join(err, aerr)
	}
	if err != nil {
		return fmt.Errorf("import stopped, run it again to go on: %w", err)
	}
	if len(summary.Failed) > 0 {
		return errSilent
	}
	return nil
}

// targetOf asks the service who we are: the state of another organization or
// member must never be taken for ours.
func targetOf(c *cobra.Command, service *client.Client, subject string) (importer.Target, error) {
	me, err := service.Me(c.Context())
	if err != nil {
		return importer.Target{}, fmt.Errorf("who is this key: %w", err)
	}
	org, err := pb.ParseOrgID(me.Org.ID)
	if err != nil {
		return importer.Target{}, fmt.Errorf("who is this key: %w", err)
	}
	user, err := pb.ParseUserID(me.User.ID)
	if err != nil {
		return importer.Target{}, fmt.Errorf("who is this key: %w", err)
	}
	return importer.Target{Base: service.Base(), Org: org, User: user, Subject: pb.SubjectKey(subject)}, nil
}

// stateDir follows the XDG base directories: a cache directory would do too,
// but caches are deleted by tools, and everything would be sent again.
func stateDir(w world) (string, error) {
	home := w.env(config.EnvStateHome, "")
	if home == "" {
		user := w.env("HOME", "")
		if user == "" {
			return "", fmt.Errorf("import: set HOME or %s, to remember what was sent", config.EnvStateHome)
		}
		home = filepath.Join(user, ".local", "state")
	}
	return filepath.Join(home, "orgmem", "import"), nil
}

// progress shows a bar on a terminal, and a line for each tenth elsewhere: a
// log full of redrawn bars helps nobody.
func progress(w world, total int) (show func(importer.Progress), finish func()) {
	if total == 0 {
		return nil, func() {}
	}
	if file, ok := w.err.(*os.File); ok && isTerminal(file) {
		bars := mpb.New(mpb.WithOutput(file), mpb.WithWidth(48))
		bar := bars.AddBar(int64(total),
			mpb.PrependDecorators(decor.Name("importing "), decor.CountersNoUnit("%d of %d")),
			mpb.AppendDecorators(decor.Percentage(), decor.Name("  "), decor.OnComplete(decor.AverageETA(decor.ET_STYLE_GO), "done")))
		return func(p importer.Progress) { bar.SetCurrent(int64(p.Done)) },
			func() { bar.Abort(false); bars.Wait() }
	}
	tenth := 0
	return func(p importer.Progress) {
		if now := 10 * p.Done / p.Total; now > tenth {
			tenth = now
			fmt.Fprintf(w.err, "imported %d of %d\n", p.Done, p.Total)
		}
	}, func() {}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// shownFiles is how many files are listed for one reason before "and N more";
// --json lists all.
const shownFiles = 5

func printSummary(out io.Writer, s importer.Summary) {
	fmt.Fprintf(out, "%d taken in, %d unchanged, %d skipped, %d failed\n", s.Taken, s.Unchanged, len(s.Skipped), len(s.Failed))
	printReasons(out, "skipped", s.Skipped)
	printReasons(out, "failed", s.Failed)
}

func printReasons(out io.Writer, what string, files []importer.Skipped) {
	byReason := make(map[string][]string)
	for _, f := range files {
		byReason[f.Reason] = append(byReason[f.Reason], f.Path)
	}
	reasons := make([]string, 0, len(byReason))
	for reason := range byReason {
		reasons = append(reasons, reason)
	}
	slices.Sort(reasons)
	for _, reason := range reasons {
		paths := byReason[reason]
		more := ""
		if len(paths) > shownFiles {
			more = fmt.Sprintf(" and %d more", len(paths)-shownFiles)
			paths = paths[:shownFiles]
		}
		fmt.Fprintf(out, "  %s, %s: %s%s\n", what, reason, strings.Join(paths, ", "), more)
	}
}
