// Command house prints how the code measures up to the house's aims: `make house`.
//
//	go run ./cmd/house [-list] [ROOT]
//
// With -list it also prints where each figure comes from. What the figures mean is in
// package measure; house_test.go holds them, so that they only become smaller.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"orgmem/cmd/house/measure"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(stdout io.Writer, args []string) error {
	flags := flag.NewFlagSet("house", flag.ContinueOnError)
	list := flags.Bool("list", false, "print the places behind each figure, too")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root := "."
	if flags.NArg() > 0 {
		root = flags.Arg(0)
	}
	h, err := measure.Read(root)
	if err != nil {
		return err
	}
	printPackages(stdout, h)
	printAims(stdout, h)
	if *list {
		printPlaces(stdout, h)
	}
	return nil
}

// shown is how many packages the first table shows of those within the aim.
const shown = 12

func printPackages(stdout io.Writer, h *measure.House) {
	out := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	total := 0
	for _, p := range h.Packages {
		total += p.Lines
	}
	fmt.Fprintf(out, "package\tlines\tshare\n")
	rest, lines := 0, 0
	for i, p := range h.Packages {
		if i >= shown && p.Lines <= measure.MaxPackage {
			rest, lines = rest+1, lines+p.Lines
			continue
		}
		fmt.Fprintf(out, "%s\t%d\t%.0f %%\n", p.Path, p.Lines, 100*float64(p.Lines)/float64(total))
	}
	fmt.Fprintf(out, "%d more\t%d\t\n", rest, lines)
	_ = out.Flush()
}

func printAims(stdout io.Writer, h *measure.House) {
	large, argued, hard, tests, covered := 0, 0, 0, 0, 0
	for _, p := range h.Packages {
		if p.Lines > measure.MaxPackage {
			large++
		}
	}
	for _, s := range h.Structs {
		if s.Argued {
			argued++
		}
	}
	for _, l := range h.Lines {
		if l.Columns > measure.HardColumns {
			hard++
		}
		if l.Test {
			tests++
		}
	}
	for _, b := range h.Blocks {
		covered += b.Lines
	}
	out := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintf(out, "\nmeasure\ttoday\taim\n")
	largest := h.Packages[0]
	fmt.Fprintf(out, "lines of the largest package, %s\t%d\t≤ %d\n", largest.Path, largest.Lines, measure.MaxPackage)
	fmt.Fprintf(out, "packages over %d lines\t%d\t0\n", measure.MaxPackage, large)
	fmt.Fprintf(out, "structs over %d fields or %d methods that do not argue for it\t%d\t0\n",
		measure.MaxFields, measure.MaxMethods, len(h.Structs)-argued)
	fmt.Fprintf(out, "such structs that do\t%d\t\n", argued)
	fmt.Fprintf(out, "upward imports in actors and cluster\t%d\t0\n", len(h.Upward))
	if len(h.Writing) > 0 {
		fmt.Fprintf(out, "files on the path of an accepted write\t%d\t≤ %d\n", len(h.Writing), measure.MaxWriting)
	}
	fmt.Fprintf(out, "lines over %d columns\t%d\t< 100\n", measure.MaxColumns, len(h.Lines)-tests)
	fmt.Fprintf(out, "the same in tests\t%d\t\n", tests)
	fmt.Fprintf(out, "lines over %d columns, tests included\t%d\t0\n", measure.HardColumns, hard)
	fmt.Fprintf(out, "functions over %d lines\t%d\t≤ 5\n", measure.MaxFunction, len(h.Functions))
	fmt.Fprintf(out, "blocks of %d lines and more that stand elsewhere, too\t%d\tfewer\n",
		measure.BlockLines, len(h.Blocks))
	fmt.Fprintf(out, "lines in these blocks\t%d\tfewer\n", covered)
	_ = out.Flush()
}

func printPlaces(stdout io.Writer, h *measure.House) {
	for _, s := range h.Structs {
		word := ""
		if s.Argued {
			word = ", argued"
		}
		fmt.Fprintf(stdout, "\nstruct %s: %d fields, %d methods%s (%s)", s.Name, s.Fields, s.Methods, word, s.At)
	}
	for _, f := range h.Functions {
		fmt.Fprintf(stdout, "\nfunction %s: %d lines (%s)", f.Name, f.Lines, f.At)
	}
	for _, u := range h.Upward {
		fmt.Fprintf(stdout, "\nupward: %s", u)
	}
	for i, name := range h.Writing {
		fmt.Fprintf(stdout, "\nwrite %d: %s", i+1, name)
	}
	for _, b := range h.Blocks {
		fmt.Fprintf(stdout, "\nblock: %d lines (%s)", b.Lines, b.At)
	}
	for _, l := range h.Lines {
		fmt.Fprintf(stdout, "\nline: %d columns (%s)", l.Columns, l.At)
	}
	fmt.Fprintln(stdout)
}
