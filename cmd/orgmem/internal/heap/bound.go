package heap

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// memoryShare eighths of what the process may use are for Go: the rest is for what the
// binary maps, for threads, and for what the kernel keeps of files.
const memoryShare, memoryShareOf = 5, 8

// memoryBound is what Go may take before it collects harder: a part of what the control
// groups of the process and the machine allow. root is the machine's file system. Where
// nothing says how much there is it is math.MaxInt64.
func memoryBound(root fs.FS) int64 {
	allowed := int64(math.MaxInt64)
	take := func(file string) {
		raw, err := fs.ReadFile(root, file)
		if err != nil {
			return
		}
		if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && n > 0 {
			allowed = min(allowed, n)
		}
	}
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err == nil {
		for line := range strings.Lines(string(groups)) { // "4:memory:/a/b", or "0::/a/b" in version 2
			parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
			if len(parts) != 3 {
				continue
			}
			dir, file := "sys/fs/cgroup", "memory.max"
			if parts[1] == "memory" {
				dir, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
			} else if parts[1] != "" {
				continue
			}
			// A group is bounded by those that it lies in, too. In a container its own may
			// be the root, whatever the kernel calls it.
			for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
				take(path.Join(dir, group, file))
				if group == "/" {
					break
				}
			}
		}
	}
	info, err := fs.ReadFile(root, "proc/meminfo")
	if err == nil {
		for line := range strings.Lines(string(info)) {
			if total, ok := strings.CutPrefix(line, "MemTotal:"); ok {
				fields := strings.Fields(total)
				if len(fields) > 0 {
					if n, err := strconv.ParseInt(fields[0], 10, 64); err == nil && n > 0 && n <= math.MaxInt64>>10 {
						allowed = min(allowed, n<<10)
					}
				}
			}
		}
	}
	if allowed == math.MaxInt64 {
		return allowed
	}
	return allowed / memoryShareOf * memoryShare
}
