package prototest_test

import (
	"testing"

	pb "orgmem/proto"
	"orgmem/proto/prototest"
)

func TestDiffComparesWhatIsMeant(t *testing.T) {
	got := &pb.Job{Type: "ingest", Status: "queued", Total: 3, Items: []*pb.JobItem{{Index: 1, Node: "n"}}}
	object := map[string]any{"a": 1.0, "c": 2.0}
	for what, c := range map[string]struct {
		diff string
		same bool
	}{
		"fields that are equal":        {prototest.Diff(&pb.Job{Type: "ingest", Total: 3}, got), true},
		"a field that differs":         {prototest.Diff(&pb.Job{Type: "ingest", Total: 4}, got), false},
		"a field that is missing":      {prototest.Diff(&pb.Job{Type: "ingest", Done: 1}, got), false},
		"a field that should be empty": {prototest.Diff(&pb.Job{Type: "ingest"}, got, "status"), false},
		"a field that is empty":        {prototest.Diff(&pb.Job{Type: "ingest"}, got, "done"), true},
		"items":                        {prototest.Diff(&pb.Job{Items: []*pb.JobItem{{Index: 1, Node: "n"}}}, got), true},
		"more items":                   {prototest.Diff(&pb.Job{Items: []*pb.JobItem{{}, {}}}, got), false},
		"no message":                   {prototest.Diff(&pb.Job{Type: "ingest"}, nil), false},
		"an object":                    {prototest.DiffObject(map[string]any{"a": 1.0, "b": nil}, object), true},
		"another":                      {prototest.DiffObject(map[string]any{"a": nil}, object), false},
	} {
		if (c.diff == "") != c.same {
			t.Errorf("%s: %q", what, c.diff)
		}
	}
}
