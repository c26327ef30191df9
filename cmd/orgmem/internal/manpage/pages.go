package manpage

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"orgmem/cmd/orgmem/internal/config"
)

// Commands is orgmem(1). Flags that are settings stand in orgmem.toml(5) alone.
func Commands(root *cobra.Command, version string) string {
	p := newPage("orgmem", 1, version, "User Commands")
	p.section("name")
	p.WriteString("orgmem \\- " + escape(lowerFirst(root.Short)) + "\n")
	p.section("synopsis")
	p.WriteString(".B orgmem\n.I COMMAND\n.RI [ ARGUMENT ...]\n.RI [ FLAG ...]\n")
	p.section("description")
	p.text("One program is the whole service and the tool to run it. `orgmem serve` runs the service; of the other " +
		"commands some speak to the operator interface of a running service, others to its public one. Results go to " +
		"standard output, everything else to standard error.")
	p.section("commands")
	each(root, func(c *cobra.Command) {
		p.subsection(c.UseLine())
		about := c.Long
		if about == "" {
			about = c.Short + "."
		}
		if strings.Contains(about, "\n\n") || strings.Contains(about, "\n ") {
			p.verbatim(about)
		} else {
			p.text(about)
		}
		p.flags(c.LocalNonPersistentFlags())
		p.flags(inherited(c))
	})
	p.section("flags of all commands")
	p.flags(root.PersistentFlags())
	p.section("environment")
	p.text("Settings of `orgmem serve` may be given as variables, too: orgmem.toml(5).")
	p.item(bold(config.EnvConfig), "File with settings, in place of `--config`.")
	for _, s := range config.ClientSettings {
		about := s.Doc
		if s.Flag != "" {
			about += " As a flag: `" + s.Flag + "`."
		}
		if s.Default != "" {
			about += " Default: " + code.ReplaceAllString(s.Default, "$1") + "."
		}
		p.item(bold(s.Env), about)
	}
	p.section("exit status")
	p.item(bold("0"), "Done.")
	p.item(bold("1"), "Failed; the last line of standard error says why.")
	p.item(bold("2"), "Wrongly called.")
	p.item(bold("70"), "The service stopped by itself: a sync of the disk failed, or its data is damaged.")
	p.item(bold("130"), "Interrupted.")
	p.section("see also")
	p.WriteString(".BR orgmem.toml (5)\n")
	return p.String()
}

// Settings is orgmem.toml(5).
func Settings(version string) string {
	p := newPage("orgmem.toml", 5, version, "File Formats")
	p.section("name")
	p.WriteString("orgmem.toml \\- settings of the organizational memory service\n")
	p.section("description")
	p.text("Every setting of `orgmem serve` can be given in three ways, strongest first: as a flag " +
		"(`--listen 127.0.0.1:9000`), as an environment variable (`ORGMEM_LISTEN=127.0.0.1:9000`), or as a line of a TOML " +
		"file (`listen = \"127.0.0.1:9000\"`) that `--config` or `" + config.EnvConfig + "` names. An unknown key in the " +
		"file is an error. Sizes are written as 67108864 or 64MiB, durations as 90s or 2m.")
	p.text("A setting whose form is a file may also come as a credential of systemd with the name `" +
		config.CredentialPrefix + "SETTING`; it is weaker than the file.")
	p.text("`orgmem config print` prints a file with all settings described and commented out, `orgmem doctor` the " +
		"effective value of each.")
	p.section("settings")
	for _, s := range config.Settings {
		def := "`" + s.Default + "`"
		if s.Default == "" {
			def = "empty"
		}
		p.item(bold(s.Name), s.Doc+" Form: "+s.Form+". Default: "+def+".")
	}
	p.section("see also")
	p.WriteString(".BR orgmem (1)\n")
	return p.String()
}

// each calls visit with every command that does something, in the order of the help.
func each(c *cobra.Command, visit func(*cobra.Command)) {
	for _, sub := range c.Commands() {
		if sub.Hidden || sub.Name() == "help" {
			continue
		}
		if sub.HasSubCommands() {
			each(sub, visit)
			continue
		}
		visit(sub)
	}
}

// inherited are the flags that a command has from its group, but those that all commands have.
func inherited(c *cobra.Command) *pflag.FlagSet {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if c.Root().PersistentFlags().Lookup(f.Name) == nil {
			flags.AddFlag(f)
		}
	})
	return flags
}

func (p *page) flags(flags *pflag.FlagSet) {
	settings := false
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		if isSetting(f) {
			settings = true
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		tag := bold("--" + f.Name)
		if value != "" {
			tag += `=\fI` + escape(value) + `\fR`
		}
		if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "[]" {
			usage += " (default " + f.DefValue + ")"
		}
		p.item(tag, usage)
	})
	if settings {
		p.item(`\fISETTINGS\fR`, "Each setting of orgmem.toml(5) is a flag, too.")
	}
}

// isSetting tells the flags that the table of settings makes from others of the same name: the
// commands that are clients have a --data of their own, which says what it is for.
func isSetting(f *pflag.Flag) bool {
	for _, s := range config.Settings {
		if s.Name == f.Name && strings.HasPrefix(f.Usage, s.Form+": ") {
			return true
		}
	}
	return false
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }
