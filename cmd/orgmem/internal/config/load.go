package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/knadh/koanf/parsers/toml/v2"
	"github.com/knadh/koanf/providers/confmap"
	"github.com/knadh/koanf/providers/rawbytes"
	"github.com/knadh/koanf/v2"
)

// ErrInvalid is wrapped by every error of Load.
var ErrInvalid = errors.New("invalid configuration")

// maxFileBytes bounds the configuration file; ours has a dozen short lines.
const maxFileBytes = 1 << 20

// Origin says where a value came from.
type Origin string

// The origins, weakest first.
const (
	FromDefault    Origin = "default"
	FromCredential Origin = "credential"
	FromFile       Origin = "file"
	FromEnv        Origin = "env"
	FromFlag       Origin = "flag"
)

// Value is one effective setting, as doctor shows it. No setting is a secret:
// secrets live in files of the data directory.
type Value struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin Origin `json:"origin"`
}

// CredentialPrefix and the name of a setting that names a file are the name of a credential of
// systemd. Its stores of credentials are shared by all services, hence the prefix.
const CredentialPrefix = "orgmem."

// Sources is where Load looks. Flags holds only the flags that were given.
type Sources struct {
	Flags  map[string]string
	Getenv func(string) (string, bool)
	File   string // path; empty: none
	// Credentials is the directory in which systemd has put the unit's credentials; empty: none.
	Credentials string
}

// Load returns the effective configuration. Values are returned in the order of
// the table even when err is not nil, so that doctor can show what is wrong.
func Load(src Sources) (Server, []Value, error) {
	var problems []error
	layers := []struct {
		origin Origin
		k      *koanf.Koanf
	}{
		{FromDefault, fromMap(defaults())},
		{FromCredential, fromMap(credentials(src.Credentials))},
		{FromFile, fromMap(nil)},
		{FromEnv, fromMap(environment(src.Getenv))},
		{FromFlag, fromMap(src.Flags)},
	}
	if src.File != "" {
		k, err := fromFile(src.File)
		if err != nil {
			problems = append(problems, err)
		} else {
			layers[2].k = k
		}
	}
	var server Server
	values := make([]Value, 0, len(Settings))
	for _, setting := range Settings {
		v := Value{Name: setting.Name}
		for _, layer := range layers { // later layers are stronger
			if layer.k.Exists(setting.Name) {
				v.Value, v.Origin = layer.k.String(setting.Name), layer.origin
			}
		}
		if err := setting.set(&server, v.Value); err != nil {
			problems = append(problems, fmt.Errorf("%s (%s): %w", setting.Name, v.Origin, err))
		}
		values = append(values, v)
	}
	if len(problems) > 0 {
		return server, values, fmt.Errorf("%w: %w", ErrInvalid, errors.Join(problems...))
	}
	return server, values, nil
}

// UnknownEnv lists variables that begin with ORGMEM_ and mean nothing: most
// likely misspelt. They are warned about and not refused, since an environment
// is often shared with other programs of the same house.
func UnknownEnv(environ []string) []string {
	known := map[string]bool{EnvConfig: true, EnvStateHome: true}
	for _, s := range Settings {
		known[s.Env()] = true
	}
	for _, s := range ClientSettings {
		known[s.Env] = true
	}
	var unknown []string
	for _, pair := range environ {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "ORGMEM_") && !known[name] {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}

// delim cannot occur in a setting's name, so that koanf nests nothing.
const delim = "\x00"

func fromMap(m map[string]string) *koanf.Koanf {
	k := koanf.New(delim)
	values := make(map[string]any, len(m))
	for name, v := range m {
		values[name] = v
	}
	// confmap hands the map over as it is; nothing in it can fail.
	if err := k.Load(confmap.Provider(values, delim), nil); err != nil {
		panic("config: a flat map of strings did not load: " + err.Error()) //nolint:forbidigo // broken invariant, see above
	}
	return k
}

func fromFile(path string) (*koanf.Koanf, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	if info.Size() > maxFileBytes {
		return nil, fmt.Errorf("file %s: larger than %s", path, FormatBytes(maxFileBytes))
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("file: %w", err)
	}
	return fromText(path, raw)
}

// fromText reads the content of a file; path is for its errors.
func fromText(path string, raw []byte) (*koanf.Koanf, error) {
	k := koanf.New(delim)
	if err := k.Load(rawbytes.Provider(raw), toml.Parser()); err != nil {
		return nil, fmt.Errorf("file %s: %w", path, err)
	}
	var problems []error
	for _, key := range k.Keys() {
		shown := strings.ReplaceAll(key, delim, ".")
		if !slices.ContainsFunc(Settings, func(s Setting) bool { return s.Name == key }) {
			problems = append(problems, fmt.Errorf("file %s: unknown setting %q", path, shown))
			continue
		}
		switch k.Get(key).(type) {
		case string, int64, float64, bool:
		default:
			problems = append(problems, fmt.Errorf("file %s: %s must be a text or a number", path, shown))
		}
	}
	if len(problems) > 0 {
		return nil, errors.Join(problems...)
	}
	return k, nil
}

func defaults() map[string]string {
	m := make(map[string]string, len(Settings))
	for _, s := range Settings {
		m[s.Name] = s.Default
	}
	return m
}

// credentials are the files among the unit's credentials that a setting asks for.
func credentials(dir string) map[string]string {
	m := make(map[string]string)
	if dir == "" {
		return m
	}
	for _, s := range Settings {
		path := filepath.Join(dir, CredentialPrefix+s.Name)
		if _, err := os.Stat(path); s.Form == FormFile && err == nil {
			m[s.Name] = path
		}
	}
	return m
}

func environment(getenv func(string) (string, bool)) map[string]string {
	m := make(map[string]string)
	for _, s := range Settings {
		if v, ok := getenv(s.Env()); ok {
			m[s.Name] = v
		}
	}
	return m
}
