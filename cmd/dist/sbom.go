package main

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// spdx translates the headings of NOTICE.
var spdx = map[string]string{
	"Apache License, Version 2.0":         "Apache-2.0",
	"BSD, three clauses":                  "BSD-3-Clause",
	"BSD, two clauses":                    "BSD-2-Clause",
	"MIT":                                 "MIT",
	"MIT and Apache License, Version 2.0": "MIT AND Apache-2.0",
	"Mozilla Public License 2.0":          "MPL-2.0",
	"Unlicense":                           "Unlicense",
	"ISC":                                 "ISC",
}

// licences of the linked modules, as NOTICE has them; a test of the service holds NOTICE to
// what is linked.
func licencesInNotice(notice string) (map[string]string, error) {
	_, list, found := strings.Cut(notice, "Go modules linked into the binary")
	if !found {
		return nil, errors.New("NOTICE has no list of modules")
	}
	list, _, _ = strings.Cut(list, "\nThe console\n")
	found = false
	all, heading := map[string]string{}, ""
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if module, ok := strings.CutPrefix(line, "  "); ok {
			id := spdx[heading]
			if id == "" {
				return nil, fmt.Errorf("NOTICE: no SPDX name is known of %q, above %s", heading, module)
			}
			all[strings.TrimSpace(module)] = id
		} else if line != "" {
			heading = line
		}
	}
	return all, nil
}

var consolePackage = regexp.MustCompile(`(?m)^(\S+) (\d\S*) \(([A-Za-z0-9.-]+)\)$`)

// bom says what is in a binary: the modules that the linker has noted in it, Go, the packages in
// the console's files, and the models.
func bom(root string, r release, b built, all []provenance) ([]byte, error) {
	notice, err := readFile(root, "NOTICE")
	if err != nil {
		return nil, err
	}
	licences, err := licencesInNotice(notice)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(b.path)
	if err != nil {
		return nil, fmt.Errorf("read what is linked into %s: %w", b.path, err)
	}
	components := []cdx.Component{{
		BOMRef: "go", Type: cdx.ComponentTypeLibrary, Name: "std", Version: strings.TrimPrefix(info.GoVersion, "go"),
		Description: "Go's runtime and standard library", Licenses: licenceChoice("BSD-3-Clause"),
		PackageURL: "pkg:golang/std@" + strings.TrimPrefix(info.GoVersion, "go"),
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		id, ok := licences[m.Path]
		if !ok {
			return nil, fmt.Errorf("NOTICE does not name %s, which is linked for %s", m.Path, b.target)
		}
		components = append(components, moduleComponent(m.Path, m.Version, m.Sum, id))
	}
	packages, err := readFile(root, "console/dist/licences.txt")
	if err != nil {
		return nil, err
	}
	for _, m := range consolePackage.FindAllStringSubmatch(packages, -1) {
		purl := fmt.Sprintf("pkg:npm/%s@%s", strings.Replace(m[1], "@", "%40", 1), m[2])
		components = append(components, cdx.Component{
			BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: m[1], Version: m[2], Licenses: licenceChoice(m[3]),
			PackageURL: purl, Description: "in the console's built files",
		})
	}
	for _, p := range all {
		components = append(components, modelComponent(p))
	}
	return encodeBOM(r, b, components)
}

func encodeBOM(r release, b built, components []cdx.Component) ([]byte, error) {
	root := cdx.Component{
		BOMRef: "orgmem", Type: cdx.ComponentTypeApplication, Name: "orgmem", Version: r.version,
		Description: "Organizational memory service, " + b.os + "/" + b.arch, Licenses: licenceChoice("Apache-2.0"),
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: b.sha256}},
		PackageURL: "pkg:generic/orgmem@" + url.PathEscape(r.version) + "?arch=" + b.arch + "&os=" + b.os,
		Properties: &[]cdx.Property{{Name: "orgmem:commit", Value: r.commit}},
	}
	refs := make([]string, 0, len(components))
	for _, c := range components {
		refs = append(refs, c.BOMRef)
	}
	slices.Sort(refs)
	doc := cdx.NewBOM()
	doc.SpecVersion = cdx.SpecVersion1_6
	doc.JSONSchema = "http://cyclonedx.org/schema/bom-1.6.schema.json"
	doc.SerialNumber = "urn:uuid:" + nameUUID(b.sha256)
	doc.Metadata = &cdx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &root}
	doc.Components = &components
	doc.Dependencies = &[]cdx.Dependency{{Ref: root.BOMRef, Dependencies: &refs}}
	var out bytes.Buffer
	encoder := cdx.NewBOMEncoder(&out, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false)
	if err := encoder.EncodeVersion(doc, cdx.SpecVersion1_6); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func moduleComponent(path, version, sum, licence string) cdx.Component {
	purl := "pkg:golang/" + path + "@" + version
	c := cdx.Component{
		BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: path, Version: version, Licenses: licenceChoice(licence),
		PackageURL: purl,
	}
	// Go's sum is a hash of hashes of the files: it is in no list of algorithms of its own.
	if raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:")); err == nil && len(raw) == sha256.Size {
		c.Properties = &[]cdx.Property{{Name: "orgmem:go-sum", Value: sum}}
	}
	return c
}

func modelComponent(p provenance) cdx.Component {
	m := p.model
	c := cdx.Component{
		BOMRef: "model:" + m.name, Type: cdx.ComponentTypeMachineLearningModel, Name: m.name, Version: p.SHA256[:hashLength],
		Description: m.about, Licenses: licenceChoice(m.licence),
		Hashes:     &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: p.SHA256}},
		Properties: &[]cdx.Property{{Name: "orgmem:file", Value: m.path}},
		Pedigree:   &cdx.Pedigree{Notes: m.notes},
	}
	if m.data {
		c.Type = cdx.ComponentTypeData
	}
	ancestors := make([]cdx.Component, 0, len(m.from))
	for _, a := range m.from {
		ancestors = append(ancestors, cdx.Component{
			Type: c.Type, Name: a.name, Author: a.author, Licenses: licenceChoice(a.licence), PackageURL: a.purl,
		})
	}
	if len(ancestors) > 0 {
		c.Pedigree.Ancestors = &ancestors
	}
	return c
}

// licenceChoice is a single SPDX name, or an expression.
func licenceChoice(licence string) *cdx.Licenses {
	if strings.Contains(licence, " ") || strings.HasPrefix(licence, "LicenseRef-") {
		return &cdx.Licenses{{Expression: licence}}
	}
	return &cdx.Licenses{{License: &cdx.License{ID: licence}}}
}

// nameUUID is a UUID of version 8, made from a sum: the same binary, the same serial number.
func nameUUID(sum string) string {
	raw := sha256.Sum256([]byte("orgmem sbom " + sum))
	raw[6], raw[8] = raw[6]&0x0f|0x80, raw[8]&0x3f|0x80
	h := hex.EncodeToString(raw[:16])
	return strings.Join([]string{h[:8], h[8:12], h[12:16], h[16:20], h[20:]}, "-")
}
