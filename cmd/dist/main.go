package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	root := flag.String("root", ".", "the repository")
	out := flag.String("out", "dist", "where everything is put; what was there is removed")
	version := flag.String("version", "", "the version, where git should not be asked")
	flag.Parse()
	if err := run(ctx, os.Stdout, *root, *out, *version); err != nil {
		fmt.Fprintln(os.Stderr, "dist:", err)
		os.Exit(1)
	}
}

// run makes everything. Read this function to know what is released.
func run(ctx context.Context, log io.Writer, root, out, version string) (err error) {
	// Compilers and binaries run in other folders than this.
	root, err = filepath.Abs(root)
	if err != nil {
		return err
	}
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	r, err := newRelease(ctx, root, version)
	if err != nil {
		return err
	}
	if err := clear(out); err != nil {
		return err
	}
	work, err := os.MkdirTemp(out, "work-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()

	fmt.Fprintf(log, "orgmem %s (%s), as of %s\n", r.version, r.packageVersion(), r.time)
	var all []built
	own := -1
	for i, t := range targets {
		b, err := build(ctx, root, work, r, t)
		if err != nil {
			return err
		}
		fmt.Fprintf(log, "built %s, %d MiB\n", t, b.size>>20)
		all = append(all, b)
		if t.os == runtime.GOOS && t.arch == runtime.GOARCH {
			own = i
		}
	}
	if own < 0 {
		return fmt.Errorf("%s/%s is not one of %v: nothing here can print the manual", runtime.GOOS, runtime.GOARCH, targets)
	}
	p, err := newPayload(ctx, root, all[own])
	if err != nil {
		return err
	}
	models, err := provenances(root)
	if err != nil {
		return err
	}
	labels, err := labelsOf(r, models)
	if err != nil {
		return err
	}
	images := map[target]v1.Image{}
	for _, b := range all {
		image, err := pack(ctx, root, out, work, r, b, p, models, labels)
		if err != nil {
			return err
		}
		if image != nil {
			images[b.target] = image
		}
	}
	image := filepath.Join(out, "orgmem_"+r.fileVersion()+"_oci.tar")
	if err := writeImage(image, filepath.Join(work, "oci"), r, images, labels); err != nil {
		return err
	}
	return writeSums(log, out)
}

// pack puts one target into its forms; the image is nil for what no container runs.
func pack(ctx context.Context, root, out, work string, r release, b built, p payload, models []provenance,
	labels map[string]string,
) (v1.Image, error) {
	licences, err := licencesOf(ctx, root, b.target)
	if err != nil {
		return nil, err
	}
	bill, err := bom(root, r, b, models)
	if err != nil {
		return nil, err
	}
	name := "orgmem_" + r.fileVersion() + "_" + b.target.String()
	if err := os.WriteFile(filepath.Join(out, name+".cdx.json"), bill, 0o644); err != nil {
		return nil, err
	}
	archive := filepath.Join(out, name+".tar.gz")
	if err := writeArchive(archive, name, p.archive(b, licences, bill), r.time); err != nil {
		return nil, err
	}
	if b.os != "linux" {
		return nil, nil
	}
	system, err := p.system(b, licences, bill)
	if err != nil {
		return nil, err
	}
	for _, format := range []string{"deb", "rpm"} {
		staging := filepath.Join(work, "stage-"+b.arch+"-"+format)
		if _, err := writePackage(format, out, staging, r, b, p, slices.Clone(system)); err != nil {
			return nil, err
		}
	}
	return imageOf(r, b, system, labels)
}

// clear empties the folder of what this program has made, and of nothing else: the clients'
// packages lie there, too.
func clear(out string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	for _, e := range entries {
		ours := e.Name() == sumsFile || strings.HasPrefix(e.Name(), "orgmem_") || strings.HasPrefix(e.Name(), "orgmem-") ||
			strings.HasPrefix(e.Name(), "work-")
		if ours {
			if err := os.RemoveAll(filepath.Join(out, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// sumsFile is what `sha256sum -c` reads.
const sumsFile = "SHA256SUMS"

func writeSums(log io.Writer, out string) error {
	entries, err := os.ReadDir(out) // sorted
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range entries {
		if e.IsDir() || e.Name() == sumsFile {
			continue
		}
		sum, size, err := sumFile(filepath.Join(out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
		fmt.Fprintf(log, "%7.1f MiB  %s\n", float64(size)/(1<<20), e.Name())
	}
	return os.WriteFile(filepath.Join(out, sumsFile), b.Bytes(), 0o644)
}
