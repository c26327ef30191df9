package portrait

import (
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Minutes are the words of all who were there; a note about some people is its writer's.
func TestRecord(t *testing.T) {
	t.Parallel()
	people := []string{"Ilse Brandt", "Bruno Vogt", "Mina Park", "Tom Reyes"}
	for _, said := range []string{
		"# Meeting\n\n* Ilse Brandt @ilse (chair)\n* Bruno Vogt @bruno (guest)\n* Mina Park @mina\n\nThe kiln is repaired.",
		"Present:\n- Ilse Brandt\n- Bruno Vogt (late)\n- Mina Park - minutes\n\nThe kiln is repaired.",
		"Present: Ilse Brandt, Bruno Vogt and Mina Park\nThe kiln is repaired.",
		"* Ilse: we need a kiln\n* Bruno: it is too dear\n* Ilse: then a small one",
	} {
		if !Record(said, people) {
			t.Errorf("%q is somebody's own", said)
		}
	}
	for _, said := range []string{
		"To: Ilse Brandt, Bruno Vogt, Mina Park\n\nThe kiln is repaired.",
		"I met Ilse Brandt, Bruno Vogt and Mina Park, who had all heard of the kiln.",
		"Ask:\n- Ilse Brandt about the kiln, and whether it can be had before the summer\n- Bruno Vogt to pay\n- Mina Park",
		"Note to self: call Ilse\nMina: birthday on Monday",
		"",
	} {
		if Record(said, people) {
			t.Errorf("%q is nobody's", said)
		}
	}
}

// A team's memory of minutes is nobody's; minutes among somebody's notes do not take these from them.
func TestRecordsAreNobodys(t *testing.T) {
	t.Parallel()
	note, minutes := Writing{}, Writing{Foreign: true, Record: true}
	if _, personal := Owner([]Writing{minutes, note, minutes}); personal {
		t.Error("a memory of minutes is one person's")
	}
	if _, personal := Owner([]Writing{minutes, note, note, minutes}); !personal {
		t.Error("a memory of notes and minutes is nobody's")
	}
}

// What a form says in every text is no mention, and nobody's manner.
func TestFrame(t *testing.T) {
	t.Parallel()
	var all []string
	for i := range 6 {
		all = append(all, "# Report of week "+strconv.Itoa(i)+"\n\n"+
			"Open in [Google Docs](https://example.com/"+strconv.Itoa(i)+")\n\n"+
			"Written with the form of the Harbour Office, please do not edit.\n\nThe crane "+strings.Repeat("and the winch ", i)+
			"broke.\n\nBest regards\nMina\n")
	}
	f := FrameOf(all)
	if !f.Holds("Google Docs") || !f.Holds("Harbour Office") || f.Holds("crane") || f.Holds("Mina") {
		t.Errorf("the frame is %v", f)
	}
	own := f.Own(all[2])
	if strings.Contains(own, "Google") || strings.Contains(own, "form") || !strings.Contains(own, "The crane") ||
		!strings.Contains(own, "Best regards") {
		t.Errorf("of the text stays %q", own)
	}
	if f := FrameOf(slices.Repeat([]string{"Nice, thanks a lot for that!"}, 5)); len(f) > 0 {
		t.Errorf("short messages have the frame %v", f)
	}
}
