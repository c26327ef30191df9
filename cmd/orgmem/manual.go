package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/manpage"
)

// shells are those that completion has a script for.
var shells = []string{"bash", "zsh", "fish"}

func newCompletion(w world) *cobra.Command {
	return &cobra.Command{
		Use: "completion SHELL", Short: "Print the completion script for bash, zsh or fish",
		Long: "Packages install it. By hand: orgmem completion bash >~/.local/share/bash-completion/completions/orgmem",
		Args: wantArgs(1), ValidArgs: shells,
		RunE: func(c *cobra.Command, args []string) error {
			// cobra writes what it knows of the tree; candidates come from the program itself.
			switch args[0] {
			case "bash":
				return c.Root().GenBashCompletionV2(w.out, true)
			case "zsh":
				return c.Root().GenZshCompletion(w.out)
			case "fish":
				return c.Root().GenFishCompletion(w.out, true)
			}
			return fmt.Errorf("%w: %q is none of %v", errUsage, args[0], shells)
		},
	}
}

// The manual pages.
const (
	pageCommands = "orgmem"
	pageSettings = "orgmem.toml"
)

func newMan(w world) *cobra.Command {
	return &cobra.Command{
		Use: "man [PAGE]", Short: "Print a manual page, orgmem or orgmem.toml, for man",
		Long: "Packages install both. To read one without installing it: orgmem man | man -l -",
		Args: usageArgs(cobra.MaximumNArgs(1)), ValidArgs: []string{pageCommands, pageSettings},
		RunE: func(c *cobra.Command, args []string) error {
			text := ""
			switch {
			case len(args) == 0 || args[0] == pageCommands:
				text = manpage.Commands(c.Root(), version)
			case args[0] == pageSettings:
				text = manpage.Settings(version)
			default:
				return fmt.Errorf("%w: there is no page %q, only %s and %s", errUsage, args[0], pageCommands, pageSettings)
			}
			_, err := io.WriteString(w.out, text)
			return err
		},
	}
}

func newConfig(w world) *cobra.Command {
	return group("config", "The configuration file", newConfigPrint(w), newConfigCheck(w))
}

func newConfigPrint(w world) *cobra.Command {
	var settings settingFlags
	c := &cobra.Command{
		Use: "print", Short: "Print a configuration file that describes every setting; what is given as a flag is in force",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			given := settings.given(c)
			// What is printed has to be what `serve` takes.
			if _, _, err := config.Load(config.Sources{Flags: given, Getenv: w.noEnv}); err != nil {
				return err
			}
			_, err := io.WriteString(w.out, config.File(given))
			return err
		},
	}
	settings.registerSettings(c)
	return c
}

func newConfigCheck(w world) *cobra.Command {
	return &cobra.Command{
		Use: "check FILE", Short: "Say what is wrong with a configuration file, all of it at once", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			_, values, err := config.Load(config.Sources{File: args[0], Getenv: w.noEnv})
			if err != nil {
				return err
			}
			set := []config.Value{}
			for _, v := range values {
				if v.Origin == config.FromFile {
					set = append(set, v)
				}
			}
			return w.answer(c, map[string]any{"file": args[0], "settings": set}, func(out io.Writer) {
				fmt.Fprintf(out, "%s is valid; it sets %d of %d settings.\n", args[0], len(set), len(values))
			})
		},
	}
}

// noEnv is an environment without variables: a file is judged alone.
func (world) noEnv(string) (string, bool) { return "", false }
