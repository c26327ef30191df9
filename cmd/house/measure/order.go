package measure

import (
	"slices"
	"strings"
)

// Order says which packages below actors, cluster and storage may import which: a package imports
// those of the rows above its own row, and of no other. Packages of one row do not know
// each other. docs/architecture.md says why the rows are these.
//
// A new package of these folders needs a place here; house_test.go holds both. A row may
// name a package before it exists, so that a move finds its place.
var Order = map[string][][]string{
	"actors": {
		{"actors/budget", "actors/egress", "actors/llm"},
		{"actors/connect"},
		{"actors/node"},
		{"actors/partition"},
		{"actors/commit"},
		{"actors/tenant"},
		{"actors/ground", "actors/listing"},
		{"actors/graph"},
		{"actors/subject"},
		{"actors/training", "actors/webhook", "actors/export", "actors/connector", "actors/moving"},
		{"actors/cognition"},
		{"actors/search"},
		{"actors/account", "actors/backup", "actors/quality"},
		{"actors/peer"},
		{"actors"},
	},
	"cluster": {
		{"cluster/wire"},
		{"cluster/mesh", "cluster/plan", "cluster/raftlog", "cluster/state"},
		{"cluster/remoting", "cluster/transfer"},
		{"cluster"},
		{"cluster/clustertest"},
	},
	"storage": {
		{"storage/disk"},
		{"storage/ledger", "storage/scratch"},
		{"storage"},
		{"storage/storagetest"},
	},
}

// order finds what Order does not allow.
func (h *House) order() {
	rows := map[string]int{}
	for _, folder := range Order {
		for row, names := range folder {
			for _, name := range names {
				rows[name] = row
			}
		}
	}
	for _, p := range h.Packages {
		folder, _, _ := strings.Cut(p.Path, "/")
		if Order[folder] == nil {
			continue
		}
		row, placed := rows[p.Path]
		if !placed {
			h.Unordered = append(h.Unordered, p.Path)
			continue
		}
		for _, to := range p.Wants {
			if top, _, _ := strings.Cut(to, "/"); top != folder {
				continue // what the folders may import of each other is held elsewhere
			}
			if above, placed := rows[to]; !placed || above >= row {
				h.Upward = append(h.Upward, p.Path+" imports "+to)
			}
		}
	}
	slices.Sort(h.Upward)
	slices.Sort(h.Unordered)
}
