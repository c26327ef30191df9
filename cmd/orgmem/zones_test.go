package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/process"
)

// TestFourMachinesInThreeZones: two of four machines stand in one zone, and every shard
// has a replica in each of the three. The machines find the cluster by --join alone:
// their tokens are from before the first one had its present address. The status and
// the metrics say how busy they are.
func TestFourMachinesInThreeZones(t *testing.T) {
	if testing.Short() {
		t.Skip("starts four processes")
	}
	dir, m := t.TempDir(), newMachine(t)
	data := func(name string) string { return filepath.Join(dir, name) }
	serve := func(name, zone, port, token string, more ...string) *process.Process {
		o := process.Options{Args: append(more, "--cluster-listen", "127.0.0.1:"+port, "--node-name", name, "--zone", zone)}
		if token != "" {
			o.Env = []string{"ORGMEM_JOIN_TOKEN=" + token}
		}
		return start(t, data(name), o)
	}
	m.ok("cluster", "init", "--data", data("one"), "--shards", "8")
	first := serve("one", "cellar", freePort(t), "")
	key := first.APIKey
	unlimited(t, first, data("one"), first.OrgID)
	m.env["ORGMEM_OPERATOR"], m.env["ORGMEM_DATA"] = first.OperatorURL, data("one")
	var tokens []string
	for range 3 {
		tokens = append(tokens, m.ok("cluster", "token")["token"].(string))
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	moved := freePort(t)
	first = serve("one", "cellar", moved, "")
	m.env["ORGMEM_OPERATOR"] = first.OperatorURL

	zones := map[string]string{"one": "cellar", "two": "cellar", "three": "attic", "four": "barn"}
	nodes := map[string]*process.Process{"one": first}
	for i, name := range []string{"two", "three", "four"} {
		nodes[name] = serve(name, zones[name], freePort(t), tokens[i], "--join", "localhost:"+moved)
	}
	status := func() (s client.ClusterStatus) {
		t.Helper()
		r := m.run("cluster", "status", "--json")
		if err := json.Unmarshal([]byte(r.out), &s); err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
		return s
	}
	spread := func(s client.ClusterStatus) bool {
		for _, g := range s.Groups {
			in := map[string]int{}
			for _, r := range g.Replicas {
				n, _ := s.Node(r.Node)
				if r.Voter {
					in[n.Zone]++
				}
			}
			if len(in) != 3 || in["cellar"] != 1 || in["attic"] != 1 || in["barn"] != 1 {
				return false
			}
		}
		return len(s.Nodes) == 4 && len(s.Groups) == 9
	}
	var settled client.ClusterStatus
	eventually(t, "one voter of every group in each zone, and a share for each machine", func() bool {
		settled = status()
		return spread(settled) &&
			!slices.ContainsFunc(settled.Nodes, func(n client.ClusterNode) bool { return n.Voters == 0 })
	})
	for _, n := range settled.Nodes {
		if zones[n.Name] != n.Zone || n.State != "alive" {
			t.Errorf("status shows %+v", n)
		}
	}

	// Whichever node the organization lives on, its work is seen on the first one.
	n := 0
	busy := func() (name string, load uint32) {
		for range 10 {
			n++
			caller{base: nodes["two"].BaseURL, key: key}.must(t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
				map[string]any{"content": fmt.Sprintf("The %d. note about the boiler in the cellar.", n)})
		}
		for _, n := range status().Nodes {
			if n.Load > load {
				name, load = n.Name, n.Load
			}
		}
		return name, load
	}
	eventually(t, "a node that is said to be busy: in the status, to people too, and in its own metrics", func() bool {
		name, load := busy()
		if load == 0 {
			return false
		}
		if load > 1000 {
			t.Fatalf("%s has a load of %d thousandths", name, load)
		}
		shown := m.run("cluster", "status").out
		told := caller{base: nodes[name].OperatorURL}.send(t.Context(), http.MethodGet, "/metrics", "", nil)
		return strings.Contains(shown, " LOAD ") && regexp.MustCompile(` [1-9]\d* % `).MatchString(shown) &&
			regexp.MustCompile(`\norgmem_cluster_load_ratio (1|0\.0?[1-9])`).Match(told.Body)
	})
}
