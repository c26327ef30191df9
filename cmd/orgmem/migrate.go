package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/importer"
	"orgmem/cmd/orgmem/internal/migrate"
	"orgmem/cmd/orgmem/internal/vault"
)

// migrationFlags say how an export of another product is taken in.
type migrationFlags struct {
	from       string
	url        string
	users      []string
	dry, merge bool
	again      bool
}

func (f *migrationFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.from, "from", "", "the product that wrote the PATHs: "+strings.Join(migrate.Names(), ", ")+
		"; "+migrate.Auto+" finds it out")
	c.Flags().StringVar(&f.url, "url", "", "with --from: page through the product's own server ("+
		strings.Join(migrate.ServedBy(), ", ")+") with the key in "+config.EnvFromKey)
	c.Flags().StringArrayVar(&f.users, "user", nil, "with --url: only this user's memories; may be given several times")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "with --from: send nothing, and say what would be taken, and what not")
	c.Flags().BoolVar(&f.merge, "merge-users", false,
		"with --from: take everybody's memories into one memory, the key owner's or that of --subject")
	c.Flags().BoolVar(&f.again, "again", false, "take in once more what was taken in before, also what was forgotten "+
		"since; with --from: and provision erased subjects again")
}

// wanted reports whether it is a migration, and not an import of files.
func (f *migrationFlags) wanted(c *cobra.Command, paths []string) (bool, error) {
	if f.from != "" {
		switch {
		case f.url != "" && len(paths) > 0:
			return false, fmt.Errorf("%w: --url takes no PATH", errUsage)
		case f.url != "" && !slices.Contains(migrate.ServedBy(), f.from):
			return false, fmt.Errorf("%w: --url goes with --from %s; of others export to a file", errUsage,
				strings.Join(migrate.ServedBy(), ", "))
		case f.url == "" && len(f.users) > 0:
			return false, fmt.Errorf("%w: --user goes with --url", errUsage)
		}
		if f.from != migrate.Auto && !slices.Contains(migrate.Names(), f.from) {
			return false, fmt.Errorf("%w: --from %s: there are %s, and %s", errUsage, f.from,
				strings.Join(migrate.Names(), ", "), migrate.Auto)
		}
		return true, nil
	}
	own := 0
	for _, p := range paths {
		if _, err := os.Stat(filepath.Join(p, vault.Manifest)); err == nil {
			own++
		}
	}
	switch {
	case own > 0 && own < len(paths):
		return false, fmt.Errorf("%w: import the folders that orgmem export wrote apart from the others", errUsage)
	case own > 0:
		f.from = migrate.Own
		return true, nil
	}
	for _, name := range []string{"dry-run", "merge-users", "url", "user"} {
		if c.Flags().Changed(name) {
			return false, fmt.Errorf("%w: --%s goes with --from", errUsage, name)
		}
	}
	return false, nil
}

// maxHinted bounds the files that are looked into for a hint.
const maxHinted = 16

// hint tells who imports the export of another product as mere files what --from would do with it.
func hint(out io.Writer, paths []string) {
	for _, path := range paths[:min(len(paths), maxHinted)] {
		if from := migrate.WrittenBy(path); from != "" {
			fmt.Fprintf(out, "%s is an export of %s, and is taken as a file: into one memory, whoever's its memories are, and "+
				"with what is over. orgmem import --from %[2]s gives each user a subject, and leaves out what is over.\n",
				printable(path), from)
			return
		}
	}
}

// migrated is what the command prints with --json.
type migrated struct {
	DryRun bool `json:"dryRun"`
	migrate.Report
	*migrate.Summary
}

func runMigration(c *cobra.Command, w world, memory memoryFlags, f migrationFlags, paths []string) (err error) {
	found, clean, err := f.find(c, w, paths)
	defer func() { err = errors.Join(err, clean()) }()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, found.Close()) }()
	plan, err := migrate.Read(c.Context(), found, migrate.Options{
		From: f.from, Now: w.clock.Now(), Subject: memory.subject, Merge: f.merge,
	})
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	answer := migrated{DryRun: f.dry, Report: plan.Report}
	if !f.dry && plan.Notes > 0 {
		sum, serr := sendPlan(c, w, memory, plan, f.again)
		answer.Summary, err = &sum, serr
	}
	if aerr := w.answer(c, answer, func(out io.Writer) { printMigration(out, answer) }); aerr != nil {
		return errors.Join(err, aerr)
	}
	if err != nil {
		return fmt.Errorf("import stopped, run it again to go on: %w", err)
	}
	if len(answer.Faults) > 0 || answer.Summary != nil && len(answer.Failed) > 0 {
		return errSilent
	}
	return nil
}

// find finds what there is to read; clean removes what was written for it.
func (f *migrationFlags) find(c *cobra.Command, w world, paths []string) (*migrate.Found, func() error, error) {
	nothing := func() error { return nil }
	if f.url == "" {
		found, err := migrate.Find(paths)
		return found, nothing, err
	}
	dir, err := os.MkdirTemp("", "orgmem-import-") // mode 0700
	if err != nil {
		return nil, nothing, fmt.Errorf("import: %w", err)
	}
	clean := func() error { return os.RemoveAll(dir) }
	found, err := migrate.Fetch(c.Context(), f.from, dir, migrate.Server{
		Base: f.url, Key: w.env(config.EnvFromKey, ""), Users: f.users, Clock: w.clock,
	})
	if err != nil {
		return nil, clean, fmt.Errorf("import: %w", err)
	}
	return found, clean, nil
}

// asSubject is the service as a migration sees it.
type asSubject struct{ *client.Client }

// As implements migrate.Service.
func (s asSubject) As(subject string) importer.Service { return s.Client.As(subject) }

func sendPlan(c *cobra.Command, w world, memory memoryFlags, plan *migrate.Plan, again bool) (
	sum migrate.Summary, err error,
) {
	memory.subject = "" // the plan says whose each note is
	service, err := memory.client(w)
	if err != nil {
		return sum, err
	}
	target, err := targetOf(c, service, "")
	if err != nil {
		return sum, err
	}
	dir, err := stateDir(w)
	if err != nil {
		return sum, err
	}
	journal, err := migrate.OpenJournal(filepath.Join(filepath.Dir(dir), "migrate"), target.Base, target.Org.String(),
		target.User.String())
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, journal.Close()) }()
	tenth := 0
	sum, err = plan.Send(c.Context(), migrate.Target{
		Service: asSubject{service}, Journal: journal, Clock: w.clock, Again: again, Progress: func(done, total int) {
			if now := 10 * done / max(total, 1); now > tenth {
				tenth = now
				fmt.Fprintf(w.err, "imported %d of %d notes\n", done, total)
			}
		},
	})
	if journal.Distrusted != "" {
		fmt.Fprintf(w.err, "What was remembered of earlier imports is not used: %s.\n", journal.Distrusted)
	}
	return sum, err
}

// shownUsers are listed before "and N more"; --json lists all.
const shownUsers = 20

func printMigration(out io.Writer, m migrated) {
	verb := "to be taken in"
	if m.DryRun {
		verb = "would be taken in"
	}
	fmt.Fprintf(out, "%s: %s, %s %s\n", m.From, howMany(m.Files, "file", "files"), howMany(m.Notes, "note", "notes"), verb)
	for i, u := range m.Users {
		if i == shownUsers {
			fmt.Fprintf(out, "  and %d more users\n", len(m.Users)-i)
			break
		}
		fmt.Fprintf(out, "  %s: %s%s%s\n", printable(cmp.Or(u.User, "without a user")), howMany(u.Notes, "note", "notes"),
			whereTo(u), spanOf(u))
	}
	if m.Summary != nil {
		fmt.Fprintf(out, "%d created, %d superseded, %d unchanged, %d failed\n", m.Created, m.Superseded, m.Unchanged,
			len(m.Failed)+m.MoreFailed)
		printForgotten(out, *m.Summary)
	}
	if m.Repeated > 0 {
		fmt.Fprintf(out, "%d records stand in the export more than once, and are taken once\n", m.Repeated)
	}
	for _, l := range m.Left {
		fmt.Fprintf(out, "  not taken: %s that %s: %d, such as %s\n", l.What, l.Why, l.Count, printable(l.Examples[0]))
	}
	if len(m.Fields) > 0 {
		var said []string
		for _, name := range slices.Sorted(maps.Keys(m.Fields)) {
			said = append(said, fmt.Sprintf("%s (%d)", printable(name), m.Fields[name]))
		}
		fmt.Fprintf(out, "  without a counterpart, in so many records: %s\n", strings.Join(said, ", "))
	}
	printFaults(out, "passed over", m.Passed, 0)
	printFaults(out, "wrong", m.Faults, m.MoreFaults)
	if m.Summary != nil {
		printFaults(out, "failed", m.Failed, m.MoreFailed)
	}
}

// printForgotten says what is not there any more of what earlier imports took in.
func printForgotten(out io.Writer, s migrate.Summary) {
	if s.Forgotten > 0 {
		fmt.Fprintf(out, "  not taken: %s forgotten here since an earlier import\n", howMany(s.Forgotten, "note that was",
			"notes that were"))
	}
	named := func(subjects []string) string {
		var all []string
		for _, subject := range subjects[:min(len(subjects), shownUsers)] {
			all = append(all, printable(cmp.Or(subject, "the key owner's own")))
		}
		if more := len(subjects) - len(all); more > 0 {
			all = append(all, fmt.Sprintf("and %d more", more))
		}
		return strings.Join(all, ", ")
	}
	if len(s.Erased) > 0 {
		fmt.Fprintf(out, "  erased here since an earlier import, and not provisioned again: %s\n", named(s.Erased))
	}
	if len(s.Emptied) > 0 {
		fmt.Fprintf(out, "  memories that seem to hold nothing any more of what an earlier import took in: %s\n",
			named(s.Emptied))
	}
	if s.Forgotten+len(s.Erased)+len(s.Emptied) > 0 {
		fmt.Fprintln(out, "  --again takes in once more what was forgotten or erased")
	}
}

func whereTo(u migrate.User) string {
	switch {
	case u.Subject == u.User && u.User != "":
		return ""
	case u.Subject == "":
		return ", into the key owner's own memory"
	}
	return ", into the memory of " + printable(u.Subject)
}

func spanOf(u migrate.User) string {
	day := func(at string) string { return at[:min(len(at), len("2006-01-02"))] }
	if u.From == "" {
		return ""
	}
	return ", " + day(u.From) + " to " + day(u.To)
}

func printFaults(out io.Writer, what string, faults []migrate.Fault, more int) {
	var all []importer.Skipped
	for _, f := range faults {
		all = append(all, importer.Skipped{Path: printable(f.Path), Part: printable(f.Part), Reason: printable(f.Reason)})
	}
	printReasons(out, what, all)
	if more > 0 {
		fmt.Fprintf(out, "  and %d more\n", more)
	}
}
