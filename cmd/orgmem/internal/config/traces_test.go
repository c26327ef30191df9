package config_test

import (
	"strings"
	"testing"

	"orgmem/cmd/orgmem/internal/config"
)

func TestTracesAreSet(t *testing.T) {
	t.Parallel()
	server, _, err := config.Load(config.Sources{Getenv: noEnv, File: write(t,
		"traces-endpoint = \"https://collector.example/otlp\"\ntraces-ratio = 0.25\ntraces-organizations = true\n"+
			"traces-headers-file = \"/etc/headers\"\n")})
	if err != nil || server.TracesEndpoint != "https://collector.example/otlp" || server.TracesRatio != 0.25 ||
		!server.TracesOrganizations || server.TracesHeadersFile != "/etc/headers" {
		t.Errorf("%+v, %v", server, err)
	}
	if off, _, err := config.Load(config.Sources{Getenv: noEnv}); err != nil || off.TracesEndpoint != "" {
		t.Errorf("by default traces go to %q, %v", off.TracesEndpoint, err)
	}
	for name, bad := range map[string][]string{
		"traces-endpoint": {
			"localhost:4318", "ftp://x/", "https://user:secret@collector.example", "https://collector.example/?key=secret",
			"https://collector.example/" + strings.Repeat("x", 5000),
		},
		"traces-ratio":         {"", "-0.1", "1.1", "NaN", "half"},
		"traces-organizations": {"", "yes", "1"},
		"traces-headers-file":  {"/etc/headers"}, // with nowhere to send them
	} {
		for _, v := range bad {
			_, _, err := config.Load(config.Sources{Getenv: noEnv, Flags: map[string]string{name: v}})
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s=%.60s: %v", name, v, err)
			}
		}
	}
}
