package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/plugin"
)

func newPlugin(w world) *cobra.Command {
	return group("plugin", "Give coding assistants a memory",
		newPluginInstall(w), newPluginRemove(w), newPluginStatus(w), newPluginContext(w))
}

// pluginFlags are those of the commands that work on settings.
type pluginFlags struct{ project string }

func (f *pluginFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.project, "project", "", "the settings of a project, not your own (alone: of this folder)")
	c.Flags().Lookup("project").NoOptDefVal = "."
}

func (f *pluginFlags) where(w world) (plugin.Where, error) {
	at := plugin.Where{Home: w.env("HOME", ""), Env: w.env}
	if f.project != "" {
		var err error
		at.Project, err = filepath.Abs(f.project)
		return at, err
	}
	if at.Home == "" {
		return at, errors.New("plugin: set HOME, to find the settings")
	}
	return at, nil
}

func (f *pluginFlags) target(w world, assistant string) (plugin.Target, error) {
	at, err := f.where(w)
	if err != nil {
		return plugin.Target{}, err
	}
	t, err := plugin.For(assistant, at)
	if errors.Is(err, plugin.ErrAssistant) {
		err = fmt.Errorf("%w: %w", errUsage, err)
	}
	return t, err
}

// edit is what is edited, and where it is kept as it was.
func (f *pluginFlags) edit(w world, assistant string) (plugin.Target, plugin.Store, error) {
	t, err := f.target(w, assistant)
	if err != nil {
		return t, "", err
	}
	store, err := pluginStore(w)
	return t, store, err
}

// pluginStore is where settings files are kept as they were before.
func pluginStore(w world) (plugin.Store, error) {
	dir, err := stateDir(w)
	if err != nil {
		return "", err
	}
	return plugin.Store(filepath.Join(filepath.Dir(dir), "plugin")), nil
}

func newPluginInstall(w world) *cobra.Command {
	var f pluginFlags
	var base, keyFile string
	var insecure bool
	c := &cobra.Command{
		Use: "install ASSISTANT", Short: "Put hooks and the MCP server into an assistant's settings",
		Long: "Puts into the settings of " + strings.Join(plugin.Assistants(), " or ") + ": hooks that give the model\n" +
			"what memory knows when a session begins and at each prompt, a hook that sends the session when it ends,\n" +
			"and the MCP server. All else in the files stays, byte for byte. The key is read when they run: from\n" +
			"--key-file, or from " + config.EnvAPIKey + "; no settings file ever holds it.",
		Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			t, store, err := f.edit(w, args[0])
			if err != nil {
				return err
			}
			if f.project != "" && !c.Flags().Changed("base") {
				base = "" // the installer's own is not that of all who work on it
			}
			o, err := pluginOptions(base, keyFile, f.project != "", insecure)
			if err != nil {
				return err
			}
			changes, err := plugin.Install(t, o, store)
			return w.answerChanges(c, t.Assistant, "put in", changes, err)
		},
	}
	f.register(c)
	c.Flags().StringVar(&base, "base", w.env(config.EnvBase, ""),
		"address of the service, when they run\n(with --project: only if given)")
	c.Flags().StringVar(&keyFile, "key-file", "", "file with the API key, when they run; only you may be able to read it")
	c.Flags().BoolVar(&insecure, "allow-insecure", false, "send the key over plain HTTP to another machine")
	return c
}

// pluginOptions are how the commands are called that are put into settings.
func pluginOptions(base, keyFile string, project, insecure bool) (plugin.Options, error) {
	o := plugin.Options{Program: "orgmem", Base: base}
	if base != "" {
		u, err := url.Parse(base)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return o, fmt.Errorf("%w: %q is not an address such as %s", errUsage, base, config.DefaultBase)
		}
		if u.User != nil {
			return o, fmt.Errorf("%w: an address with a password in it would stand in the settings", errUsage)
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) && !insecure {
			return o, fmt.Errorf("%w: over plain HTTP anybody on the way to %s reads the key: give an https address, or "+
				"--allow-insecure", errUsage, u.Host)
		}
	}
	if project {
		if keyFile != "" {
			return o, fmt.Errorf("%w: the settings of a project are for all who work on it, and a file with your key is not: "+
				"leave --key-file out, and set %s", errUsage, config.EnvAPIKey)
		}
		return o, nil // found in the PATH of each of them
	}
	program, err := os.Executable()
	if err != nil {
		return o, fmt.Errorf("plugin: %w", err)
	}
	o.Program = program
	if keyFile != "" {
		if o.KeyFile, err = filepath.Abs(keyFile); err != nil {
			return o, fmt.Errorf("plugin: %w", err)
		}
		if _, err := privateKey(o.KeyFile); err != nil {
			return o, err
		}
	}
	return o, nil
}

// loopback reports whether a host is this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// privateKey reads a key from a file that only its owner may read.
func privateKey(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("key-file: %w", err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return "", fmt.Errorf("%w %s (its mode is %#o): chmod 600 it", errKeyFile, path, mode)
	}
	return keyFrom(path)
}

func newPluginRemove(w world) *cobra.Command {
	var f pluginFlags
	c := &cobra.Command{
		Use: "remove ASSISTANT", Short: "Take out what install has put in", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			t, store, err := f.edit(w, args[0])
			if err != nil {
				return err
			}
			changes, err := plugin.Remove(t, store)
			return w.answerChanges(c, "", "taken out", changes, err)
		},
	}
	f.register(c)
	return c
}

func (w world) answerChanges(c *cobra.Command, installed, what string, changes []plugin.Change, err error) error {
	if err != nil {
		return fmt.Errorf("plugin: %w", err)
	}
	any := false
	for _, change := range changes {
		any = any || change.Changed
	}
	answer := struct {
		Changed bool            `json:"changed"`
		Files   []plugin.Change `json:"files"`
	}{any, changes}
	return w.answer(c, answer, func(out io.Writer) {
		for _, change := range changes {
			if !change.Changed {
				fmt.Fprintf(out, "%s: nothing to do in %s\n", change.Holds, change.Path)
				continue
			}
			fmt.Fprintf(out, "%s: %s, %s\n", change.Holds, what, change.Path)
			if change.Backup != "" {
				fmt.Fprintf(out, "  as it was before: %s\n", change.Backup)
			}
		}
		if installed != "" {
			fmt.Fprintln(out, "It takes effect in the next session.")
		}
		if installed == plugin.Codex && any {
			fmt.Fprintln(out, "Codex runs a new hook only when you have trusted it: start codex once, and say /hooks.")
		}
	})
}

// pluginState is what status says of one assistant.
type pluginState struct {
	Assistant string            `json:"assistant"`
	Files     []pluginFileState `json:"files"`
	Service   *serviceState     `json:"service,omitempty"`
}

type pluginFileState struct {
	Path    string   `json:"path"`
	Holds   string   `json:"holds"`
	Entries []string `json:"entries"`
	// Outdated are entries that this program would write otherwise: install again.
	Outdated []string `json:"outdated"`
	Problem  string   `json:"problem,omitempty"`
}

type serviceState struct {
	Base    string `json:"base"`
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"`
}

func newPluginStatus(w world) *cobra.Command {
	var f pluginFlags
	c := &cobra.Command{
		Use: "status", Short: "Say what is installed, and whether it works", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			states := make([]pluginState, 0, len(plugin.Assistants()))
			for _, name := range plugin.Assistants() {
				t, err := f.target(w, name)
				if err != nil {
					return err
				}
				states = append(states, stateOf(c.Context(), w, t))
			}
			last := lastHook(w)
			answer := struct {
				Assistants []pluginState `json:"assistants"`
				LastHook   *hookReport   `json:"lastHook"`
			}{states, last}
			return w.answer(c, answer, func(out io.Writer) { printStates(out, states, last) })
		},
	}
	f.register(c)
	return c
}

func stateOf(ctx context.Context, w world, t plugin.Target) pluginState {
	state := pluginState{Assistant: t.Assistant, Files: []pluginFileState{}}
	var options *plugin.Options
	for _, file := range t.Files {
		s := pluginFileState{Path: file.Path, Holds: file.Holds, Entries: []string{}, Outdated: []string{}}
		entries, err := file.Status()
		if err != nil {
			s.Problem = err.Error()
		}
		for _, e := range entries {
			s.Entries = append(s.Entries, e.What)
			if !e.Current {
				s.Outdated = append(s.Outdated, e.What)
			}
			options = &e.Options
		}
		state.Files = append(state.Files, s)
	}
	if options != nil {
		state.Service = &serviceState{Base: options.Base}
		service, err := hookService(w, options.Base, options.KeyFile)
		if err == nil {
			state.Service.Base = service.Base()
			within, cancel := boundedBy(ctx, w)
			defer cancel()
			_, err = service.Me(within)
		}
		if state.Service.OK = err == nil; err != nil {
			state.Service.Problem = err.Error()
		}
	}
	return state
}

func printStates(out io.Writer, states []pluginState, last *hookReport) {
	for _, state := range states {
		fmt.Fprintln(out, state.Assistant)
		for _, file := range state.Files {
			what := "not installed"
			switch {
			case file.Problem != "":
				what = file.Problem
			case len(file.Entries) > 0:
				what = strings.Join(file.Entries, ", ")
			}
			if len(file.Outdated) > 0 {
				what += "; changed since or of another version: " + strings.Join(file.Outdated, ", ")
			}
			fmt.Fprintf(out, "  %s: %s (%s)\n", file.Holds, what, file.Path)
		}
		if s := state.Service; s != nil && s.OK {
			fmt.Fprintf(out, "  the service at %s answers\n", s.Base)
		} else if s != nil {
			fmt.Fprintf(out, "  the service does not answer: %s\n", s.Problem)
		}
	}
	if last == nil {
		fmt.Fprintln(out, "No assistant has called a hook yet.")
		return
	}
	fmt.Fprintf(out, "Last hook: %s at %s, %d notes", last.Event, last.At, last.Notes)
	if last.Problem != "" {
		fmt.Fprintf(out, "; %s", last.Problem)
	}
	fmt.Fprintln(out)
}

func newPluginContext(w world) *cobra.Command {
	var base, keyFile string
	c := &cobra.Command{
		Use: "context", Short: "Answer a hook with what memory knows (called by assistants)",
		Long: "Reads what an assistant tells a hook from standard input, and prints what memory knows of the prompt,\n" +
			"or of the folder when a session begins. It ends within " + plugin.ContextWithin.String() +
			", and always well: without a service it\nprints nothing. Secrets are taken out of a prompt before it is searched " +
			"for.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			answer, report, err := hookAnswer(c.Context(), w, base, keyFile)
			if err != nil {
				report.Problem = err.Error()
				if tellable(err) {
					fmt.Fprintf(w.err, "orgmem: plugin: %v\n", err)
				}
			}
			noteHook(w, report)
			if _, err := w.out.Write(answer); err != nil {
				return fmt.Errorf("print: %w", err)
			}
			return nil
		},
	}
	c.Flags().StringVar(&base, "base", w.env(config.EnvBase, config.DefaultBase), "address of the service")
	c.Flags().StringVar(&keyFile, "key-file", "", "file with the API key (default: "+config.EnvAPIKey+")")
	return c
}

// errHookTime says that a hook had no time left.
var errHookTime = errors.New("no answer within " + plugin.ContextWithin.String())

// boundedBy ends with the time that a hook has.
func boundedBy(ctx context.Context, w world) (context.Context, func()) {
	within, cancel := context.WithCancelCause(ctx)
	timer := w.clock.AfterFunc(plugin.ContextWithin, func() { cancel(errHookTime) })
	return within, func() { timer.Stop(); cancel(nil) }
}

// hookAnswer is what a hook prints; nothing with an error. Its work goes on behind an
// end of the time only where a read of standard input cannot be broken off, and ends with
// the process.
func hookAnswer(ctx context.Context, w world, base, keyFile string) ([]byte, hookReport, error) {
	within, cancel := boundedBy(ctx, w)
	defer cancel()
	type outcome struct {
		answer []byte
		report hookReport
		err    error
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		o.answer, o.report, o.err = recall(within, w, base, keyFile)
		done <- o
	}()
	select {
	case o := <-done:
		if within.Err() != nil {
			return nil, o.report, context.Cause(within)
		}
		return o.answer, o.report, o.err
	case <-within.Done():
		return nil, hookReport{}, context.Cause(within)
	}
}

func recall(ctx context.Context, w world, base, keyFile string) ([]byte, hookReport, error) {
	in, err := plugin.ReadInput(w.in)
	report := hookReport{Event: in.Event}
	if err != nil {
		return nil, report, err
	}
	service, err := hookService(w, base, keyFile)
	if err != nil {
		return nil, report, err
	}
	store, err := pluginStore(w)
	if err != nil {
		return nil, report, err
	}
	notes, err := plugin.Recall(ctx, service, in)
	if err != nil {
		return nil, report, err
	}
	told := store.Told(in)
	text, shown, err := plugin.Quote(told.New(notes), rand.Reader)
	if err != nil {
		return nil, report, err
	}
	report.Notes = len(shown)
	answer, err := plugin.Answer(in, text)
	if err != nil {
		return nil, report, err
	}
	// To be told twice is better than not at all.
	told.Save(shown) //nolint:errcheck // see above
	return answer, report, nil
}

// hookService is the service that a hook asks. It is not told why a call waits: who
// calls a hook reads what it prints.
func hookService(w world, base, keyFile string) (*client.Client, error) {
	key := w.env(config.EnvAPIKey, "")
	if keyFile != "" {
		var err error
		if key, err = privateKey(keyFile); err != nil {
			return nil, err
		}
	}
	if key == "" {
		return nil, fmt.Errorf("%w: set %s or --key-file", errNoKey, config.EnvAPIKey)
	}
	if base == "" {
		base = w.env(config.EnvBase, config.DefaultBase)
	}
	return client.New(client.Options{Base: base, APIKey: key, Clock: w.clock, Advice: baseAdvice})
}

var (
	errNoKey   = errors.New("no API key")
	errKeyFile = errors.New("key-file: others may read")
)

// tellable reports whether a failure is one that somebody must mend. A service that does
// not run, or is slow, is not: that may be on purpose.
func tellable(err error) bool {
	p, refused := errors.AsType[*client.Problem](err)
	_, file := errors.AsType[*os.PathError](err)
	return refused && (p.Status == http.StatusUnauthorized || p.Status == http.StatusForbidden) || file ||
		errors.Is(err, errNoKey) || errors.Is(err, errKeyFile) || errors.Is(err, plugin.ErrInput)
}

// hookReport is what became of a hook, for those who ask why a model knows nothing.
type hookReport struct {
	Event   string `json:"event"`
	At      string `json:"at"`
	Notes   int    `json:"notes"`
	Problem string `json:"problem,omitempty"`
}

// lastReport is the name of the last report, in the store.
const lastReport = "last-hook.json"

// noteHook keeps a report. A hook does not fail for it.
func noteHook(w world, report hookReport) {
	store, err := pluginStore(w)
	if err != nil || os.MkdirAll(string(store), config.DirMode0700) != nil {
		return
	}
	report.At = w.clock.Now().UTC().Format(time.RFC3339)
	raw, err := json.Marshal(report)
	if err != nil {
		return
	}
	draft, err := os.CreateTemp(string(store), lastReport+"-*")
	if err != nil {
		return
	}
	_, err = draft.Write(raw)
	if err = errors.Join(err, draft.Close()); err == nil {
		err = os.Rename(draft.Name(), filepath.Join(string(store), lastReport))
	}
	if err != nil {
		os.Remove(draft.Name()) //nolint:errcheck // there is nothing more to do about it
	}
}

// lastHook is the report of the last hook; nil for none.
func lastHook(w world) *hookReport {
	store, err := pluginStore(w)
	if err != nil {
		return nil
	}
	raw, err := os.ReadFile(filepath.Join(string(store), lastReport))
	r := &hookReport{}
	if err != nil || json.Unmarshal(raw, r) != nil {
		return nil
	}
	return r
}
