package main

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// imageUser runs the service in the image: no name of the host has this number.
const imageUser = 65532

// authorities are the certificates of Mozilla's list that hold without a condition, as one file
// of PEM: Go cannot read conditions from it.
func authorities() []byte {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			b.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}))
		}
	}
	return b.Bytes()
}

// imageOf is the image for one processor: the binary, its papers, a user, and the certificates.
// There is no shell and nothing that could be written to but the data directory and /tmp.
func imageOf(r release, b built, entries []entry, labels map[string]string) (v1.Image, error) {
	user := fmt.Sprintf("orgmem:x:%d:%d::%s:/sbin/nologin\n", imageUser, imageUser, dataDir)
	base := []entry{
		{name: "etc/passwd", mode: 0o644, data: []byte("root:x:0:0::/:/sbin/nologin\n" + user)},
		{name: "etc/group", mode: 0o644, data: fmt.Appendf(nil, "root:x:0:\norgmem:x:%d:\n", imageUser)},
		{name: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, data: authorities()},
		{name: strings.TrimPrefix(dataDir, "/"), mode: 0o700, dir: true, uid: imageUser, gid: imageUser},
		{name: "tmp", mode: 0o1777, dir: true},
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	for _, group := range [][]entry{base, entries} {
		open := func() (io.ReadCloser, error) {
			reader, writer := io.Pipe()
			go func() { writer.CloseWithError(writeTar(writer, group, r.time)) }()
			return reader, nil
		}
		layer, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
		if err != nil {
			return nil, err
		}
		if image, err = mutate.Append(image, mutate.Addendum{
			Layer: layer, MediaType: types.OCILayer, History: v1.History{Created: v1.Time{Time: r.time}, CreatedBy: "dist"},
		}); err != nil {
			return nil, err
		}
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = b.os, b.arch, v1.Time{Time: r.time}
	if b.arch == "arm64" {
		config.Variant = "v8"
	}
	config.Config = v1.Config{
		User: fmt.Sprintf("%d:%d", imageUser, imageUser), Entrypoint: []string{"/usr/bin/orgmem"}, Cmd: []string{"serve"},
		// In a container loopback is nobody's; the operator interface stays there all the same, for
		// `orgmem` inside, until somebody says otherwise.
		Env: []string{
			"PATH=/usr/bin", "HOME=" + dataDir, "ORGMEM_DATA=" + dataDir, "ORGMEM_LISTEN=:8080",
		},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}}, Volumes: map[string]struct{}{dataDir: {}},
		WorkingDir: dataDir, StopSignal: "SIGTERM", Labels: labels,
	}
	return mutate.ConfigFile(image, config)
}

// labelsOf are those of the image and of its index.
func labelsOf(r release, all []provenance) (map[string]string, error) {
	told, err := modelsLabel(all)
	return map[string]string{
		"org.opencontainers.image.title":       "orgmem",
		"org.opencontainers.image.description": "A memory for an organization: text in, found again by meaning",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    r.commit,
		"org.opencontainers.image.created":     r.time.Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"orgmem.models":                        told,
	}, err
}

// writeImage writes an OCI archive with one image for each processor below one index.
func writeImage(file, staging string, r release, images map[target]v1.Image, labels map[string]string) (err error) {
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, t := range targets { // in this order
		image, ok := images[t]
		if !ok {
			continue
		}
		platform := &v1.Platform{OS: t.os, Architecture: t.arch}
		if t.arch == "arm64" {
			platform.Variant = "v8"
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: platform, MediaType: types.OCIManifestSchema1},
		})
	}
	annotated, ok := mutate.Annotations(index, labels).(v1.ImageIndex)
	if !ok {
		return errors.New("an index with annotations is no index any more")
	}
	path, err := layout.Write(staging, empty.Index)
	if err != nil {
		return err
	}
	name := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": r.fileVersion()})
	if err := path.AppendIndex(annotated, name); err != nil {
		return err
	}
	entries, err := folderEntries(staging)
	if err != nil {
		return err
	}
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	err = writeTar(f, entries, r.time)
	return errors.Join(err, f.Close())
}

func folderEntries(dir string) ([]entry, error) {
	var entries []entry
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		entries = append(entries, entry{name: filepath.ToSlash(name), mode: 0o644, source: path})
		return err
	})
	return slices.Clip(entries), err
}
