package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/plugin"
	"orgmem/cmd/orgmem/internal/transcripts"
	"orgmem/proto/clock"
)

// maxHookInput bounds what an assistant writes to its hook: a few paths and ids.
const maxHookInput = 1 << 20

func newSessions(w world) *cobra.Command {
	return group("sessions", "Take in the sessions of coding assistants",
		newSessionsPush(w),
		group("hook", "Push each session of Claude Code when it ends", newHookInstall(w), newHookRemove(w)),
	)
}

// pushFlags are those of sessions push.
type pushFlags struct {
	base, keyFile  string
	assistants     []string
	all, dry, hook bool
}

func newSessionsPush(w world) *cobra.Command {
	var f pushFlags
	c := &cobra.Command{
		Use: "push [FILE...]", Short: "Push what is new in the transcripts of coding assistants",
		Long: "Reads the transcripts that " + strings.Join(transcripts.Assistants(), ", ") +
			" leave in the home directory, or the FILEs,\n" +
			"takes secrets out of them on this machine, and pushes what was not pushed before.",
		RunE: func(c *cobra.Command, args []string) error {
			err := runSessionsPush(c, w, f, args)
			if f.hook && errors.Is(err, errUsage) {
				// To an assistant the status of wrong usage means that it must not go on.
				return errors.New(err.Error())
			}
			return err
		},
	}
	c.Flags().StringVar(&f.base, "base", w.env(config.EnvBase, config.DefaultBase), "address of the service")
	c.Flags().StringVar(&f.keyFile, "key-file", "", "file with the API key (default: "+config.EnvAPIKey+")")
	c.Flags().StringSliceVar(&f.assistants, "assistant", nil, "only these assistants; of a FILE, which one wrote it")
	c.Flags().BoolVar(&f.all, "all", false, "send everything again; the service keeps what it has")
	c.Flags().BoolVar(&f.dry, "dry-run", false, "send nothing, and say what would be sent")
	c.Flags().BoolVar(&f.hook, "hook", false, "push the session that an assistant's hook names on standard input")
	return c
}

func runSessionsPush(c *cobra.Command, w world, f pushFlags, args []string) (err error) {
	files, err := transcriptsOf(w, f, args)
	if err != nil {
		return err
	}
	o := transcripts.Options{}
	if !f.dry {
		service, memory, err := sessionTarget(c, w, f)
		if err != nil {
			return err
		}
		dir, err := stateDir(w)
		if err != nil {
			return err
		}
		state, err := sessionState(c.Context(), w, filepath.Join(filepath.Dir(dir), "sessions"), memory, f.hook)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, state.Close()) }()
		if f.all {
			state.Forget()
		}
		o = transcripts.Options{Service: service, State: state}
	}
	summary, err := transcripts.Push(c.Context(), o, files)
	if aerr := w.answer(c, summary, func(out io.Writer) { printPushed(out, summary) }); aerr != nil {
		return errors.Join(err, aerr)
	}
	if err != nil {
		return fmt.Errorf("push stopped, run it again to go on: %w", err)
	}
	return nil
}

// busyWithin is how long a hook waits for another push: a person sees the message and runs the command
// again, and for a session that has ended nobody does.
const busyWithin, busyPause = 30 * time.Second, 200 * time.Millisecond

// sessionState opens the state of a memory.
func sessionState(ctx context.Context, w world, dir, memory string, hook bool) (*transcripts.State, error) {
	for began := w.clock.Now(); ; {
		state, err := transcripts.OpenState(dir, memory)
		if !hook || !errors.Is(err, transcripts.ErrStateBusy) || w.clock.Now().Sub(began) >= busyWithin {
			return state, err
		}
		if err := clock.Wait(ctx, w.clock, busyPause); err != nil {
			return nil, err
		}
	}
}

// transcriptsOf finds the files to push.
func transcriptsOf(w world, f pushFlags, args []string) ([]transcripts.File, error) {
	home := w.env("HOME", "")
	if home == "" && len(args) == 0 {
		return nil, errors.New("sessions: set HOME, to find the transcripts")
	}
	for _, name := range f.assistants {
		if !slices.Contains(transcripts.Assistants(), name) {
			return nil, fmt.Errorf("%w: no assistant %q: there are %s", errUsage, name,
				strings.Join(transcripts.Assistants(), ", "))
		}
	}
	if f.hook {
		return hookTranscript(w, f.assistants)
	}
	if len(args) == 0 {
		files, err := transcripts.Find(home, f.assistants)
		if err != nil {
			return nil, fmt.Errorf("sessions: %w", err)
		}
		return files, nil
	}
	files := make([]transcripts.File, 0, len(args))
	for _, arg := range args {
		path, err := filepath.Abs(arg)
		if err != nil {
			return nil, fmt.Errorf("sessions: %w", err)
		}
		file, known := transcripts.FileOf(home, path)
		if len(f.assistants) == 1 {
			file, known = transcripts.Named(path, f.assistants[0])
		}
		if !known {
			return nil, fmt.Errorf("%w: say with --assistant whose transcript %s is", errUsage, arg)
		}
		files = append(files, file)
	}
	return files, nil
}

// hookTranscript is the transcript that a hook's input names.
func hookTranscript(w world, assistants []string) ([]transcripts.File, error) {
	var input struct {
		Transcript string `json:"transcript_path"`
	}
	raw, err := io.ReadAll(io.LimitReader(w.in, maxHookInput))
	if err == nil {
		err = json.Unmarshal(raw, &input)
	}
	if err != nil {
		return nil, fmt.Errorf("sessions: what the hook was given cannot be read: %w", err)
	}
	if input.Transcript == "" {
		return nil, errors.New("sessions: the hook was given no transcript_path")
	}
	assistant := transcripts.ClaudeCode
	if len(assistants) == 1 {
		assistant = assistants[0]
	}
	file, _ := transcripts.Named(input.Transcript, assistant)
	return []transcripts.File{file}, nil
}

// keyFrom reads the key that a file holds.
func keyFrom(path string) (string, error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("key-file: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(file, maxKeyFile))
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("key-file: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// sessionTarget is the service, and the name of the memory that its key reaches.
func sessionTarget(c *cobra.Command, w world, f pushFlags) (*client.Client, string, error) {
	key, err := readKey(w, f.keyFile)
	if err != nil {
		return nil, "", err
	}
	service, err := client.New(client.Options{
		Base: f.base, APIKey: key, Clock: w.clock, Waiting: w.waiting(),
		Advice: baseAdvice,
	})
	if err != nil {
		return nil, "", err
	}
	target, err := targetOf(c, service, "")
	if err != nil {
		return nil, "", err
	}
	return service, strings.Join([]string{target.Base, target.Org.String(), target.User.String()}, "\n"), nil
}

func printPushed(out io.Writer, s transcripts.Summary) {
	verb := "pushed"
	if s.DryRun {
		verb = "would be pushed"
	}
	fmt.Fprintf(out, "%d events and %d signals %s, %d known already; %d transcripts with news, %d without; %d secrets "+
		"taken out\n",
		s.Stored, s.Signals, verb, s.Deduped, s.Files, s.Unchanged, s.Redacted)
	for i, skipped := range s.Skipped {
		if i == shownFiles {
			fmt.Fprintf(out, "  and %d more were skipped\n", len(s.Skipped)-i)
			break
		}
		fmt.Fprintf(out, "  skipped, %s: %s\n", skipped.Reason, skipped.Path)
	}
}

// hookFlags are those of the hook commands.
type hookFlags struct{ settings, base, keyFile string }

// target is what Claude Code has for the end of a session, of all that plugin install
// puts in.
func (f *hookFlags) target(w world) (plugin.Target, plugin.Store, error) {
	home := w.env("HOME", "")
	if home == "" && f.settings == "" {
		return plugin.Target{}, "", errors.New("sessions: set HOME or --settings")
	}
	t, err := plugin.For(plugin.ClaudeCode, plugin.Where{Home: home, Env: w.env})
	if err != nil {
		return plugin.Target{}, "", err
	}
	t = t.OnlyHooks(plugin.SessionEndHooks(plugin.ClaudeCode))
	if f.settings != "" {
		t = t.At(f.settings)
	}
	store, err := pluginStore(w)
	return t, store, err
}

func newHookInstall(w world) *cobra.Command {
	var f hookFlags
	c := &cobra.Command{
		Use: "install", Short: "Add the hook to the settings of Claude Code",
		Long: "Adds a hook to the settings of Claude Code that pushes each session when it ends. All else in\n" +
			"the settings stays. The key is read when the hook runs: from --key-file, or from " + config.EnvAPIKey + ".\n" +
			"orgmem plugin install adds this hook too, and those that give the model what memory knows.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, store, err := f.target(w)
			if err != nil {
				return err
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("sessions: %w", err)
			}
			o := plugin.Options{Program: program, Base: f.base}
			if f.keyFile != "" {
				if o.KeyFile, err = filepath.Abs(f.keyFile); err != nil {
					return fmt.Errorf("sessions: %w", err)
				}
			}
			changes, err := plugin.Install(t, o, store)
			return w.answerHook(c, "installed", changes, err)
		},
	}
	c.Flags().StringVar(&f.settings, "settings", "", "the settings file (default: ~/.claude/settings.json)")
	c.Flags().StringVar(&f.base, "base", w.env(config.EnvBase, ""), "address of the service, when the hook runs")
	c.Flags().StringVar(&f.keyFile, "key-file", "", "file with the API key, when the hook runs")
	return c
}

func newHookRemove(w world) *cobra.Command {
	var f hookFlags
	c := &cobra.Command{
		Use: "remove", Short: "Take the hook out of the settings of Claude Code", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			t, store, err := f.target(w)
			if err != nil {
				return err
			}
			changes, err := plugin.Remove(t, store)
			return w.answerHook(c, "removed", changes, err)
		},
	}
	c.Flags().StringVar(&f.settings, "settings", "", "the settings file (default: ~/.claude/settings.json)")
	return c
}

func (w world) answerHook(c *cobra.Command, what string, changes []plugin.Change, err error) error {
	if err != nil {
		return fmt.Errorf("sessions hook: %w", err)
	}
	answer := struct {
		Settings string `json:"settings"`
		Changed  bool   `json:"changed"`
	}{changes[0].Path, changes[0].Changed}
	return w.answer(c, answer, func(out io.Writer) {
		if !answer.Changed {
			fmt.Fprintf(out, "Nothing to do: %s is as it should be.\n", answer.Settings)
			return
		}
		fmt.Fprintf(out, "The hook is %s: %s\n", what, answer.Settings)
	})
}
