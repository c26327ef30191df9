package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one promise and what was found.
type row struct{ what, asked, measured, verdict string }

// report gathers rows and says on the way what is being measured.
type report struct{ rows []row }

func (r *report) add(what, asked string, ok bool, format string, args ...any) {
	verdict := "yes"
	if !ok {
		verdict = "NO"
	}
	r.row(row{what, asked, fmt.Sprintf(format, args...), verdict})
}

// missed names the promises that were not kept.
func (r *report) missed() error {
	var errs []error
	for _, one := range r.rows {
		if one.verdict == "NO" {
			errs = append(errs, fmt.Errorf("%s: asked %s, measured %s", one.what, one.asked, one.measured))
		}
	}
	return errors.Join(errs...)
}

// note adds a figure that nothing was promised of.
func (r *report) note(what, format string, args ...any) {
	r.row(row{what, "", fmt.Sprintf(format, args...), ""})
}

func (r *report) row(one row) {
	r.rows = append(r.rows, one)
	fmt.Fprintf(os.Stderr, "  %s: %s\n", one.what, one.measured)
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == ginCommand {
		exitOn(serveGin())
		return
	}
	binary := flag.String("binary", "bin/orgmem", "the built binary")
	only := flag.String("only", "", "comma list of parts: "+strings.Join(partNames(), ", "))
	orgs := flag.Int("orgs", 1000, "organizations of the part orgs")
	chunks := flag.Int("chunks", 10_000, "chunks of the part search")
	nodes := flag.Int("nodes", 100_000, "nodes of the part lists")
	many := flag.Int("many", 200, "organizations of the part many")
	notes := flag.Int("notes", 20, "notes of each of them")
	profiles := flag.String("profiles", "", "a folder for profiles of the heap from the part many; empty: none")
	sets := flag.String("sets", "", "comma list of development sets of the parts quality and domains; empty: all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	dir, err := os.MkdirTemp("", "orgmem-bench-")
	exitOn(err)
	b := &bench{
		binary: *binary, dir: dir, orgs: *orgs, chunks: *chunks, nodes: *nodes, sets: *sets, many: *many, notes: *notes,
		profiles: *profiles, report: &report{},
	}
	for _, p := range parts {
		if *only != "" && !strings.Contains(","+*only+",", ","+p.name+",") {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s\n", p.name)
		if err = p.run(ctx, b); err != nil {
			err = fmt.Errorf("%s: %w", p.name, err)
			break
		}
	}
	b.print()
	if rerr := os.RemoveAll(dir); err == nil {
		err = rerr
	}
	if err == nil {
		err = b.report.missed()
	}
	exitOn(err)
}

// parts are measured one after the other, each on a service of its own, so that
// none pays for another's backlog.
var parts = []struct {
	name string
	run  func(context.Context, *bench) error
}{
	{"embed", measureEmbed},
	{"start", measureStart},
	{"accept", measureAccept},
	{"reads", measureReads},
	{"fresh", measureFresh},
	{"search", measureSearch},
	{"cognition", measureCognition},
	{"sessions", measureSessions},
	{"import", measureImport},
	{"cancel", measureCancel},
	{"lists", measureLists},
	{"streams", measureStreams},
	{"clients", measureClients},
	{"orgs", measureOrgs},
	{"many", measureMany},
	{"quality", measureQuality},
	{"domains", measureDomains},
	{"cluster-reads", measureClusterReads},
	{"cluster-idle", measureClusterIdle},
	{"cluster-writes", measureClusterWrites},
	{"cluster-join", measureClusterJoin},
	{"cluster-failover", measureClusterFailover},
	{"cluster-drain", measureClusterDrain},
}

func partNames() []string {
	var names []string
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

func (b *bench) print() {
	fmt.Printf("\n%s, %d processors, %s, %s\n\n", processorName(), runtime.NumCPU(), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly))
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "WHAT\tASKED\tMEASURED\tHELD")
	for _, r := range b.report.rows {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.what, r.asked, r.measured, r.verdict)
	}
	table.Flush()
	if load, err := os.ReadFile("/proc/loadavg"); err == nil {
		fmt.Printf("\nload average at the end: %s", load)
	}
}

func processorName() string {
	out, err := exec.Command("sh", "-c", "grep -m1 'model name' /proc/cpuinfo | cut -d: -f2").Output()
	if name := strings.TrimSpace(string(out)); err == nil && name != "" {
		return name
	}
	return runtime.GOARCH
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}
