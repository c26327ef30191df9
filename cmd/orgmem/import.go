package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

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
		return nil, fmt.Errorf("no API key: set %s, for example to the content of quickstart.key in the data directory",
			config.EnvAPIKey)
	}
	return client.New(client.Options{
		Base: f.base, APIKey: key, Subject: f.subject, Clock: w.clock, Waiting: w.waiting(), Advice: baseAdvice,
	})
}

// baseAdvice is for those who work on a memory where nobody answers.
const baseAdvice = "start the service (orgmem serve), or give its address with --base or in " + config.EnvBase

// waitingAgain is how long the same reason for a wait is not said again: the calls of
// an import that meets a limit wait by the dozen.
const waitingAgain = 30 * time.Second

// waiting tells the person why nothing happens.
func (w world) waiting() func(why error) {
	var mu sync.Mutex
	var said string
	var at time.Time
	return func(why error) {
		mu.Lock()
		defer mu.Unlock()
		now := w.clock.Now()
		if why.Error() == said && now.Sub(at) < waitingAgain {
			return
		}
		said, at = why.Error(), now
		fmt.Fprintf(w.err, "orgmem: %v\n", why)
	}
}

func newImport(w world) *cobra.Command {
	var memory memoryFlags
	var foreign migrationFlags
	c := &cobra.Command{
		Use: "import PATH...", Short: "Take in files and folders; unchanged files are skipped",
		Long: "Takes in the files at and below each PATH, of every format that the service reads (docs/imports.md),\n" +
			"and waits until they can be found. A file's external id is its path below PATH, marked where\n" +
			"a file from elsewhere has that already. Unchanged files are skipped, changed ones replace what they\n" +
			"were. What was forgotten in the service since does not come back, unless --again says so. An interrupted\n" +
			"import goes on where it stopped.\n\n" +
			"With --from the PATHs are an export of another memory product (docs/migration.md): each of its users\n" +
			"gets a subject. What orgmem export wrote as Markdown is known by itself.",
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 && foreign.url == "" {
				return usageArgs(cobra.MinimumNArgs(1))(c, args)
			}
			migration, err := foreign.wanted(c, args)
			if err != nil {
				return err
			}
			if migration {
				return runMigration(c, w, memory, foreign, args)
			}
			hint(w.err, args)
			return runImport(c, w, memory, args, foreign.again)
		},
	}
	memory.register(w, c)
	foreign.register(c)
	return c
}

func runImport(c *cobra.Command, w world, memory memoryFlags, paths []string, again bool) (err error) {
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
	show, finish := progress(w, files)
	summary, err := importer.Import(c.Context(), importer.Options{
		Service: service, State: state, Clock: w.clock, Progress: show, Again: again,
	}, files, skipped)
	finish()
	if state.Distrusted != "" {
		fmt.Fprintf(w.err, "What was remembered of earlier imports is not used: %s.\n", state.Distrusted)
	}
	if len(files)+len(skipped) == 0 {
		fmt.Fprintln(w.err, "There is no file at or below what was named.")
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
// log full of redrawn bars helps nobody. Both go by bytes, since files differ.
func progress(w world, files []importer.File) (show func(importer.Progress), finish func()) {
	if len(files) == 0 {
		return nil, func() {}
	}
	began := w.clock.Now()
	var last atomic.Pointer[importer.Progress]
	last.Store(&importer.Progress{TotalFiles: len(files)})
	rates := func() string { return ratesOf(*last.Load(), w.clock.Now().Sub(began)) }
	if file, ok := w.err.(*os.File); ok && isTerminal(file) {
		bars := mpb.New(mpb.WithOutput(file), mpb.WithWidth(32))
		bar := bars.AddBar(0,
			mpb.PrependDecorators(decor.Any(func(decor.Statistics) string {
				p := last.Load()
				return fmt.Sprintf("importing %d of %d ", p.Files, p.TotalFiles)
			})),
			mpb.AppendDecorators(decor.Percentage(), decor.Any(func(decor.Statistics) string { return "  " + rates() })))
		return func(p importer.Progress) {
				last.Store(&p)
				bar.SetTotal(p.TotalBytes, false)
				bar.SetCurrent(p.Bytes)
			},
			func() { bar.Abort(false); bars.Wait() }
	}
	tenth := int64(0)
	return func(p importer.Progress) {
		last.Store(&p)
		if now := 10 * p.Bytes / max(p.TotalBytes, 1); now > tenth {
			tenth = now
			fmt.Fprintf(w.err, "imported %d of %d files, %s\n", p.Files, p.TotalFiles, rates())
		}
	}, func() {}
}

// ratesOf says how fast it went, and how long the rest takes at that speed.
func ratesOf(p importer.Progress, elapsed time.Duration) string {
	const mib = 1 << 20
	seconds := max(elapsed.Seconds(), 0.001)
	said := fmt.Sprintf("%.1f files/s, %.2f MiB/s", float64(p.Files)/seconds, float64(p.Bytes)/mib/seconds)
	if p.Bytes == 0 || p.Bytes >= p.TotalBytes {
		return said
	}
	left := time.Duration(float64(elapsed) / float64(p.Bytes) * float64(p.TotalBytes-p.Bytes))
	return said + ", " + left.Round(time.Second).String() + " left"
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// shownFiles is how many files are listed for one reason before "and N more";
// --json lists all.
const shownFiles = 5

func printSummary(out io.Writer, s importer.Summary) {
	fmt.Fprintf(out, "%d created, %d superseded, %d unchanged, %d skipped, %d failed; %d documents taken in\n",
		s.Created, s.Superseded, s.Unchanged, len(s.Skipped), len(s.Failed), s.Documents)
	if s.Queued > 0 {
		fmt.Fprintf(out, "  %d documents are with the service, which goes on with them\n", s.Queued)
	}
	if s.Forgotten > 0 {
		fmt.Fprintf(out, "  not taken: %s forgotten here since an earlier import\n", howMany(s.Forgotten, "document that was",
			"documents that were"))
	}
	if s.Emptied {
		fmt.Fprintln(out, "  this memory seems to hold nothing any more of what an earlier import took in")
	}
	if s.Forgotten > 0 || s.Emptied {
		fmt.Fprintln(out, "  --again takes in once more what was forgotten or erased")
	}
	printReasons(out, "skipped", s.Skipped)
	printReasons(out, "failed", s.Failed)
}

func printReasons(out io.Writer, what string, files []importer.Skipped) {
	byReason := make(map[string][]string)
	for _, f := range files {
		where := f.Path
		if f.Part != "" {
			where += " (" + f.Part + ")"
		}
		byReason[f.Reason] = append(byReason[f.Reason], where)
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
