package heap

import (
	"math"
	"testing"
	"testing/fstest"
)

// TestGoIsBoundByWhatTheProcessMayUse: the smallest of what the control groups, of either
// version, and the machine allow.
func TestGoIsBoundByWhatTheProcessMayUse(t *testing.T) {
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	machine := file("MemTotal:       8388608 kB\nMemFree: 1 kB\n")
	for name, c := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"nothing is known": {fstest.MapFS{}, math.MaxInt64},
		"a machine":        {fstest.MapFS{"proc/meminfo": machine}, 5 << 30},
		"version 1": {fstest.MapFS{
			"proc/meminfo": machine, "proc/self/cgroup": file("5:cpu:/x\n4:memory:/a/b\n0::/x\n"),
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     file("9223372036854771712\n"),
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes":   file("1073741824\n"),
			"sys/fs/cgroup/memory/a/b/memory.limit_in_bytes": file("2147483648\n"),
		}, 640 << 20},
		"version 2": {fstest.MapFS{
			"proc/meminfo": machine, "proc/self/cgroup": file("0::/a\n"),
			"sys/fs/cgroup/a/memory.max": file("536870912\n"),
		}, 320 << 20},
		"a container": {fstest.MapFS{
			"proc/meminfo": machine, "proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("1073741824\n"),
		}, 640 << 20},
		"no bound": {fstest.MapFS{
			"proc/meminfo": machine, "proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/memory.max": file("max\n"),
		}, 5 << 30},
	} {
		if got := memoryBound(c.files); got != c.want {
			t.Errorf("%s: %d, want %d", name, got, c.want)
		}
	}
}
