package config

import (
	"slices"
	"testing"
)

// FuzzFile: whatever stands in a configuration file, its settings are known and
// are text in the end, or it is refused.
func FuzzFile(f *testing.F) {
	for _, text := range []string{
		"", "listen = \"127.0.0.1:1\"\n", "cache-size = 1\n", "listen = [1]\n", "[listen]\na = 1\n", "a.b = 1\n",
		"\"listen\" = 1.5\n", "listen = 2026-03-01\n", "listen = \"a\"\nlisten = \"b\"\n", "= 1",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		k, err := fromText("a.toml", raw)
		if err != nil {
			return
		}
		for _, key := range k.Keys() {
			at := slices.IndexFunc(Settings, func(s Setting) bool { return s.Name == key })
			if at < 0 {
				t.Fatalf("%q sets %q", raw, key)
			}
			var server Server
			_ = Settings[at].set(&server, k.String(key)) // it may be refused, and says why
		}
	})
}

// FuzzValue gives each setting a value, and holds sizes to the form in which they
// are shown.
func FuzzValue(f *testing.F) {
	for _, s := range Settings {
		f.Add(s.Default)
	}
	for _, v := range []string{
		"64 MiB", "9223372036854775807TiB", "-1", "+5", "0x10", "1h30m", "30s,120s",
		"10.0.0.0/8,::1/128", "443,0", "https://a:b@example.com/", "[::1]:8080", ":0", "\x00", " ",
	} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, v string) {
		for _, s := range Settings {
			var server Server
			_ = s.set(&server, v) // it may be refused, and says why
		}
		if n, err := ParseBytes(v); err == nil {
			if again, err := ParseBytes(FormatBytes(n)); n < 0 || err != nil || again != n {
				t.Fatalf("%q is %d, %s is %d, %v", v, n, FormatBytes(n), again, err)
			}
		}
	})
}
