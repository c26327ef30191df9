package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// evalVariable names the folder of the evaluation harness. It is no part of this
// repository, so without it the part is not run and says so.
const evalVariable = "ORGMEM_EVAL"

// evalFolder is where it is looked for else, from the project's root.
const evalFolder = "../shared/eval"

// developmentSets are the sets with a promise, each with its measure.
var developmentSets = []struct {
	name, measure string
	asked         float64
}{
	{"scifact", "ndcg@10", 0.72},
	{"locomo", "recall@10", 0.70},
	{"org_peps", "recall@5", 0.58},
	{"org_tsc_minutes", "recall@5", 0.90},
	{"qmsum_val", "recall@5", 0.42},
	{"2wiki_hipporag", "recall@5", 0.68},
}

// measureQuality runs the development sets through the service, each in all
// three modes: hybrid keeps what was promised, and is at least as good as the
// better of the other two.
func measureQuality(ctx context.Context, b *bench) error {
	folder := cmp.Or(os.Getenv(evalVariable), evalFolder)
	if _, err := os.Stat(filepath.Join(folder, "run.py")); err != nil {
		return fmt.Errorf("retrieval quality: %s names the folder of the evaluation harness: %w", evalVariable, err)
	}
	s, err := b.fresh(ctx)
	if err != nil {
		return err
	}
	for _, set := range developmentSets {
		if b.sets != "" && !slices.Contains(strings.Split(b.sets, ","), set.name) {
			continue
		}
		found := map[string]float64{}
		for _, mode := range []string{"hybrid", "vector", "keyword"} {
			if found[mode], err = b.evaluate(ctx, s, folder, set.name, mode, set.measure); err != nil {
				return err
			}
		}
		hybrid, better := found["hybrid"], max(found["vector"], found["keyword"])
		b.report.add(set.name+" "+set.measure, fmt.Sprintf(">= %.2f, and the better alone", set.asked),
			hybrid >= set.asked && hybrid >= better, "%.3f (vector %.3f, keyword %.3f)", hybrid, found["vector"],
			found["keyword"])
	}
	return s.end()
}

// evaluate runs one set in one mode. The harness loads a set once per service.
func (b *bench) evaluate(ctx context.Context, s *service, folder, set, mode, measure string) (float64, error) {
	result := filepath.Join(b.dir, set+"-"+mode+".json")
	cmd := exec.CommandContext(ctx, "python3", filepath.Join(folder, "run.py"), "retrieval", set,
		"--base", s.BaseURL, "--mode", mode, "--out", filepath.Join(b.dir, "eval"), "--output", result)
	cmd.Env = append(os.Environ(), "ORGMEM_API_KEY="+s.key) // not an argument, which anyone on the machine can read
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s, %s: %w", set, mode, err)
	}
	raw, err := os.ReadFile(result)
	if err != nil {
		return 0, err
	}
	var got struct {
		Overall map[string]float64 `json:"overall"`
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		return 0, fmt.Errorf("%s: %w", result, err)
	}
	value, ok := got.Overall[measure]
	if !ok {
		return 0, fmt.Errorf("%s has no %s", result, measure)
	}
	return value, nil
}
