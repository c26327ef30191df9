package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version and commit are set by the Makefile with -ldflags. A plain `go build`
// is a development version, whose commit the Go tool may have noted.
var (
	version = "dev"
	commit  = ""
)

// build is what `orgmem version` tells.
type build struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	Model   string `json:"model"`
}

// thisBuild tells what the linker or the Go tool has written into the binary.
func thisBuild() build {
	b := build{Version: version, Commit: commit, Go: runtime.Version(), Model: modelID()}
	info, ok := debug.ReadBuildInfo()
	if commit != "" || !ok {
		return b
	}
	b.Commit = "unknown"
	dirty := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				dirty = "+changes"
			}
		}
	}
	b.Commit += dirty
	return b
}

func newVersion(w world) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Tell version, commit, Go and embedding model", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			b := thisBuild()
			return w.answer(c, b, func(out io.Writer) {
				fmt.Fprintf(out, "orgmem %s (%s, %s, model %s)\n", b.Version, b.Commit, b.Go, b.Model)
			})
		},
	}
}
