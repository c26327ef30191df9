package format

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orgmem/brain/format/reading"
)

// files are real files of each format, with a phrase from the middle of each. A
// transcript is read as one.
var files = map[string]struct{ format, phrase string }{
	"plain.txt":   {reading.Text, "The compost heap behind the greenhouse has reached sixty degrees."},
	"latin1.txt":  {reading.Text, "Die Brücke über den Mühlbach wird im Frühjahr gestrichen."},
	"utf16.txt":   {reading.Text, "The tram depot keeps a spare pantograph under the stairs."},
	"russian.txt": {reading.Text, "Старый маяк на мысе снова зажигают по пятницам"},
	"notes.md":    {reading.Markdown, "The third plank was steamed twice, see the steam box."},
	"page.html": {
		reading.HTML,
		"## Summer\n\nThe planetarium dome opens at noon except on the solstice.\n\n| Day | Hours |\n| Monday | closed |",
	},
	"stock.csv":   {reading.CSV, "Item: walnut veneer offcuts; Shelf: B7; Count: 12"},
	"items.json":  {reading.JSON, "The sourdough starter is called Methuselah."},
	"items.jsonl": {reading.JSONL, "The harpist keeps a tuning key in her left boot."},
	"letter.eml":  {reading.EML, "the weather vane on the old mill points south-west whatever the wind does."},
	"cave.mbox":   {reading.MBOX, "I ordered a hygrometer with a horsehair element."},
	"call.vtt":    {reading.VTT, "Ivo: The drawbridge motor hums a semitone flat."},
	"call.srt":    {reading.SRT, "Kit: Somebody printed them for the wrong estuary."},
	"letter.rtf": {reading.RTF, "Dear Lou,\n\nthe pâté recipe calls for “green” peppercorns and a bay " +
		"leaf.\n\nYours, Mo"},
	"calendar.ics": {reading.ICS, "Bring a hand lens, the rare map lichen grows by the third bench."},
	"report.pdf":   {reading.PDF, "The cider press broke on a Thursday and was mended with a bicycle chain."},
	"open40.pdf":   {reading.PDF, "The spare key hangs behind the green barometer."},
	"open128.pdf":  {reading.PDF, "The spare key hangs behind the green barometer."},
	"open256.pdf":  {reading.PDF, "The spare key hangs behind the green barometer."},
	"notes.docx": {
		reading.DOCX, "- Wait until the cone bends\n\n| Glaze | Result |\n| celadon | crazed at the rim |\n\n# Repairs",
	},
	"slides.pptx": {
		reading.PPTX,
		"## Slide 1: Ferry timetable\n\n- The last boat leaves at a quarter past nine\n\n- Mention that dogs travel free " +
			"of charge",
	},
	"hives.xlsx": {
		reading.XLSX,
		"## Beehives\n\nHive: linden; Checked: 2026-05-04; Honey kg: 12.5\nHive: heather; Checked: 2026-05-11; Honey kg: " +
			"9\nHive: the hive by the quarry wall",
	},
	"tower.odt": {
		reading.ODT,
		"# Bell tower\n\nThe smallest bell was recast in a foundry near the canal.\n\n- Grease the bearings every spring",
	},
	"trails.ods": {reading.ODS, "## Trails\n\nTrail: ridge path; Length: 14 km\nTrail: the marsh boardwalk; Length: 3 km"},
	"book.epub":  {reading.EPUB, "# Two\n\nThe keeper counted forty gannets before the fog came."},
	"chatgpt.json": {
		reading.ChatGPT,
		"User: How much salt for cucumbers?\n\nAssistant: Thirty grams for each litre of brine, and a vine leaf for crunch.",
	},
	"claude.json": {
		reading.Claude, "Assistant: The gnomon must lean by your latitude, and the equation of time does the rest.",
	},
	"mem0.json":   {reading.Mem0, "Is allergic to lupin flour"},
	"zep.json":    {reading.Zep, "Quinn restores harmoniums in a disused chapel."},
	"export.json": {reading.OwnExport, "The jacquard cards for the peacock pattern are kept in order."},
	"slack.zip": {
		reading.Slack,
		"Rae Stone: Who has the kiln log, @Sol Teak?\n\n  Sol Teak: It lies under the enamel teapot.\n\nRae Stone: unrelated",
	},
	"notion.zip":     {reading.ZIP, "Job: rehang the barn door; State: open"},
	"vault.zip":      {reading.ZIP, "A swarm settled on the weeping mulberry, see Hives."},
	"confluence.zip": {reading.ZIP, "# Runbook\n\nRestart the turbine governor before the sluice opens."},
	"takeout.zip":    {reading.ZIP, "I ordered a barograph with a horsehair element."},
	"bells.tar.gz":   {reading.TAR, "The ferry bell was cast from two church bells."},
	"harbour.odp": {
		reading.ODP,
		"## Slide 2: Fog signals\n\n- The diaphone was swapped for a bell buoy in November\n- Nobody complained\n\nPlay " +
			"the recording first",
	},
	"journal.txt.gz": {reading.Text, "The orrery lost Saturn again, it rolled under the workbench."},
	"oak.txt.bz2":    {reading.Text, "A horseshoe was grown into the trunk at the height of a saddle."},
	"wells.tsv":      {reading.CSV, "Well: chalk spring; Depth: 4 m; Keeper: the water bailiff's widow"},
	"plan.canvas":    {reading.Canvas, "The vanilla orchid climbs the north stanchion\n\nBoiler.md"},
	"projects.json":  {reading.Claude, "The heliostat mirror is cleaned with distilled water and a swan feather."},
	"meeting.txt": {reading.Lines, "Omar: The cantilever creaks whenever a cyclist crosses it in the " +
		"rain.\nHedda: Then"},
	"talk.json": {reading.JSON, "Tor: The cobalt ran into the foot ring of every bowl."},
}

// transcripts are those of the files that are known for what they are by the call alone.
var transcripts = []string{"meeting.txt", "talk.json"}

// TestEveryFormatHasAFile compares the files with the formats that the package names.
func TestEveryFormatHasAFile(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "reading/reading.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{} // the constants by what they say
	for _, d := range parsed.Decls {
		block, ok := d.(*ast.GenDecl)
		if !ok || block.Tok != token.CONST {
			continue
		}
		for _, spec := range block.Specs {
			one, ok := spec.(*ast.ValueSpec)
			if !ok || len(one.Values) != 1 || !one.Names[0].IsExported() {
				continue
			}
			if value, ok := one.Values[0].(*ast.BasicLit); ok && value.Kind == token.STRING {
				named[strings.Trim(value.Value, `"`)] = one.Names[0].Name
			}
		}
	}
	has := map[string]bool{}
	for name, f := range files {
		if has[f.format] = true; named[f.format] == "" {
			t.Errorf("%s is of the format %q, which no constant is", name, f.format)
		}
	}
	for format, name := range named {
		if !has[format] {
			t.Errorf("no file of testdata is of the format %s", name)
		}
	}
	if len(named) < 30 {
		t.Errorf("only %d formats are found in reading.go", len(named))
	}
	// What has no constant of its own: how a text is packed, and kinds of one format.
	for _, end := range []string{".gz", ".bz2", ".tsv", ".tar.gz"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(files)), func(name string) bool {
			return strings.HasSuffix(name, end)
		}) {
			t.Errorf("no file of testdata ends with %s", end)
		}
	}
}

func TestRealFiles(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || name == "LICENCE" || name == "locked.pdf" {
			continue
		}
		want, ok := files[name]
		if !ok {
			t.Errorf("%s is in no test", name)
			continue
		}
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		read := Documents
		if slices.Contains(transcripts, name) {
			read = Transcript
		}
		docs, format, err := read(name, data, reading.Limits{})
		if err != nil || format != want.format {
			t.Errorf("%s: %q, %v", name, format, err)
			continue
		}
		var all []string
		for _, d := range docs {
			if d.Refused != "" {
				t.Errorf("%s: %s %s", name, d.Where, d.Refused)
			}
			all = append(all, d.Content)
		}
		if joined := strings.Join(all, "\n----\n"); !strings.Contains(joined, want.phrase) ||
			strings.Contains(joined, "abandoned") || strings.Contains(joined, "generated by") {
			t.Errorf("%s: %q", name, joined)
		}
		hold(t, name, data)
	}
	locked, err := os.ReadFile("testdata/locked.pdf")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Documents("locked.pdf", locked, reading.Limits{}); err == nil ||
		reading.Reason(err) != "is encrypted" {
		t.Errorf("%v", err)
	}
}

// TestWhatFilesSay: titles, ids, times and what else a file says of itself.
func TestWhatFilesSay(t *testing.T) {
	for name, want := range map[string]reading.Document{
		"report.pdf":   {Title: "Orchard report"},
		"notes.docx":   {Title: "Kiln notes"},
		"book.epub":    {Title: "The Tin Lighthouse"},
		"notes.md":     {Title: "Boat shed", OccurredAt: "2026-03-04T00:00:00Z"},
		"calendar.ics": {Title: "Lichen walk", Kind: "event", OccurredAt: "2026-05-05T10:00:00Z", ExternalID: "ics:walk-1"},
		"chatgpt.json": {Title: "Pickles", OccurredAt: "2026-05-05T10:00:00Z", ExternalID: "chatgpt:c-1"},
		"claude.json":  {Title: "Sundial", OccurredAt: "2026-05-05T10:00:00.000000Z", ExternalID: "claude:k-1"},
		"mem0.json":    {OccurredAt: "2026-05-05T10:00:00-07:00", ExternalID: "mem0:m1"},
		"slack.zip": {
			Title: "#kitchen 2026-05-05", OccurredAt: "2026-05-05T10:00:00Z", ExternalID: "slack:kitchen/2026-05-05",
		},
		"notion.zip":    {Title: "Workshop", ExternalID: "notion:0123456789abcdef0123456789abcdef"},
		"vault.zip":     {Title: "Swarms"},
		"harbour.odp":   {Title: "Harbour night"},
		"wells.tsv":     {Title: "wells"},
		"plan.canvas":   {Title: "plan"},
		"projects.json": {Title: "mirror.md", OccurredAt: "2026-05-05T11:00:00.000000+00:00", ExternalID: "claude:pd-1"},
		"export.json":   {Title: "Looms", Kind: "document", ExternalID: "loom-1"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		docs, _, err := Documents(name, data, reading.Limits{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		d := docs[0]
		if d.Title != want.Title || d.Kind != want.Kind || d.OccurredAt != want.OccurredAt ||
			d.ExternalID != want.ExternalID {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestCutShort: a file that ends in its middle is read as far as it goes or refused,
// and either soon.
func TestCutShort(t *testing.T) {
	for name := range files {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for n := 1; n < 8; n++ {
			hold(t, name, data[:len(data)*n/8])
		}
	}
}

// TestRollingCaptions: a line that is shown again is said once, and one that grows
// is said as it was in the end.
func TestRollingCaptions(t *testing.T) {
	for name, c := range map[string]struct {
		cues []string // of a second each; "" is a second of silence
		want string
	}{
		"lines that roll up": {
			[]string{"<v Ann>one", "<v Ann>one\ntwo<00:02.500><c> two</c>", "two two\nthree", "", "three"},
			"Ann: one two two\nthree\nthree",
		},
		"a line that grows": {
			[]string{"I think", "I think", "I think, we should", "I think, we should go.", "", "I think"},
			"I think we should go.\nI think",
		},
		"by a name": {
			[]string{"ANN: I think", "ANN: I think we should\ngo", "BOB: No"}, "ANN: I think we should go\nBOB: No",
		},
		"by a voice": {
			[]string{"<v Ann>I think", "<v Ann>I <i>think</i> <c>we</c> <v Bob>No"}, "Ann: I think we\nBob: No",
		},
		"wrapped anew": {
			[]string{"so I think we should", "so I think\nwe should go home", "we should go home\nnow"},
			"so I think we should go home\nnow",
		},
		"both": {[]string{"one", "one\ntwo", "two three\nfour", "four five"}, "one\ntwo three\nfour five"},
		"the same of two": {
			[]string{"<v Ann>Yes.", "<v Bob>Yes.", "<v Bob>Yes.\n<v Ann>Yes."}, "Ann: Yes.\nBob: Yes.\nAnn: Yes.",
		},
		"the begin of a word":   {[]string{"I thin", "I think"}, "I thin\nI think"},
		"a mark that is a word": {[]string{"-", "- -"}, "- -"},
	} {
		vtt := "WEBVTT\n\n"
		for i, cue := range c.cues {
			if cue != "" {
				vtt += fmt.Sprintf("00:%02d.000 --> 00:%02d.000\n%s\n\n", i, i+1, cue)
			}
		}
		docs, _, err := Transcript("a.vtt", []byte(vtt), reading.Limits{})
		if err != nil || docs[0].Content != c.want {
			t.Errorf("%s: %q, %v", name, docs[0].Content, err)
		}
	}
}
