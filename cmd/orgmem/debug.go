package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/durable"
	pb "orgmem/proto"
)

const (
	// watchSeconds is how long `debug` watches the processor, and maxWatchSeconds the most that the server does.
	watchSeconds, maxWatchSeconds = 5, 20
	// bundleMode lets only its owner read what is in a bundle.
	bundleMode = 0o600
)

func newDebug(w world) *cobra.Command {
	var at operatorFlags
	c := group("debug", "Look into a running server: where its time and memory go", newProfile(w, &at), newBundle(w, &at))
	at.register(w, c)
	return c
}

// watched reports whether a profile is of a while.
func watched(profile string) bool { return profile == "profile" || profile == "trace" }

// debugged is the server that is looked into for so many seconds.
func debugged(w world, at *operatorFlags, seconds int) (*client.Client, error) {
	if seconds < 1 || seconds > maxWatchSeconds {
		return nil, fmt.Errorf("%w: --seconds must be 1 to %d", errUsage, maxWatchSeconds)
	}
	return at.client(w)
}

func newProfile(w world, at *operatorFlags) *cobra.Command {
	var output string
	var seconds int
	c := &cobra.Command{
		Use: "profile NAME", Args: wantArgs(1),
		Short: "Write a profile for go tool pprof (heap, allocs, goroutine, threadcreate, profile), or a trace",
		RunE: func(c *cobra.Command, args []string) error {
			server, err := debugged(w, at, seconds)
			if err != nil {
				return err
			}
			watch := seconds
			if !watched(args[0]) {
				watch = 0
			}
			raw, err := server.Profile(c.Context(), args[0], watch)
			if err != nil {
				return err
			}
			if output == "" {
				output = args[0] + ".pprof"
			}
			if err := durable.WriteFile(output, bytes.NewReader(raw)); err != nil {
				return err
			}
			return w.answer(c, writtenFile{output, len(raw)}, func(out io.Writer) {
				fmt.Fprintf(out, "%s, %d bytes\n", output, len(raw))
			})
		},
	}
	c.Flags().IntVar(&seconds, "seconds", watchSeconds, "how long profile and trace watch")
	c.Flags().StringVarP(&output, "output", "o", "", "the file (default: NAME.pprof)")
	return c
}

// writtenFile is what --json tells of a file.
type writtenFile struct {
	File  string `json:"file"`
	Bytes int    `json:"bytes"`
}

func newBundle(w world, at *operatorFlags) *cobra.Command {
	var seconds int
	c := &cobra.Command{
		Use: "bundle FILE", Args: wantArgs(1),
		Short: "Write what a person who helps wants to see into one .tar.gz: no content, no credentials",
		RunE: func(c *cobra.Command, args []string) error {
			server, err := debugged(w, at, seconds)
			if err != nil {
				return err
			}
			parts, err := gather(c, server, seconds)
			if err != nil {
				return err
			}
			raw, err := pack(parts, w.clock.Now())
			if err != nil {
				return err
			}
			if err := durable.WriteFile(args[0], bytes.NewReader(raw)); err != nil {
				return err
			}
			return w.answer(c, writtenFile{args[0], len(raw)}, func(out io.Writer) {
				fmt.Fprintf(out, "%s, %d bytes:\n", args[0], len(raw))
				for _, p := range parts {
					fmt.Fprintf(out, "  %s\n", p.name)
				}
			})
		},
	}
	c.Flags().IntVar(&seconds, "seconds", watchSeconds, "how long the processor is watched")
	return c
}

// part is a file of a bundle.
type part struct {
	name string
	body []byte
}

// readme says what is in a bundle to who gets one.
const readme = `What orgmem debug bundle has gathered from one node.

There is no content in it, no subject, no key and no token. Organizations are named
by their ids in requests.json, and paths and addresses stand in doctor.json and
cluster.json.

version.json     the build of the command that made this; modules.txt: what it was built of
doctor.json      the server's configuration without its secrets, and what is wrong with it and its machine
cluster.json     the nodes, shards and leaders, where there is a cluster
requests.json    the slow requests that the node remembers
metrics.txt      all figures at the time
*.pprof          where memory and time go (go tool pprof FILE)
errors.txt       what could not be had, and why
`

// gather asks for all parts, and lists in errors.txt those that it could not get. If it can get none, it fails.
func gather(c *cobra.Command, server *client.Client, seconds int) ([]part, error) {
	own, err := json.MarshalIndent(thisBuild(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("version: %w", err)
	}
	parts := []part{{"README.txt", []byte(readme)}, {"version.json", own}}
	if info, ok := debug.ReadBuildInfo(); ok {
		parts = append(parts, part{"modules.txt", []byte(info.String())})
	}
	var failed []error
	had := 0
	add := func(name string, body []byte, err error) {
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, err))
			return
		}
		had++
		parts = append(parts, part{name, body})
	}
	for _, of := range [][2]string{
		{"doctor.json", "/operator/doctor"},
		{"cluster.json", "/operator/cluster"},
		{"requests.json", "/operator/requests/slow"},
		{"metrics.txt", "/metrics"},
	} {
		body, err := server.Read(c.Context(), of[1])
		if client.IsCode(err, pb.CodeConflict) {
			continue // the node is alone
		}
		add(of[0], body, err)
		if err != nil && had == 0 {
			return nil, err // nobody is there, or it does not know us: there is nothing to bundle
		}
	}
	for _, profile := range []string{"heap", "allocs", "goroutine", "profile"} {
		watch := 0
		if watched(profile) {
			watch = seconds
		}
		body, err := server.Profile(c.Context(), profile, watch)
		add(profile+".pprof", body, err)
	}
	if c.Context().Err() != nil {
		return nil, c.Context().Err()
	}
	if len(failed) > 0 {
		parts = append(parts, part{"errors.txt", []byte(errors.Join(failed...).Error() + "\n")})
	}
	return slices.Clip(parts), nil
}

// pack makes a .tar.gz of the parts.
func pack(parts []part, now time.Time) ([]byte, error) {
	var out bytes.Buffer
	zipped := gzip.NewWriter(&out)
	files := tar.NewWriter(zipped)
	for _, p := range parts {
		header := &tar.Header{Name: "orgmem-bundle/" + p.name, Mode: bundleMode, Size: int64(len(p.body)), ModTime: now}
		if err := files.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
		if _, err := files.Write(p.body); err != nil {
			return nil, fmt.Errorf("bundle: %w", err)
		}
	}
	if err := errors.Join(files.Close(), zipped.Close()); err != nil {
		return nil, fmt.Errorf("bundle: %w", err)
	}
	return out.Bytes(), nil
}
