package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/cmd/orgmem/internal/config"
	pb "orgmem/proto"
)

func TestClusterInitMakesOneCluster(t *testing.T) {
	m := newMachine(t)
	data := filepath.Join(t.TempDir(), "data")
	first := m.ok("cluster", "init", "--data", data, "--ballast-bytes", "0")
	if first["cluster"] == "" || first["server"] == "" || first["shards"] != 32.0 {
		t.Errorf("init says %v", first)
	}
	info, err := os.Stat(filepath.Join(data, credentialsFile))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("credentials: %v, %v", info, err)
	}
	creds, err := readCredentials(data)
	if err != nil {
		t.Fatal(err)
	}
	// Again: the same cluster, and a certificate that works as well.
	again := m.ok("cluster", "init", "--data", data, "--ballast-bytes", "0")
	if again["cluster"] != first["cluster"] || again["server"] != first["server"] {
		t.Errorf("init again says %v, before %v", again, first)
	}
	if next, err := readCredentials(data); err != nil || next.Cluster() != creds.Cluster() ||
		next.Server() != creds.Server() {
		t.Errorf("credentials are of another node now: %v", err)
	}
	if r := m.run("cluster", "init", "--data", data, "--ballast-bytes", "0"); !strings.Contains(r.out,
		"orgmem cluster token --data "+data) {
		t.Errorf("init does not say how to go on: %s", r.out)
	}
}

// A start that cannot become a node says what is missing, and touches nothing.
func TestServeNeedsATokenToJoin(t *testing.T) {
	full := t.TempDir()
	if err := os.Mkdir(filepath.Join(full, "stores"), 0o700); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(t.TempDir(), "long")
	if err := os.WriteFile(long, make([]byte, config.MaxSecretFile+1), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged := t.TempDir()
	if err := os.WriteFile(filepath.Join(damaged, credentialsFile), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := proto.Marshal(&pb.Token{Fingerprints: [][]byte{make([]byte, 32)}, Secret: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	good := "orgmem-join-1-" + base64.RawURLEncoding.EncodeToString(raw)
	for name, c := range map[string]struct {
		data, token string
		flags       []string
		want        string
	}{
		"no token":        {data: t.TempDir(), want: "orgmem cluster init"},
		"not a token":     {data: t.TempDir(), token: "hello", want: "not a join token"},
		"token cut short": {data: t.TempDir(), token: good[:40], want: "not a join token"},
		"data of its own": {data: full, token: good, want: "has data of its own"},
		"token file missing": {
			data: t.TempDir(), flags: []string{"--join-token-file", "/nonexistent"},
			want: "join-token-file",
		},
		"token file too big": {data: t.TempDir(), flags: []string{"--join-token-file", long}, want: "larger than"},
		"damaged":            {data: damaged, token: good, want: credentialsFile},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			if c.token != "" {
				m.env["ORGMEM_JOIN_TOKEN"] = c.token
			}
			before, err := os.ReadDir(c.data)
			if err != nil {
				t.Fatal(err)
			}
			r := m.run(append([]string{"serve", "--data", c.data, "--cluster-listen", "127.0.0.1:0"}, c.flags...)...)
			if r.status != exitFailed || !strings.Contains(r.err, c.want) {
				t.Errorf("ended with %d: %s", r.status, r.err)
			}
			if after, err := os.ReadDir(c.data); err != nil || len(after) != len(before) {
				t.Errorf("left %d files, had %d: %v", len(after), len(before), err)
			}
		})
	}
}

func TestClusterTokenAndRotate(t *testing.T) {
	m := newMachine(t)
	const rotating = `{"generations":[1,2],"signing":1,"waiting":["n-2"],"expiresAt":"2027-01-01T00:00:00.000Z"}`
	serveOperator(t, m, map[string]string{
		"POST /operator/cluster/tokens":   `{"token":"orgmem-join-1-abc","expiresAt":"2027-01-01T00:00:00.000Z"}`,
		"POST /operator/cluster/rotation": rotating,
		"GET /operator/cluster/rotation": strings.Replace(strings.Replace(rotating, "[1,2]", "[2]", 1),
			`"signing":1,"waiting":["n-2"]`, `"signing":2,"waiting":[]`, 1),
	})
	if r := m.run("cluster", "token"); r.status != exitDone || r.out != "orgmem-join-1-abc\n" ||
		!strings.Contains(r.err, "one machine") {
		t.Errorf("token: %+v", r)
	}
	for _, ttl := range []string{"0s", "169h"} {
		if r := m.run("cluster", "token", "--ttl", ttl); r.status != exitUsage {
			t.Errorf("a token for %s: %+v", ttl, r)
		}
	}
	if r := m.run("cluster", "rotate"); !strings.Contains(r.out, "Generation 2 is being made known; 1 signs.") ||
		!strings.Contains(r.out, "n-2") {
		t.Errorf("rotate: %+v", r)
	}
	if r := m.run("cluster", "rotate", "--status"); !strings.Contains(r.out, "Generation 2 signs; no rotation") {
		t.Errorf("rotate --status: %+v", r)
	}
}
