package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

const root = "../.."

var sample = release{
	version: "v1.2.3", commit: "0123456789abcdef0123456789abcdef01234567",
	time: time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC),
}

func TestPackageVersionsAreInOrder(t *testing.T) {
	t.Parallel()
	dpkg, err := exec.LookPath("dpkg")
	if err != nil {
		t.Skip("dpkg is not on this machine")
	}
	var last string
	for _, version := range []string{
		"e3f33f803f18", "e3f33f803f18-dirty", "v0.0.1", "v1.2.3-alpha.1", "v1.2.3-rc.1", "v1.2.3",
		"v1.2.3-4-gabcdef012345", "1.3.0",
	} {
		r := sample
		r.version = version
		got := r.packageVersion()
		if strings.ContainsAny(got, "-_ ") || got[0] < '0' || got[0] > '9' {
			t.Errorf("%s is packed as %s", version, got)
		}
		if last != "" && exec.CommandContext(t.Context(), dpkg, "--compare-versions", last, "lt", got).Run() != nil {
			t.Errorf("%s (%s) is not newer than %s", got, version, last)
		}
		last = got
	}
}

// What the code embeds of weights and lists is in the table, and the table names nothing else.
func TestEveryModelHasItsProvenance(t *testing.T) {
	t.Parallel()
	embed := regexp.MustCompile(`(?m)^//go:embed (\S+)$`)
	var embedded []string
	err := filepath.WalkDir(filepath.Join(root, "brain"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		raw, err := os.ReadFile(path)
		for _, m := range embed.FindAllStringSubmatch(string(raw), -1) {
			name, relErr := filepath.Rel(root, filepath.Join(filepath.Dir(path), m[1]))
			embedded, err = append(embedded, name), errors.Join(err, relErr)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, m := range models {
		told = append(told, m.path)
		if m.licence == "" || m.about == "" || m.notes == "" {
			t.Errorf("%s: too little is told", m.path)
		}
	}
	slices.Sort(embedded)
	slices.Sort(told)
	if !slices.Equal(embedded, told) {
		t.Errorf("embedded %v\ntold     %v", embedded, told)
	}
}

// own is this test as a binary: small, and with modules noted in it.
func own(t *testing.T) built {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	b := built{target: target{"linux", "amd64"}, path: path}
	if err := b.measure(); err != nil {
		t.Fatal(err)
	}
	return b
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	const module = "github.com/CycloneDX/cyclonedx-go"
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	for _, name := range []string{"bom-1.6.schema.json", "spdx.schema.json", "jsf-0.82.schemax.json"} {
		file := filepath.Join(strings.TrimSpace(string(dir)), "schema", name)
		raw, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(raw)
		if err := errors.Join(err, raw.Close()); err != nil {
			t.Fatal(err)
		}
		id := "http://cyclonedx.org/schema/" + strings.Replace(name, "schemax", "schema", 1)
		if err := compiler.AddResource(id, doc); err != nil {
			t.Fatal(err)
		}
	}
	s, err := compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func checkBill(t *testing.T, s *jsonschema.Schema, raw []byte) *cdx.BOM {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(doc); err != nil {
		t.Error(err)
	}
	var bill cdx.BOM
	if err := json.Unmarshal(raw, &bill); err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range *bill.Components {
		if c.Type == cdx.ComponentTypeMachineLearningModel && len(*c.Hashes) == 1 && c.Licenses != nil && c.Pedigree != nil {
			found++
		}
	}
	if found < 5 {
		t.Errorf("%d models", found)
	}
	return &bill
}

func TestBillNamesModulesPackagesAndModels(t *testing.T) {
	t.Parallel()
	all, err := provenances(root)
	if err != nil {
		t.Fatal(err)
	}
	notice, err := readFile(root, "NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	licences, err := licencesInNotice(notice)
	if err != nil || len(licences) < 100 || licences["github.com/hashicorp/raft"] != "MPL-2.0" {
		t.Fatalf("%d licences, %v", len(licences), err)
	}
	modules := []cdx.Component{moduleComponent("github.com/hashicorp/raft", "v1.8.0",
		"h1:uNs9EfJ4FwiArZRxxfd/dQ5d33nV31/CdCHArH89hT8=", licences["github.com/hashicorp/raft"])}
	for _, p := range all {
		modules = append(modules, modelComponent(p))
	}
	raw, err := encodeBOM(sample, own(t), modules)
	if err != nil {
		t.Fatal(err)
	}
	bill := checkBill(t, schema(t), raw)
	if got := len(*(*bill.Dependencies)[0].Dependencies); got != len(modules) {
		t.Errorf("%d dependencies, want %d", got, len(modules))
	}
	again, err := encodeBOM(sample, own(t), modules)
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("the same binary has another bill: %v", err)
	}
	// The real thing asks NOTICE for each module: one that is not there is an error, and no gap.
	if _, err := bom(root, sample, own(t), all); err == nil || !strings.Contains(err.Error(), "NOTICE does not name") {
		t.Errorf("a module without a licence: %v", err)
	}
}

// The bills that `make dist` has made, where ORGMEM_DIST says where they are.
func TestReleasedBills(t *testing.T) {
	dir := os.Getenv("ORGMEM_DIST")
	if dir == "" {
		t.Skip("ORGMEM_DIST names no release; make dist-check does")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.cdx.json"))
	if err != nil || len(files) != len(targets) {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bill := checkBill(t, schema(t), raw); len(*bill.Components) < 120 {
			t.Errorf("%s: %d components", file, len(*bill.Components))
		}
	}
}

func papers(t *testing.T) payload {
	t.Helper()
	text := []byte("text\n")
	unit, err := readFile(root, "deploy/package/orgmem.service")
	if err != nil {
		t.Fatal(err)
	}
	return payload{
		readme: text, licence: text, notice: text, changelog: text, config: []byte("data = \"/var/lib/orgmem\"\n"),
		unit: []byte(unit), scripts: filepath.Join(root, "deploy", "package"),
		manual:      map[string][]byte{"orgmem.1": text, "orgmem.toml.5": text},
		completions: map[string][]byte{"bash": text, "zsh": text, "fish": text},
	}
}

func small(t *testing.T) built {
	t.Helper()
	b := built{target: target{"linux", "amd64"}, path: filepath.Join(t.TempDir(), "orgmem")}
	if err := os.WriteFile(b.path, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.measure(); err != nil {
		t.Fatal(err)
	}
	return b
}

// Whatever the folder and the mode of files, the same bytes come out.
func TestPackagesAndArchivesAreTheSameTwice(t *testing.T) {
	t.Parallel()
	p := papers(t)
	sums := map[string][sha256.Size]byte{}
	for range 2 {
		b, dir := small(t), t.TempDir()
		system, err := p.system(b, []byte("licences"), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		var made []string
		for _, format := range []string{"deb", "rpm"} {
			file, err := writePackage(format, dir, t.TempDir(), sample, b, p, slices.Clone(system))
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, file)
		}
		archive := filepath.Join(dir, "orgmem.tar.gz")
		if err := writeArchive(archive, "orgmem_1.2.3", p.archive(b, nil, nil), sample.time); err != nil {
			t.Fatal(err)
		}
		image := filepath.Join(dir, "orgmem_oci.tar")
		one, err := imageOf(sample, b, system, map[string]string{"a": "b"})
		if err != nil {
			t.Fatal(err)
		}
		staging := filepath.Join(t.TempDir(), "oci")
		images := map[target]v1.Image{b.target: one}
		if err := writeImage(image, staging, sample, images, map[string]string{"a": "b"}); err != nil {
			t.Fatal(err)
		}
		for _, file := range append(made, archive, image) {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sum := sha256.Sum256(raw)
			if before, ok := sums[filepath.Base(file)]; ok && before != sum {
				t.Errorf("%s differs", filepath.Base(file))
			}
			sums[filepath.Base(file)] = sum
		}
	}
	if len(sums) != 4 {
		t.Errorf("%d files", len(sums))
	}
}

func TestArchiveHasEverythingInOneFolder(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.tar.gz")
	entries := papers(t).archive(small(t), []byte("l"), []byte("{}"))
	if err := writeArchive(file, "orgmem_1.2.3", entries, sample.time); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	content := map[string]int64{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(sample.time) {
			t.Errorf("%+v", h)
		}
		content[h.Name] = h.Mode
	}
	for _, name := range []string{
		"", "orgmem", "LICENSE", "NOTICE", "README.md", "LICENSES-THIRD-PARTY", "sbom.cdx.json", "orgmem.toml",
		"man/orgmem.1", "man/orgmem.toml.5", "completions/orgmem.bash", "completions/orgmem.zsh",
		"completions/orgmem.fish", "systemd/orgmem.service",
	} {
		if _, ok := content["orgmem_1.2.3/"+name]; !ok {
			t.Errorf("no %q", name)
		}
	}
	if content["orgmem_1.2.3/orgmem"] != 0o755 {
		t.Errorf("mode %o", content["orgmem_1.2.3/orgmem"])
	}
}

func TestDebianTakesThePackage(t *testing.T) {
	t.Parallel()
	tool, err := exec.LookPath("dpkg-deb")
	if err != nil {
		t.Skip("dpkg-deb is not on this machine")
	}
	p, b := papers(t), small(t)
	system, err := p.system(b, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	file, err := writePackage("deb", t.TempDir(), t.TempDir(), sample, b, p, system)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), tool, "-R", file, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	for name, mode := range map[string]fs.FileMode{
		"usr/bin/orgmem": 0o755, "etc/orgmem": 0o750, "etc/orgmem/orgmem.toml": 0o640, "var/lib/orgmem": 0o700,
		"usr/lib/systemd/system/orgmem.service": 0o644, "usr/share/man/man5/orgmem.toml.5.gz": 0o644,
		"usr/share/zsh/vendor-completions/_orgmem": 0o644, "usr/share/doc/orgmem/copyright": 0o644,
		"DEBIAN/postinst": 0o755, "DEBIAN/prerm": 0o755, "DEBIAN/postrm": 0o755,
	} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode || info.Mode().IsRegular() && info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	conffiles, err := os.ReadFile(filepath.Join(dir, "DEBIAN", "conffiles"))
	if err != nil || strings.TrimSpace(string(conffiles)) != "/etc/orgmem/orgmem.toml" {
		t.Errorf("conffiles %q, %v", conffiles, err)
	}
	for _, script := range []string{"postinst", "prerm", "postrm"} {
		path := filepath.Join(dir, "DEBIAN", script)
		if out, err := exec.CommandContext(t.Context(), "sh", "-n", path).CombinedOutput(); err != nil {
			t.Errorf("%s: %s", script, out)
		}
	}
}

func TestImageRunsAsNobody(t *testing.T) {
	t.Parallel()
	p, b := papers(t), small(t)
	system, err := p.system(b, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := provenances(root)
	if err != nil {
		t.Fatal(err)
	}
	labels, err := labelsOf(sample, all)
	if err != nil {
		t.Fatal(err)
	}
	images := map[target]v1.Image{}
	for _, t2 := range targets[:2] {
		b.target = t2
		if images[t2], err = imageOf(sample, b, system, labels); err != nil {
			t.Fatal(err)
		}
	}
	staging := filepath.Join(t.TempDir(), "oci")
	if err := writeImage(filepath.Join(t.TempDir(), "oci.tar"), staging, sample, images, labels); err != nil {
		t.Fatal(err)
	}
	path, err := layout.FromPath(staging)
	if err != nil {
		t.Fatal(err)
	}
	outer, err := path.ImageIndex()
	if err != nil {
		t.Fatal(err)
	}
	top, err := outer.IndexManifest()
	const refName = "org.opencontainers.image.ref.name"
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations[refName] != "1.2.3" {
		t.Fatalf("%+v, %v", top, err)
	}
	inner, err := outer.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	index, err := inner.IndexManifest()
	if err != nil || len(index.Manifests) != 2 {
		t.Fatalf("%+v, %v", index, err)
	}
	for _, m := range index.Manifests {
		image, err := inner.Image(m.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		c := config.Config
		if config.Architecture != m.Platform.Architecture || c.User != "65532:65532" ||
			c.Entrypoint[0] != "/usr/bin/orgmem" || !strings.Contains(c.Labels["orgmem.models"], "multilingual-e5-small") ||
			c.Labels["org.opencontainers.image.revision"] != sample.commit {
			t.Errorf("%+v", config)
		}
	}
	if got := bytes.Count(authorities(), []byte("BEGIN CERTIFICATE")); got < 80 {
		t.Errorf("%d authorities", got)
	}
}
