package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/transcripts"
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
	c.Flags().BoolVar(&f.hook, "hook", false, "push the session that a hook of Claude Code names on standard input")
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
		state, err := transcripts.OpenState(filepath.Join(filepath.Dir(dir), "sessions"), memory)
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
		return hookTranscript(w)
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
func hookTranscript(w world) ([]transcripts.File, error) {
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
	file, _ := transcripts.Named(input.Transcript, transcripts.ClaudeCode)
	return []transcripts.File{file}, nil
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

func (f *hookFlags) path(w world) (string, error) {
	if f.settings != "" {
		return f.settings, nil
	}
	home := w.env("HOME", "")
	if home == "" {
		return "", errors.New("sessions: set HOME or --settings")
	}
	return transcripts.SettingsPath(home), nil
}

func newHookInstall(w world) *cobra.Command {
	var f hookFlags
	c := &cobra.Command{
		Use: "install", Short: "Add the hook to the settings of Claude Code",
		Long: "Adds a hook to the settings of Claude Code that pushes each session when it ends. All else in\n" +
			"the settings stays. The key is read when the hook runs: from --key-file, or from " + config.EnvAPIKey + ".",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := f.path(w)
			if err != nil {
				return err
			}
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("sessions: %w", err)
			}
			arguments := ""
			if f.base != "" {
				arguments += " --base " + quoted(f.base)
			}
			if f.keyFile != "" {
				at, err := filepath.Abs(f.keyFile)
				if err != nil {
					return fmt.Errorf("sessions: %w", err)
				}
				arguments += " --key-file " + quoted(at)
			}
			changed, err := transcripts.InstallHook(path, quoted(program), arguments)
			return w.answerHook(c, path, "installed", changed, err)
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
			path, err := f.path(w)
			if err != nil {
				return err
			}
			changed, err := transcripts.RemoveHook(path)
			return w.answerHook(c, path, "removed", changed, err)
		},
	}
	c.Flags().StringVar(&f.settings, "settings", "", "the settings file (default: ~/.claude/settings.json)")
	return c
}

func (w world) answerHook(c *cobra.Command, path, what string, changed bool, err error) error {
	if err != nil {
		return fmt.Errorf("sessions hook: %w", err)
	}
	answer := struct {
		Settings string `json:"settings"`
		Changed  bool   `json:"changed"`
	}{path, changed}
	return w.answer(c, answer, func(out io.Writer) {
		if !changed {
			fmt.Fprintf(out, "Nothing to do: %s is as it should be.\n", path)
			return
		}
		fmt.Fprintf(out, "The hook is %s: %s\n", what, path)
	})
}

// quoted is a word of a shell's command line.
func quoted(word string) string {
	if !strings.ContainsFunc(word, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-:@", r)
	}) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
