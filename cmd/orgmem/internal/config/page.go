package config

import (
	"fmt"
	"strings"
)

// Page is docs/configuration.md, made from the tables.
func Page() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" +
		"<!-- Made by `make docs` from cmd/orgmem/internal/config/table.go. Do not edit. -->\n\n" +
		"Every setting of `orgmem serve` can be given in three ways, strongest first: as a flag\n" +
		"(`--listen :9000`), as an environment variable (`ORGMEM_LISTEN=:9000`), or as a line of a TOML file\n" +
		"(`listen = \":9000\"`) named by `--config` or `ORGMEM_CONFIG`. An unknown key in the file is an error.\n" +
		"Sizes are written as `67108864` or `64MiB`, durations as `90s` or `2m`.\n\n" +
		"`orgmem config print` prints a file in which every setting is described and commented out. Under systemd, a\n" +
		"setting that names a file may also come as a credential of the unit with the name `orgmem.SETTING`, weaker than\n" +
		"the file ([install](install.md#secrets)).\n\n" +
		"`orgmem doctor` prints the effective value of each, where it came from, and what is wrong with it.\n")
	for _, s := range Settings {
		def := "`" + s.Default + "`"
		if s.Default == "" {
			def = "empty"
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\nFlag `--%s`, environment `%s`, form: %s, default: %s.\n",
			s.Name, s.Doc, s.Name, s.Env(), s.Form, def)
	}
	b.WriteString("\n## Client and operator commands\n\nThese have flags and environment variables, and no file.\n\n" +
		"| Flag | Environment | Default | Meaning |\n|---|---|---|---|\n")
	for _, s := range ClientSettings {
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", code(s.Flag), s.Env, s.Default, s.Doc)
	}
	return b.String()
}

func code(s string) string {
	if s == "" {
		return "none"
	}
	return "`" + s + "`"
}
