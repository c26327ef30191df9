package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
	pb "orgmem/proto"
	"orgmem/storage"
)

// runbooksEnv makes the test go through all runbooks; without it, through those
// that need no cluster of three.
const runbooksEnv = "ORGMEM_TEST_RUNBOOKS"

// runbookBlocks are the commands of docs/operations.md, by the heading under which
// they stand: of each block the lines.
func runbookBlocks(t *testing.T) map[string][][]string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string][][]string{}
	for _, section := range strings.Split(string(raw), "\n### ")[1:] {
		heading, text, _ := strings.Cut(section, "\n")
		for _, block := range regexp.MustCompile("(?s)```bash\n(.*?)\n```").FindAllStringSubmatch(text, -1) {
			blocks[heading] = append(blocks[heading], strings.Split(block[1], "\n"))
		}
	}
	return blocks
}

// yard is some machines on which an operator types.
type yard struct {
	t      *testing.T
	dir    string
	binary string // the installed one
	shell  *shell
	blocks map[string][][]string
	typed  map[string]int // blocks of each runbook that were typed
	flags  []string       // that whatever serves has beside its own

	key, org string // of the organization that the first machine's quickstart made
	acked    []string
	tenants  []*customer // further ones
}

// customer is an organization with what was acknowledged to it.
type customer struct {
	store string // its name, as storage has it
	key   string
	told  int // notes that it was to remember
	acked []string
}

// site is one of them, with what runs on it.
type site struct {
	name, data, address string
	p                   *process.Process
}

func newYard(t *testing.T) *yard {
	t.Helper()
	y := &yard{t: t, dir: t.TempDir(), blocks: runbookBlocks(t), typed: map[string]int{}}
	y.binary = filepath.Join(y.dir, "bin", "orgmem")
	if out, err := exec.CommandContext(t.Context(), "install", "-D", "-m", "755", binary(t),
		y.binary).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	y.shell = newShell(t, y.dir, "")
	y.set("PATH", filepath.Dir(y.binary)+":$PATH")
	// What serves does not return: the test starts it.
	y.shell.run(t,
		`orgmem() { if [ "$1" = serve ]; then shift; echo "--serve-- $ORGMEM_JOIN_TOKEN"; else command orgmem "$@"; fi; }`)
	return y
}

func (y *yard) set(name, value string) {
	y.t.Helper()
	y.shell.run(y.t, fmt.Sprintf("export %s=\"%s\"", name, value))
}

func (y *yard) site(name string) *site {
	y.t.Helper()
	return &site{name: name, data: filepath.Join(y.dir, name), address: "127.0.0.1:" + freePort(y.t)}
}

// alone starts a machine that belongs to no cluster.
func (y *yard) alone(s *site) {
	y.t.Helper()
	s.p = start(y.t, s.data, process.Options{Binary: y.binary})
}

// block types the next block of a runbook on a machine, and returns what was
// printed last.
func (y *yard) block(runbook string, on *site) string {
	y.t.Helper()
	n := y.typed[runbook]
	y.typed[runbook]++
	if n >= len(y.blocks[runbook]) {
		y.t.Fatalf("%s has %d blocks only", runbook, n)
	}
	return y.lines(y.blocks[runbook][n], on)
}

// again lets the last n blocks of a runbook be typed once more.
func (y *yard) again(runbook string, n int) { y.typed[runbook] -= n }

func (y *yard) lines(lines []string, on *site) (out string) {
	y.t.Helper()
	operator := "http://127.0.0.1:1" // nobody
	if on.p != nil {
		operator = on.p.OperatorURL
	}
	y.set("ORGMEM_DATA", on.data)
	y.set("ORGMEM_CLUSTER_LISTEN", on.address)
	y.set("ORGMEM_OPERATOR", operator)
	for _, line := range lines {
		var status string
		out, status = y.shell.try(y.t, line)
		// Without a confirmation it says what it would do, and fails.
		if want := map[bool]string{false: "0", true: "1"}[line == "orgmem cluster recover"]; status != want {
			y.t.Fatalf("%s: status %s: %s\n%s", line, status, out, logOf(on))
		}
		token, served := strings.CutPrefix(strings.TrimSpace(out), "--serve-- ")
		if served || strings.TrimSpace(out) == "--serve--" {
			o := process.Options{
				Binary: y.binary,
				Args:   slices.Concat([]string{"--cluster-listen", on.address, "--node-name", on.name}, y.flags),
			}
			if served {
				o.Env = []string{"ORGMEM_JOIN_TOKEN=" + token}
			}
			on.p = start(y.t, on.data, o)
		}
	}
	return out
}

func logOf(s *site) string {
	if s.p == nil {
		return ""
	}
	return s.p.Log()
}

// crew is up to three machines as one memory.
func (y *yard) crew(sites ...*site) *trio {
	c := &trio{t: y.t, dir: y.dir, key: y.key}
	for i, s := range sites {
		c.nodes[i] = s.p
	}
	return c
}

// during keeps clients writing through some machines while f happens, and returns
// what was refused.
func (y *yard) during(tag string, through []*site, f func()) []string {
	y.t.Helper()
	c := y.crew(through...)
	var all []int
	for i := range through {
		all = append(all, i)
	}
	w := c.write(tag, all...)
	w.more(y.t, 20)
	f()
	w.more(y.t, 20)
	acked, refused := w.stop()
	y.acked = append(y.acked, acked...)
	return refused
}

// remembers makes sure that a machine has all that was ever acknowledged.
func (y *yard) remembers(s *site) {
	y.t.Helper()
	y.crew(s).holds(0, y.acked)
	for _, o := range y.tenants {
		c := y.crew(s)
		c.key = o.key
		c.holds(0, o.acked)
	}
}

// settle makes further organizations, so many that every machine is to hold some.
func (y *yard) settle(n int, on *site) {
	y.t.Helper()
	for i := range n {
		out := y.lines([]string{fmt.Sprintf("orgmem org create --name Tenant-%d --owner-email t%d@example.com --plan "+
			"unlimited --json", i, i)}, on)
		var made struct{ OrgID, APIKey string }
		if err := json.Unmarshal([]byte(out), &made); err != nil {
			y.t.Fatalf("%s: %v", out, err)
		}
		org, err := pb.ParseOrgID(made.OrgID)
		if err != nil {
			y.t.Fatal(err)
		}
		y.tenants = append(y.tenants, &customer{
			store: storage.StoreID{Org: org, Realm: storage.RealmMain}.String(),
			key:   made.APIKey,
		})
	}
}

// tell has every tenant remember a note more, each through the next machine. What is
// refused was not acknowledged.
func (y *yard) tell(through ...*site) {
	y.t.Helper()
	for i, o := range y.tenants {
		c := caller{base: through[i%len(through)].p.BaseURL, key: o.key}
		name := fmt.Sprintf("%s-%d", o.store, o.told)
		o.told++
		if a := c.send(y.t.Context(), http.MethodPost, "/v1/ingest", "",
			map[string]any{"externalId": name, "content": "note " + name}); a.Status == http.StatusAccepted {
			o.acked = append(o.acked, name)
		}
	}
}

// lacks counts the tenants of which a machine has nothing on its disk.
func (y *yard) lacks(s *site) (n int) {
	y.t.Helper()
	for _, o := range y.tenants {
		there, err := filepath.Glob(filepath.Join(s.data, "stores", "*", o.store))
		if err != nil {
			y.t.Fatal(err)
		}
		if len(there) == 0 {
			n++
		}
	}
	return n
}

// token types the block that makes a join token.
func (y *yard) token(runbook string, on *site) {
	y.t.Helper()
	y.set("TOKEN", strings.TrimSpace(y.block(runbook, on)))
}

// found is the first part of growing: a machine that served alone has a cluster.
func (y *yard) found(s *site) {
	y.t.Helper()
	y.alone(s)
	y.key, y.org = s.p.APIKey, s.p.OrgID
	unlimited(y.t, s.p, s.data, y.org)
	y.crew(s).client(0).must(y.t, http.StatusAccepted, http.MethodPost, "/v1/ingest",
		map[string]any{"content": "From before there was a cluster.", "externalId": "alone"})
	y.acked = append(y.acked, "alone")
	if err := s.p.Stop(); err != nil {
		y.t.Error(err)
	}
	y.block("Grow", s)
}

// grow lets machines join.
func (y *yard) grow(from *site, machines ...*site) {
	y.t.Helper()
	y.typed["Grow"] = 1
	for i, s := range machines {
		if i > 0 {
			y.again("Grow", 2)
		}
		y.token("Grow", from)
		y.block("Grow", s)
	}
	y.block("Grow", from)
}

// rotate types its second block until it is done.
func (y *yard) rotate(on *site) {
	y.t.Helper()
	y.block("Rotate certificates", on)
	eventually(y.t, "the end of the rotation", func() bool {
		done := strings.Contains(y.block("Rotate certificates", on), "no rotation is under way")
		if !done {
			y.again("Rotate certificates", 1)
		}
		return done
	})
}

// recovered: all but one disk are gone, and the one goes on.
func (y *yard) recovered(left *site, lost ...*site) {
	y.t.Helper()
	var names []string
	for _, s := range lost {
		s.p.Kill()
		if err := os.RemoveAll(s.data); err != nil {
			y.t.Fatal(err)
		}
		names = append(names, s.name)
	}
	y.set("LOST", names[0])
	y.set("OTHER", strings.Join(names[min(1, len(names)-1):], ","))
	if shown := y.block("Lose a majority", left); !strings.Contains(shown, lost[0].address) ||
		!strings.Contains(shown, "LOST") {
		y.t.Errorf("a look at what is lost shows %s", shown)
	}
	y.block("Lose a majority", left)
}

// restore makes a backup and brings it back on another machine.
func (y *yard) restore(from, to *site) {
	y.t.Helper()
	y.set("VAULT", filepath.Join(y.dir, "vault"))
	y.lines([]string{"orgmem backup keygen backup.key", `orgmem backup create "$VAULT" --key backup.key.pub`}, from)
	from.p.Kill()
	y.block("Restore", to)
}

// all makes sure that every block of a runbook was typed.
func (y *yard) all(runbooks ...string) {
	y.t.Helper()
	for _, r := range runbooks {
		if y.typed[r] != len(y.blocks[r]) || y.typed[r] == 0 {
			y.t.Errorf("%d of %d blocks of %q were typed", y.typed[r], len(y.blocks[r]), r)
		}
	}
}

// TestRunbooksInShort types the runbooks that two machines are enough for: a second
// one joins, certificates are replaced, the first one's disk is lost, the second one goes on from its copy,
// and a backup of that is brought back.
func TestRunbooksInShort(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	y := newYard(t)
	one, two, three := y.site("one"), y.site("two"), y.site("three")
	y.found(one)
	y.grow(one, two)
	if refused := y.during("rotation", []*site{one, two}, func() { y.rotate(two) }); len(refused) > 0 {
		t.Errorf("%d requests were refused while certificates were replaced, the first: %s", len(refused), refused[0])
	}
	y.remembers(one) // all of it is worked off: what follows cannot be behind by more than an idle moment
	y.typed["Lose a majority"] = 1
	y.recovered(two, one)
	y.remembers(two)
	y.restore(two, three)
	y.remembers(three)
	y.all("Grow", "Rotate certificates", "Lose a majority", "Restore")
}

// TestRunbooks types all runbooks: one machine becomes three, they are upgraded,
// one is lost, then two, and it ends with one machine, and a backup of that.
func TestRunbooks(t *testing.T) {
	if os.Getenv(runbooksEnv) == "" {
		t.Skip("make runbooks")
	}
	y := newYard(t)
	one, two, three := y.site("one"), y.site("two"), y.site("three")
	y.found(one)
	y.grow(one, two, three)
	for _, s := range []*site{one, two, three} {
		y.remembers(s)
	}
	if refused := y.during("rotation", []*site{one, two, three}, func() { y.rotate(two) }); len(refused) > 0 {
		t.Errorf("%d requests were refused while certificates were replaced, the first: %s", len(refused), refused[0])
	}

	y.set("NEW", binary(t))
	y.set("BINARY", y.binary)
	for i, s := range []*site{one, two, three} {
		if i > 0 {
			y.again("Upgrade", 2)
		}
		y.set("NODE", s.name)
		others := slices.DeleteFunc([]*site{one, two, three}, func(o *site) bool { return o == s })
		refused := y.during("upgrade-"+s.name, others, func() {
			y.block("Upgrade", others[0])
			y.block("Upgrade", s)
		})
		if len(refused) > 0 {
			t.Errorf("%d requests were refused while %s was upgraded, the first: %s", len(refused), s.name, refused[0])
		}
	}
	y.lines(y.blocks["Upgrade"][0][:1], one) // all are as they should be before the next thing happens
	for _, s := range []*site{one, two, three} {
		y.remembers(s)
	}

	four := y.site("four")
	y.during("lost", []*site{one, two}, func() {
		three.p.Kill()
		if err := os.RemoveAll(three.data); err != nil {
			t.Fatal(err)
		}
		eventually(t, "that it is missed", func() bool {
			shown := y.lines(y.blocks["Lose a node"][0], one)
			return strings.Contains(shown, "away") || strings.Contains(shown, "failed")
		})
		y.typed["Lose a node"] = 1
		y.set("NODE", three.name)
		y.block("Lose a node", one)
		y.token("Lose a node", two)
		y.block("Lose a node", four)
		y.block("Lose a node", four)
	})
	y.remembers(four)

	// Two are away and come back.
	two.p.Kill()
	four.p.Kill()
	y.block("Lose a majority", two)
	y.again("Lose a majority", 1)
	y.block("Lose a majority", four)
	y.lines(y.blocks["Grow"][3], one)
	if refused := y.during("back", []*site{one, two, four}, func() {}); len(refused) > 0 {
		t.Errorf("%d requests were refused after a majority came back, the first: %s", len(refused), refused[0])
	}
	y.remembers(one)
	y.lines(y.blocks["Grow"][3], one)

	// Two are gone.
	y.recovered(one, two, four)
	y.remembers(one)
	five, six := y.site("five"), y.site("six")
	y.grow(one, five, six)
	if refused := y.during("regrown", []*site{one, five, six}, func() {}); len(refused) > 0 {
		t.Errorf("%d requests were refused after it grew again, the first: %s", len(refused), refused[0])
	}
	y.remembers(six)

	for i, s := range []*site{six, five} {
		if i > 0 {
			y.again("Shrink", 2)
		}
		y.set("NODE", s.name)
		y.block("Shrink", one)
		y.block("Shrink", s)
		if err := s.p.Wait(); err != nil {
			t.Error(err)
		}
	}
	y.remembers(one)
	seven := y.site("seven")
	y.restore(one, seven)
	y.remembers(seven)
	y.all("Grow", "Shrink", "Upgrade", "Lose a node", "Lose a majority", "Restore", "Rotate certificates")
}

// TestRunbooksWithoutACommand: of four machines one is lost with its disk, under load,
// and nobody types anything: after gone-after every shard has three voters again, and
// all that was acknowledged. A backup of them is made while they serve and leaders move.
// Then the disks of all are lost but of one that had to be given replicas: it alone has
// everything of every organization. At last the backup becomes a cluster of two.
func TestRunbooksWithoutACommand(t *testing.T) {
	if os.Getenv(runbooksEnv) == "" {
		t.Skip("make runbooks")
	}
	y := newYard(t)
	y.flags = []string{"--gone-after", "10s"}
	one, two, three, four := y.site("one"), y.site("two"), y.site("three"), y.site("four")
	y.found(one)
	y.grow(one, two, three, four)
	y.settle(24, one)
	for range 3 {
		y.tell(one, two, three, four)
	}

	// The three that stay hold every shard in the end, which they did not before.
	stay := []*site{one, two, four}
	full := func() int { return everywhere(t, []byte(y.lines([]string{"orgmem cluster status --json"}, one))) }
	if full() == len(stay) {
		t.Fatal("three of four nodes hold everything: there is nothing to repair")
	}
	taker := slices.MaxFunc(stay, func(a, b *site) int { return y.lacks(a) - y.lacks(b) })
	given := y.lacks(taker)
	refused := y.during("repair", stay, func() {
		three.p.Kill()
		if err := os.RemoveAll(three.data); err != nil {
			t.Fatal(err)
		}
		eventually(t, "three voters of every group", func() bool {
			y.tell(stay...)
			return full() == len(stay)
		})
	})
	t.Logf("%d writes acknowledged, %d refused while a node died and was replaced", len(y.acked), len(refused))
	for _, s := range stay {
		y.remembers(s)
	}
	if given == 0 || y.lacks(taker) > 0 {
		t.Fatalf("%s was to be given %d organizations of %d and lacks %d", taker.name, given, len(y.tenants), y.lacks(taker))
	}

	y.set("VAULT", filepath.Join(y.dir, "vault"))
	y.lines([]string{"orgmem backup keygen backup.key"}, one)
	w := y.crew(stay...).write("backup", 0, 1, 2)
	w.more(t, 20)
	for _, s := range stay {
		y.acked = append(y.acked, w.sofar()...)
		y.set("NODE", s.name)
		y.lines([]string{
			`orgmem cluster drain "$NODE" >/dev/null & orgmem backup create "$VAULT" --key backup.key.pub && wait $!`,
			`orgmem cluster drain "$NODE" --undo`,
		}, one)
	}
	w.more(t, 20)
	acked, refused := w.stop()
	if len(refused) > 0 {
		t.Errorf("%d requests were refused while backups were made, the first: %s", len(refused), refused[0])
	}

	// What a node was given while the others served is whole: it is all that is left.
	backedUp := y.acked
	y.acked = slices.Concat(backedUp, acked)
	y.remembers(taker) // all of it is worked off: it cannot be behind by more than an idle moment
	y.typed["Lose a majority"] = 1
	y.recovered(taker, slices.DeleteFunc([]*site{one, two, three, four}, func(s *site) bool { return s == taker })...)
	y.remembers(taker)
	t.Logf("%s alone has %d writes of its first organization and those of %d others, of which it was given %d", taker.name,
		len(y.acked), len(y.tenants), given)

	y.acked = backedUp
	taker.p.Kill()
	five, six := y.site("five"), y.site("six")
	y.block("Restore", five)
	y.remembers(five)
	y.grow(five, six)
	y.remembers(six)
}
