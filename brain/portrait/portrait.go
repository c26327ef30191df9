package portrait

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"orgmem/brain/text"
)

// The kinds of lines.
const (
	Manner     = "manner"     // how they write
	Themes     = "themes"     // what about, mostly and lately
	Preference = "preference" // what they say they like
	Belief     = "belief"     // what they say they think
	People     = "people"     // whom and what they mention
	Rhythm     = "rhythm"     // when they write
)

const (
	// MaxLines bounds a portrait.
	MaxLines = 12
	// MaxLineNodes bounds the nodes that a line names: of what it rests on the latest.
	MaxLineNodes = 20

	// leastTexts is how many texts there must be before it is said what they are about, and leastOfTheme how many
	// of them a theme must have, which must be leastShare of all.
	leastTexts   = 8
	leastOfTheme = 3
	leastShare   = 0.05
	// maxThemes and maxNames bound what one line lists.
	maxThemes = 3
	maxNames  = 5
	// leastMentions is how many texts a name must stand in to be mentioned often.
	leastMentions = 3

	// Lately is how many of the latest texts are what somebody writes about lately, if there are at least
	// leastForLately. A theme is one of lately where it has half of them, and morely times its share of all.
	Lately         = 20
	leastForLately = 2 * Lately
	morely         = 1.5
)

// Line is a sentence about the person.
type Line struct {
	Kind, Text string
	Nodes      []string // what it rests on
	// Quotes are the words of texts that it holds: labels, names, sentences.
	Quotes []string
	// Themes are the themes that it names, by [Theme.Place].
	Themes []int32
}

// Memory is what is known of the person.
type Memory struct {
	// Personal says that one person writes it, whose name, if it is known, is Owner.
	Personal bool
	Owner    string
	Manner   string   // in a sentence; empty while too little is known
	Texts    int      // that were written
	Latest   []string // of them
	// Days are those on which was written, by times that a client gave, each counted in days
	// since 1970, in any order; Dated are the latest of these texts.
	Days       []int64
	Dated      []string
	Themes     []Theme
	Statements []Statement
	Names      []Name
}

// Theme is what some of the texts are about.
type Theme struct {
	Label  string
	Place  int32 // the caller's
	Texts  int
	Nodes  []string // the latest of the texts
	Lately []string // those among the latest [Lately] of all
}

// Name is an entity that the texts mention.
type Name struct {
	Node, Name, Type string
	Texts            int
	Latest           []string // of the texts
}

// Writing tells whose words a text is.
type Writing struct {
	Writer  string // as a client names them; empty: the memory's owner
	Foreign bool   // others speak in it, too, or nobody knows who
	Record  bool   // it is [Record] of what several people said; Foreign as well
}

// ownShare is the share of the texts that must be one person's.
const ownShare = 0.8

// Owner tells whether one person writes a memory, and their name where clients give it, by its latest texts. Records of
// what several said are nobody's: where they are most of a memory it is all of theirs, else the others tell.
func Owner(latest []Writing) (name string, personal bool) {
	if len(latest) == 0 {
		return "", false
	}
	var names []string
	times := map[string]int{}
	unnamed, records := 0, 0
	for _, w := range latest {
		switch {
		case w.Record:
			records++
		case w.Foreign:
		case w.Writer == "":
			unnamed++
		default:
			if times[w.Writer] == 0 {
				names = append(names, w.Writer)
			}
			times[w.Writer]++
		}
	}
	for _, n := range names {
		if times[n] > times[name] || times[n] == times[name] && n < name {
			name = n
		}
	}
	notes := len(latest) - records
	if notes < records || float64(unnamed+times[name]) < ownShare*float64(notes) {
		return "", false
	}
	if 2*times[name] < notes-unnamed || times[name] < 2 { // one mail that was kept names nobody
		name = ""
	}
	return name, true
}

// Draw says who the person is.
func Draw(m Memory) (lines []Line) {
	if m.Personal && m.Manner != "" && len(m.Latest) > 1 {
		lines = append(lines, Line{Kind: Manner, Text: m.Manner, Nodes: capped(m.Latest)})
	}
	lines = append(lines, m.themes()...)
	if m.Personal {
		lines = append(lines, m.lately()...)
		lines = append(lines, m.said(Preference)...)
		lines = append(lines, m.said(Belief)...)
		lines = append(lines, m.names()...)
		lines = append(lines, m.rhythm()...)
	}
	return lines[:min(len(lines), MaxLines)]
}

// ranked are the themes that are worth a word, the largest first.
func (m *Memory) ranked() []Theme {
	if m.Texts < leastTexts {
		return nil
	}
	var all []Theme
	for _, t := range m.Themes {
		if t.Label != "" && len(t.Nodes) > 1 && t.Texts >= leastOfTheme && float64(t.Texts) >= leastShare*float64(m.Texts) {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b Theme) int {
		return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Label, b.Label))
	})
	return all
}

// themes says what the texts are about, and that it is most of them only where it is.
func (m *Memory) themes() []Line {
	all := m.ranked()
	if len(all) == 0 {
		return nil
	}
	line := Line{Kind: Themes}
	var parts []string
	told := 0
	for i, t := range all[:min(len(all), maxThemes)] {
		of := ""
		if i == 0 {
			of = fmt.Sprintf(" of %d messages", m.Texts)
		}
		share := math.Round(100 * float64(t.Texts) / float64(m.Texts))
		parts = append(parts, fmt.Sprintf("%s (%.0f%%%s)", quote(text.OneLine(t.Label)), share, of))
		line.Nodes = append(line.Nodes, t.Nodes[:min(len(t.Nodes), MaxLineNodes/maxThemes)]...)
		line.Quotes, line.Themes = append(line.Quotes, t.Label), append(line.Themes, t.Place)
		told += t.Texts
	}
	line.Nodes = distinct(line.Nodes)
	who, many := "What is written here is ", 2*told < m.Texts
	if m.Personal {
		who = "Writes "
	}
	switch {
	case many && len(parts) == 1:
		line.Text = who + "about many things; the largest theme is " + parts[0] + "."
	case many:
		line.Text = who + "about many things; the largest themes are " + list(parts) + "."
	case m.Personal:
		line.Text = who + "most about " + list(parts) + "."
	default:
		line.Text = who + "mostly about " + list(parts) + "."
	}
	return []Line{line}
}

// lately says what the latest texts are about, where that is not what most are about.
func (m *Memory) lately() []Line {
	if m.Texts < leastForLately {
		return nil
	}
	for _, t := range m.ranked() {
		recent := float64(len(t.Lately)) / Lately
		if recent >= 0.5 && recent >= morely*float64(t.Texts)/float64(m.Texts) {
			return []Line{{
				Kind: Themes,
				Text: fmt.Sprintf("Lately writes mostly about %s (%d of the last %d messages).", quote(text.OneLine(t.Label)),
					len(t.Lately), Lately),
				Nodes: capped(t.Lately), Quotes: []string{t.Label}, Themes: []int32{t.Place},
			}}
		}
	}
	return nil
}

// names says whom and what the texts mention most.
func (m *Memory) names() []Line {
	var often []Name
	for _, n := range m.Names {
		if n.Name != "" && n.Type != "" && n.Texts >= leastMentions && len(n.Latest) > 1 && !same(n.Name, m.Owner) {
			often = append(often, n)
		}
	}
	slices.SortStableFunc(often, func(a, b Name) int {
		return cmp.Or(cmp.Compare(b.Texts, a.Texts), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Node, b.Node))
	})
	if len(often) == 0 {
		return nil
	}
	line := Line{Kind: People}
	var parts []string
	for i, n := range often[:min(len(often), maxNames)] {
		unit := ""
		if i == 0 {
			unit = " messages"
		}
		parts = append(parts, fmt.Sprintf("%s (%s) in %d%s", text.OneLine(n.Name), n.Type, n.Texts, unit))
		line.Nodes = append(append(line.Nodes, n.Node), n.Latest[:min(len(n.Latest), MaxLineNodes/maxNames-1)]...)
		line.Quotes = append(line.Quotes, n.Name)
	}
	line.Nodes, line.Text = distinct(line.Nodes), "Mentions most: "+list(parts)+"."
	return []Line{line}
}

// same tells whether two names are spelt alike.
func same(a, b string) bool {
	return b != "" && strings.EqualFold(strings.Join(strings.Fields(a), " "), strings.Join(strings.Fields(b), " "))
}

// quote sets words of texts off from those of the portrait.
func quote(s string) string { return "“" + s + "”" }

// list joins parts as a sentence does.
func list(parts []string) string {
	if n := len(parts); n > 1 {
		return strings.Join(parts[:n-1], ", ") + " and " + parts[n-1]
	}
	return strings.Join(parts, "")
}

// capped are as many nodes as a line may name.
func capped(nodes []string) []string { return slices.Clone(nodes[:min(len(nodes), MaxLineNodes)]) }

// distinct names each node once, at most as many as a line may name.
func distinct(nodes []string) (once []string) {
	for _, n := range nodes {
		if len(once) < MaxLineNodes && !slices.Contains(once, n) {
			once = append(once, n)
		}
	}
	return once
}
