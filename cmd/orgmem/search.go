package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
)

// defaultTop is fewer than the interface's ten: it should fit a terminal.
const defaultTop = 5

func newSearch(w world) *cobra.Command {
	var (
		memory memoryFlags
		query  client.Query
	)
	c := &cobra.Command{
		Use: "search QUERY...", Short: "Find by meaning and by word", Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			service, err := memory.client(w)
			if err != nil {
				return err
			}
			query.Query = strings.Join(args, " ")
			hits, raw, err := service.Search(c.Context(), query)
			if err != nil {
				return fmt.Errorf("search: %w", err)
			}
			return w.answer(c, raw, func(out io.Writer) { printHits(out, hits) })
		},
	}
	memory.register(w, c)
	c.Flags().StringVar(&query.Scope, "scope", "", "user (default) or org")
	c.Flags().IntVar(&query.TopK, "top", defaultTop, "how many results, 1 to 100")
	c.Flags().StringVar(&query.Mode, "mode", "", "hybrid (default), vector or keyword")
	return c
}

// snippetRunes is about three lines of a terminal.
const snippetRunes = 240

func printHits(out io.Writer, hits []client.Hit) {
	if len(hits) == 0 {
		fmt.Fprintln(out, "Nothing found.")
		return
	}
	for i, h := range hits {
		origin := ""
		if h.ExternalID != nil && *h.ExternalID != "" && *h.ExternalID != h.Title {
			origin = "  (" + printable(*h.ExternalID) + ")"
		}
		fmt.Fprintf(out, "%2d. %.3f  %s%s\n    %s\n", i+1, h.Score, printable(h.Title), origin, snippet(h.Chunk))
	}
}

// snippet is the beginning of a chunk on one line.
func snippet(text string) string {
	text = strings.Join(strings.Fields(printable(text)), " ")
	if runes := []rune(text); len(runes) > snippetRunes {
		return strings.TrimSpace(string(runes[:snippetRunes])) + "…"
	}
	return text
}

// printable replaces control characters: what was taken in may hold sequences
// that would drive the terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, text)
}
