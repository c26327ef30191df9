package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orgmem/cmd/orgmem/internal/config"
)

// settingFlags are the flags that the table of settings makes.
type settingFlags struct{ file string }

func (f *settingFlags) register(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "config", "", "TOML file with settings (or "+config.EnvConfig+")")
	f.registerSettings(c)
}

// registerSettings makes a flag of each setting.
func (*settingFlags) registerSettings(c *cobra.Command) {
	for _, s := range config.Settings {
		c.Flags().String(s.Name, s.Default, fmt.Sprintf("%s: %s", s.Form, firstSentence(s.Doc)))
	}
}

// given are the settings that the command line names.
func (*settingFlags) given(c *cobra.Command) map[string]string {
	given := make(map[string]string)
	c.Flags().Visit(func(flag *pflag.Flag) {
		for _, s := range config.Settings {
			if s.Name == flag.Name {
				given[s.Name] = flag.Value.String()
			}
		}
	})
	return given
}

// load returns the effective configuration; see config.Load.
func (f *settingFlags) load(c *cobra.Command, w world) (config.Server, []config.Value, error) {
	file := f.file
	if file == "" {
		file = w.env(config.EnvConfig, "")
	}
	return config.Load(config.Sources{
		Flags: f.given(c), Getenv: w.lookupEnv, File: file, Credentials: w.env(config.EnvCredentials, ""),
	})
}

// firstSentence keeps --help to one line for each flag, without its stop. It has no
// quotes of code: pflag takes what stands in them for the name of the flag's value.
func firstSentence(doc string) string {
	doc, _, _ = strings.Cut(doc, ". ")
	return strings.ReplaceAll(strings.TrimSuffix(doc, "."), "`", "")
}
