package extract

import (
	"slices"
	"testing"
)

// TestWhatStandsInBackquotes: it is a name where it looks like an identifier, or the text speaks of it as of a thing;
// options, values, snippets and labels are no names, and neither is anything inside of a snippet.
func TestWhatStandsInBackquotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"The handler is in `boat_shed` since May.":            {"code boat_shed"},
		"Look at `tide-lib`, `boats/slip` and `fs.open`.":     {"code tide-lib", "code boats/slip", "code fs.open"},
		"It is `onMoor`, then `date->string`, then `moor()`.": {"code onMoor", "code date->string", "code moor"},
		"We call `@quay/ropes` from `~/bin/moor.sh`.":         {"code @quay/ropes", "code ~/bin/moor.sh"},
		"Please install `anchor` today.":                      {"code anchor"},
		"The `anchor` library is slow.":                       {"code anchor"},
		"It needs the package `anchor` too.":                  {"code anchor"},
		"It gives a `mooring%`, and `KESTRELPATH` is set.":    {"code mooring%", "code KESTRELPATH"},
		"I tried `kubectl` and it failed.":                    {"code kubectl"},
		"It is fixed in `INC-4521` and `v1.2.3`.":             {"identifier INC-4521", "identifier v1.2.3"},

		"A function starts as `raw` and then `stable`.":         nil,
		"The `legacy` annotation is used for it.":               nil,
		"It is under a `private` module path.":                  nil,
		"Set the `parent` field to `NULL`, or `-1`.":            nil,
		"Use the `--clone` option, or --force.":                 nil,
		"Press `Save` and then `OK`.":                           nil,
		"Then `(moor-boat Kestrel 7)` gives `#<eof>` or `#f`.":  nil,
		"It has `Kestrel f => Merlin f` as its law.":            nil,
		"It is done _entirely_ by hand, with _moor_ as a word.": nil,
	} {
		if got := namedIn(Extract(Document{Text: text})); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
