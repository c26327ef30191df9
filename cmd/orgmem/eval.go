package main

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	pb "orgmem/proto"
)

// historyShown is how many reports eval looks at: as many as the service keeps.
const historyShown = 100

// evalFlags are those of eval.
type evalFlags struct {
	memory              memoryFlags
	all, history, watch bool
}

func newEval(w world) *cobra.Command {
	var f evalFlags
	c := &cobra.Command{
		Use: "eval", Short: "Tell whether a memory is any good",
		Long: "Asks the key owner's memory, with --subject a subject's, with --all all memories of the organization,\n" +
			"about its own content, and says what it finds, what is there twice, what no longer holds, and what to do about it\n" +
			"(docs/quality.md). It runs in the service, behind everything else, and keeps counts only.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runEval(c, w, f) },
	}
	f.memory.register(w, c)
	c.Flags().BoolVar(&f.all, "all", false, "all memories of the organization; needs a key with the scope admin")
	c.Flags().BoolVar(&f.history, "history", false, "evaluate nothing, and list what evaluations found before")
	c.Flags().BoolVar(&f.watch, "watch", false, "say on standard error how far it is")
	return c
}

func runEval(c *cobra.Command, w world, f evalFlags) error {
	scope := pb.QualityScopeUser
	switch {
	case f.all && f.memory.subject != "":
		return fmt.Errorf("%w: --all and --subject exclude each other", errUsage)
	case f.all:
		scope = pb.QualityScopeOrg
	}
	service, err := f.memory.client(w)
	if err != nil {
		return err
	}
	if f.history {
		reports, raw, err := service.Reports(c.Context(), scope, historyShown)
		if err != nil {
			return evalError(err, f.all)
		}
		return w.answer(c, raw, func(out io.Writer) { printHistory(out, reports) })
	}
	var key [16]byte
	if _, err := io.ReadFull(rand.Reader, key[:]); err != nil {
		return fmt.Errorf("eval: random: %w", err)
	}
	var progress func(done, total uint64)
	if f.watch {
		progress = func(done, total uint64) { fmt.Fprintf(w.err, "orgmem: %d of %d memories asked about\n", done, total) }
	}
	job, err := service.Evaluate(c.Context(), scope, "eval-"+hex.EncodeToString(key[:]), progress)
	if err != nil {
		return evalError(err, f.all)
	}
	reports, raw, err := service.Reports(c.Context(), scope, historyShown)
	if err != nil {
		return evalError(err, f.all)
	}
	for i := range reports {
		if reports[i].JobID != job {
			continue
		}
		var before *client.Report
		if i+1 < len(reports) {
			before = &reports[i+1]
		}
		one, err := nth(raw, i)
		if err != nil {
			return err
		}
		return w.answer(c, one, func(out io.Writer) { printQuality(out, &reports[i], before) })
	}
	return fmt.Errorf("eval: the report of job %s is gone: the memory was purged meanwhile", job)
}

// nth is an entry of a page as the service wrote it.
func nth(raw json.RawMessage, i int) (json.RawMessage, error) {
	var page struct {
		Data []json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &page); err != nil {
		return nil, fmt.Errorf("eval: %w", err)
	}
	return page.Data[i], nil
}

func evalError(err error, all bool) error {
	if all && client.IsCode(err, pb.CodePermissionDenied) {
		return fmt.Errorf("eval: the key needs the scope %s: %w", pb.ScopeAdmin, err)
	}
	return fmt.Errorf("eval: %w", err)
}

// finding is a line of the table: a share, what it is of, and what to do where it is bad.
type finding struct {
	what   string
	share  func(*client.Report) client.Share
	bad    func(client.Share) bool
	advice string
}

// Shares from which on something is advised. They are where a person would notice: every fifth question fails, every
// twentieth memory is there twice.
const (
	goodRecall = 0.8
	fewShare   = 0.05
)

var findings = []finding{
	{"found first", func(r *client.Report) client.Share { return r.Recall.At1 }, nil, ""},
	{"found among 5", func(r *client.Report) client.Share { return r.Recall.At5 }, nil, ""},
	{
		"found among 10", func(r *client.Report) client.Share { return r.Recall.At10 },
		func(s client.Share) bool { return s.Of > 0 && s.High < goodRecall },
		"set qualityMode thorough, give notes titles that say what they are about, and train the brain",
	},
	{
		"never found", func(r *client.Report) client.Share { return r.Unfound },
		func(s client.Share) bool { return s.Low > fewShare },
		"notes of few words are found by nothing: add what they are about, or forget them",
	},
	{
		"told twice", func(r *client.Report) client.Share { return r.NearDuplicates },
		func(s client.Share) bool { return s.Low > fewShare },
		"send what changes under one externalId, so that it takes the old text's place",
	},
	{
		"no longer holds", func(r *client.Report) client.Share { return r.Stale },
		func(s client.Share) bool { return s.Share > fewShare },
		"supersede or forget what has ended, and what was derived from it",
	},
	{
		"old before new", func(r *client.Report) client.Share { return r.FormerFirst },
		func(s client.Share) bool { return s.Share > fewShare },
		"supersede the old statement, or ask with asOf",
	},
	{
		"contradicted", func(r *client.Report) client.Share { return r.Contradicted },
		func(s client.Share) bool { return s.Count > 0 },
		"GET /v1/contradictions lists them: supersede the side that is wrong",
	},
}

// printQuality prints a report as a table, beside the one before it.
func printQuality(out io.Writer, r, before *client.Report) {
	more := ""
	if r.Partial {
		more = " at least"
	}
	fmt.Fprintf(out, "%s%s, %d asked about, in %s\n", howMany(int(r.Memories), "memory", "memories"), more, r.Sampled,
		languagesOf(r))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\tshare\t95 % between\tcount\tbefore")
	for _, f := range findings {
		s := f.share(r)
		was := "-"
		if before != nil {
			if b := f.share(before); b.Of > 0 {
				was = percent(b.Share)
			}
		}
		if s.Of == 0 {
			fmt.Fprintf(t, "%s\t-\t-\t0 of 0\t%s\n", f.what, was)
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s to %s\t%d of %d\t%s\n", f.what, percent(s.Share), percent(s.Low), percent(s.High), s.Count,
			s.Of, was)
	}
	t.Flush() //nolint:errcheck // as every print of this command
	for _, k := range r.ByKind {
		fmt.Fprintf(out, "by %s: %s of %d among 10\n", k.Kind, percent(k.Recall.At10.Share), k.Recall.Questions)
	}
	fmt.Fprintln(out, "What to do:")
	advised := false
	for _, f := range findings {
		if s := f.share(r); f.bad != nil && f.bad(s) {
			advised = true
			fmt.Fprintf(out, "- %s (%s): %s.\n", f.what, percent(s.Share), f.advice)
		}
	}
	switch {
	case r.Recall.Questions == 0:
		fmt.Fprintln(out, "- there is nothing to ask about yet: add notes of some sentences.")
	case !advised:
		fmt.Fprintln(out, "- nothing: it finds what it holds.")
	}
}

// languagesOf names the languages with their shares.
func languagesOf(r *client.Report) string {
	const few = 5
	if len(r.Languages) == 0 {
		return "no language"
	}
	var names []string
	for _, l := range r.Languages[:min(few, len(r.Languages))] {
		names = append(names, fmt.Sprintf("%s %s", printable(l.Language), percent(l.Memories.Share)))
	}
	if left := len(r.Languages) - few; left > 0 {
		names = append(names, fmt.Sprintf("and %d more", left))
	}
	return strings.Join(names, ", ")
}

func percent(x float64) string { return fmt.Sprintf("%.0f %%", 100*x) }

// printHistory prints a line for each report.
func printHistory(out io.Writer, reports []client.Report) {
	if len(reports) == 0 {
		fmt.Fprintln(out, "No evaluations yet: run orgmem eval.")
		return
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "when\tmemories")
	for _, f := range findings {
		fmt.Fprint(t, "\t"+f.what)
	}
	fmt.Fprintln(t)
	for i := range reports {
		fmt.Fprintf(t, "%s\t%d", printable(reports[i].At), reports[i].Memories)
		for _, f := range findings {
			if s := f.share(&reports[i]); s.Of > 0 {
				fmt.Fprintf(t, "\t%s", percent(s.Share))
			} else {
				fmt.Fprint(t, "\t-")
			}
		}
		fmt.Fprintln(t)
	}
	t.Flush() //nolint:errcheck // as every print of this command
}
