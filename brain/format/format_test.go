package format

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"orgmem/brain/format/reading"
	"orgmem/brain/format/record"
	"orgmem/proto/canon"
)

func TestDocuments(t *testing.T) {
	for name, c := range map[string]struct {
		file, data, format string
		contents           []string
	}{
		"text": {
			"notes.txt", "Figs ripen late.\r\nPlums do not.", reading.Text, []string{"Figs ripen late.\nPlums do not."},
		},
		"byte order":     {"notes.txt", "\ufeffFigs.", reading.Text, []string{"Figs."}},
		"markdown":       {"a.md", "Figs ripen late.", reading.Markdown, []string{"Figs ripen late."}},
		"by its content": {"readme", "# Figs\n\nThey ripen late.", reading.Markdown, []string{"# Figs\n\nThey ripen late."}},
		"an item":        {"a.json", `{"content":"Figs."}`, reading.JSON, []string{"Figs."}},
		"items": {
			"a", `{"items":[{"content":"Figs."},{"content":"Plums.","kind":"belief"}]}`, reading.JSON,
			[]string{"Figs.", "Plums."},
		},
		"a list": {"a.json", `["Figs.", {"content":"Plums."}]`, reading.JSON, []string{"Figs.", "Plums."}},
		"lines": {
			"a", "{\"content\":\"Figs.\"}\n\n{\"content\":\"Plums.\"}\n", reading.JSONL,
			[]string{"Figs.", "Plums."},
		},
		"one line":  {"a.jsonl", `{"content":"Figs."}`, reading.JSONL, []string{"Figs."}},
		"subtitles": {"a", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello", reading.VTT, []string{"Ann: Hello"}},
		"no JSON":   {"a.txt", "{this is prose}", reading.Text, []string{"{this is prose}"}},
	} {
		docs, format, err := Documents(c.file, []byte(c.data), reading.Limits{})
		if err != nil || format != c.format || len(docs) != len(c.contents) {
			t.Errorf("%s: %v, %s, %d documents", name, err, format, len(docs))
			continue
		}
		for i, d := range docs {
			if d.Content != c.contents[i] {
				t.Errorf("%s: %q, want %q", name, d.Content, c.contents[i])
			}
		}
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct{ file, data, want string }{
		"empty":             {"a.txt", " \n", "empty"},
		"binary":            {"a.txt", "a\x00b", "binary"},
		"pdf":               {"a.txt", "%PDF-1.7", "PDF"},
		"zip":               {"a.docx", "PK\x03\x04xx", "ZIP"},
		"7z":                {"a.txt", "7z\xbc\xaf\x27\x1c", "7z"},
		"image":             {"a.txt", "\x89PNG\r\n", "image"},
		"empty html":        {"a.txt", "<!DOCTYPE html><script>x</script>", "without a text"},
		"empty csv":         {"a.csv", ";;\n;;", "without a cell"},
		"controls":          {"a.txt", "ab\x01\x02c\x7f\x03", "binary"},
		"broken json":       {"a.json", `{"content":`, "well-formed"},
		"no items":          {"a.json", `[]`, "no items"},
		"nothing":           {"a.json", `{}`, "neither an item"},
		"unknown field":     {"a.json", `[{"content":"x"},{"content":"y","colour":1}]`, "items[1]"},
		"blank":             {"a.jsonl", "{\"content\":\"x\"}\n{\"content\":\" \"}", "line 2"},
		"kind":              {"a.json", `[{"content":"x","kind":"session"}]`, "kind"},
		"metadata":          {"a.json", `[{"content":"x","metadata":[1]}]`, "metadata"},
		"NUL":               {"a.json", `[{"content":"x\u0000"}]`, "U+0000"},
		"invisible":         {"a.json", `[{"content":"\u200b\u2060"}]`, "blank"},
		"invisible text":    {"a.txt", "\u200b \u2060\n", "empty"},
		"two on a line":     {"a.jsonl", "{\"content\":\"a\"}{\"content\":\"b\"}", "line 1"},
		"two values":        {"a.json", `[{"content":"a"}] [{"content":"b"}]`, "behind"},
		"named twice":       {"a.json", `[{"content":"a","content":"b"}]`, "twice"},
		"twice in metadata": {"a", "{\"content\":\"a\"}\n{\"content\":\"b\",\"metadata\":{\"c\":1,\"c\":2}}", "twice"},
		"half a surrogate":  {"a", `["\ud800"]`, "well-formed"},
		"deep metadata": {
			"a.json", `[{"content":"x","metadata":` + strings.Repeat(`{"a":`, 64) + "{}" + strings.Repeat("}", 64) + `}]`,
			"64 levels",
		},
		"NUL in metadata": {"a.json", `[{"content":"x","metadata":{"a":"\u0000"}}]`, "U+0000"},
		"huge number":     {"a.json", `[{"content":"x","metadata":{"a":1e999}}]`, "out of range"},
		"large metadata": {
			"a.json", `[{"content":"x","metadata":{"a":"` + strings.Repeat("x", 64<<10) + `"}}]`, "65536 bytes",
		},
	} {
		_, _, err := Documents(c.file, []byte(c.data), reading.Limits{})
		if !errors.Is(err, reading.ErrFile) || !strings.Contains(reading.Reason(err), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTranscripts(t *testing.T) {
	for name, c := range map[string]struct{ data, format, want, metadata string }{
		"vtt": {
			"WEBVTT - title\n\nNOTE a note\nof two lines\n\n1\n00:00:01.000 --> 00:00:02.000 align:start\n<v.loud Ann " +
				"Lee>Hello <b>there</b>\n\n00:03.000 --> 00:04.000\n<v Ann Lee>again\n\n00:05.000 --> 00:06.000\n<v Bob>Yes " +
				"&amp; no\n",
			reading.VTT, "Ann Lee: Hello there again\nBob: Yes & no", `{"speakers":["Ann Lee","Bob"],"transcript":true}`,
		},
		"srt": {
			"1\n00:00:01,000 --> 00:00:02,000\nANN: Hello\nthere\n\n2\n00:00:03,000 --> 00:00:04,000\nnobody's words\n",
			reading.SRT,
			"ANN: Hello there\nnobody's words", `{"speakers":["ANN"],"transcript":true}`,
		},
		"lines": {
			"Ann: Hello\nand more\n\nBob Öz: Hi: there\n", reading.Lines, "Ann: Hello and more\nBob Öz: Hi: there",
			`{"speakers":["Ann","Bob Öz"],"transcript":true}`,
		},
		"json": {
			`[{"speaker":"Ann","text":"Hello","start":1.5},{"text":"who?"}]`, reading.JSON, "Ann: Hello\nwho?",
			`{"speakers":["Ann"],"transcript":true}`,
		},
		"object": {
			`{"segments":[{"speaker":"Ann","text":"Hello"}]}`, reading.JSON, "Ann: Hello",
			`{"speakers":["Ann"],"transcript":true}`,
		},
		"what programs say beside it": {
			`{"text":" Hello. Yes.","language":"en","segments":[{"id":0,"seek":0,"start":0.0,"end":1.5,"text":" Hello.",` +
				`"tokens":[1,[2]],"avg_logprob":-0.3,"speaker":"Ann"},{"id":1,"confidence":0.9,"words":[{"word":"Yes",` +
				`"start":2}],"text":" Yes.","speaker":null}],"duration":3}`,
			reading.JSON, "Ann: Hello.\nYes.", `{"speakers":["Ann"],"transcript":true}`,
		},
		"two voices in a cue": {
			"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hi <v Bob>Hello\n\n00:03.000 --> 00:04.000\n- <v Bob Öz>How are</v>\n- " +
				"<v Ann>Fine: <i>really</i></v>\n",
			reading.VTT, "Ann: Hi\nBob: Hello\nBob Öz: How are\nAnn: Fine: really",
			`{"speakers":["Ann","Bob","Bob Öz"],"transcript":true}`,
		},
		"words before a voice": {
			"WEBVTT\n\n00:01.000 --> 00:02.000\nANN: so\n<v Bob>Hello\n", reading.VTT, "ANN: so\nBob: Hello",
			`{"speakers":["ANN","Bob"],"transcript":true}`,
		},
		"two names in a cue": {
			"1\n00:00:01,000 --> 00:00:02,000\n- ANN: Hi\nand hello\n- BOB: Hello\n\n2\n00:00:03,000 --> 00:00:04,000\nand " +
				"more.\nANN: I say\none thing: no\n",
			reading.SRT, "ANN: Hi and hello\nBOB: Hello\nand more.\nANN: I say one thing: no",
			`{"speakers":["ANN","BOB"],"transcript":true}`,
		},
		"a name of small letters, met before": {
			"1\n00:00:01,000 --> 00:00:02,000\nann lee: Hi\n\n2\n00:00:03,000 --> 00:00:04,000\nBOB: Yes\nann lee: No\n",
			reading.SRT,
			"ann lee: Hi\nBOB: Yes\nann lee: No", `{"speakers":["ann lee","BOB"],"transcript":true}`,
		},
	} {
		docs, format, err := Transcript("call.txt", []byte(c.data), reading.Limits{})
		if err != nil || format != c.format || len(docs) != 1 {
			t.Errorf("%s: %v %s %d", name, err, format, len(docs))
			continue
		}
		if docs[0].Content != c.want || string(docs[0].Metadata) != c.metadata || docs[0].Title != "call" {
			t.Errorf("%s: %q %s", name, docs[0].Content, docs[0].Metadata)
		}
	}
	for name, data := range map[string]string{
		"prose": "Nothing is said here.", "silence": "WEBVTT\n\n", "other json": `{"a":1}`,
		"odd": `[{"speaker":"A\nB","text":"x"}]`, "no text": `[{"speaker":"A"}]`,
		"segments of none": `{"segments":[{"a":1}]}`, "empty": "",
	} {
		if _, _, err := Transcript("x", []byte(data), reading.Limits{}); !errors.Is(err, reading.ErrFile) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTranscriptsInJSONAreKnown where nobody says that they are transcripts, and what only
// looks like one is read as other JSON is.
func TestTranscriptsInJSONAreKnown(t *testing.T) {
	const odd = `[{"speaker":"A\nB","text":"x"}]`
	for name, c := range map[string]struct{ data, content, metadata string }{
		"a list": {
			`[{"speaker":"Ann","text":"Hello","start":1.5},{"speaker":"Bob","text":"Hi"}]`,
			"Ann: Hello\nBob: Hi", `{"speakers":["Ann","Bob"],"transcript":true}`,
		},
		"segments": {
			`{"language":"en","segments":[{"id":0,"speaker":"Ann","text":" Hello."}]}`,
			"Ann: Hello.", `{"speakers":["Ann"],"transcript":true}`,
		},
		"segments of nobody": {
			`{"text":"Hello.","segments":[{"id":0,"start":0.0,"text":" Hello."}]}`,
			"Hello.", `{"transcript":true}`,
		},
	} {
		docs, format, err := Documents("call.json", []byte(c.data), reading.Limits{})
		want := []reading.Document{{Title: "call", Content: c.content, Metadata: []byte(c.metadata), Noted: true}}
		if diff := diffDocuments(want, docs); diff != "" || err != nil || format != reading.JSON {
			t.Errorf("%s: %s, %v (-want +got):\n%s", name, format, err, diff)
		}
	}
	for name, data := range map[string]string{
		"an item with speaker": `[{"speaker":"Ann","text":"Hello","content":"x"}]`,
		"segments of a street": `{"segments":[{"text":"Main Street"}]}`, "an odd speaker": odd,
	} {
		docs, format, err := Documents("call.json", []byte(data), reading.Limits{})
		if err != nil || format != reading.JSON || len(docs) != 1 ||
			strings.Contains(string(docs[0].Metadata), "transcript") {
			t.Errorf("%s: %s, %+v, %v", name, format, docs, err)
		}
	}
	docs, _, err := Documents("a.zip", []byte(zipped(t, "odd.json", odd, "call.json",
		`[{"speaker":"Ann","text":"Hello"}]`)), reading.Limits{})
	if err != nil || len(docs) != 2 || docs[0].Content != "x" || docs[1].Content != "Ann: Hello" {
		t.Errorf("%+v, %v", docs, err)
	}
}

// TestMetadataIsKeptWhole: digits that no float64 holds, in the canonical order.
func TestMetadataIsKeptWhole(t *testing.T) {
	docs, _, err := Documents("a.json", []byte(`{"content":"x","metadata":{"b":"<&>", "a":9007199254740993, "c":1.50}}`),
		reading.Limits{})
	if want := `{"a":9007199254740993,"b":"<&>","c":1.5}`; err != nil || string(docs[0].Metadata) != want {
		t.Errorf("%v, %v", docs, err)
	}
}

func TestLimits(t *testing.T) {
	for name, c := range map[string]struct {
		read   func(string, []byte, reading.Limits) ([]reading.Document, string, error)
		data   string
		limits reading.Limits
	}{
		"an item":     {Documents, `[{"content":"sixsix"}]`, reading.Limits{Runes: 5}},
		"a line":      {Documents, "{\"content\":\"six\"}\n{\"content\":\"sixsix\"}", reading.Limits{Runes: 5}},
		"all items":   {Documents, `["six","six"]`, reading.Limits{Bytes: 5}},
		"text":        {Documents, "sixsix", reading.Limits{Bytes: 5}},
		"transcript":  {Transcript, "A: six\nB: six", reading.Limits{Bytes: 12}},
		"who goes on": {Transcript, "A: six\nsix", reading.Limits{Bytes: 9}},
	} {
		if _, _, err := c.read("a", []byte(c.data), c.limits); !errors.Is(err, reading.ErrTooLarge) ||
			!errors.Is(err, reading.ErrFile) ||
			strings.Contains(reading.Reason(err), "refused") {
			t.Errorf("%s: %v", name, err)
		}
		enough := c.limits
		enough.Bytes, enough.Runes = enough.Bytes+len(c.data)*min(enough.Bytes, 1), 6*min(enough.Runes, 1)
		if _, _, err := c.read("a", []byte(c.data), enough); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	docs, _, err := Documents("a.txt", []byte("six six"), reading.Limits{Runes: 4})
	if err != nil || len(docs) != 2 || docs[0].Content != "six " {
		t.Errorf("a longer text is not cut: %v, %v", docs, err)
	}
}

// TestReadingIsCancelled: whoever reads a large file is asked whether to go on.
func TestReadingIsCancelled(t *testing.T) {
	enough := errors.New("enough")
	asked := 0
	goOn := func() error {
		if asked++; asked == 2 {
			return enough
		}
		return nil
	}
	const size = 4 * reading.StepBytes
	for name, data := range map[string]string{
		"lines": strings.Repeat("A: b\nB: c\n", size/10),
		"cues":  "WEBVTT\n\n" + strings.Repeat("00:01.000 --> 00:02.000\na\n\n", size/27),
		"segments": "[" + strings.Repeat(`{"speaker":"A","text":"long enough that there are few"},`, size/58) +
			`{"text":"b"}]`,
	} {
		asked = 0
		if _, _, err := Transcript("a", []byte(data), reading.Limits{GoOn: goOn}); !errors.Is(err, enough) ||
			errors.Is(err, reading.ErrFile) || asked != 2 {
			t.Errorf("%s: %v, asked %d times", name, err, asked)
		}
	}
	words := strings.Repeat("x", size/1000)
	for name, data := range map[string]string{
		"items":      "[" + strings.Repeat(`"`+words+`",`, 1000) + `"x"]`,
		"json lines": strings.Repeat(`{"content":"`+words+"\"}\n", 1000),
		"text":       strings.Repeat(words+"\n", 1000),
	} {
		asked = 0
		if _, _, err := Documents("a", []byte(data), reading.Limits{Runes: size / 100, GoOn: goOn}); !errors.Is(err,
			enough) || asked != 2 {
			t.Errorf("%s: %v, asked %d times", name, err, asked)
		}
	}
}

// TestAFileIsNotHeldTwice: what is alive while a large file is read, beside the file, is
// less than the file. A part of a mail stays where it is, and of an export one record at
// a time is in memory.
func TestAFileIsNotHeldTwice(t *testing.T) {
	const pictures, size = 16, 256 << 10
	noise := make([]byte, size)
	if _, err := rand.NewChaCha8([32]byte{1}).Read(noise); err != nil {
		t.Fatal(err)
	}
	var pairs []string
	for i := range pictures {
		pairs = append(pairs, fmt.Sprintf("%d.png", i), "\x89PNG\r\n"+string(noise))
	}
	archive := zipped(t, append(pairs, "a.txt", "Figs ripen late.")...)
	encoded := base64.StdEncoding.EncodeToString([]byte(archive))
	var lines strings.Builder
	for len(encoded) > 0 {
		n := min(76, len(encoded))
		lines.WriteString(encoded[:n] + "\n")
		encoded = encoded[n:]
	}
	chats := strings.Repeat(`{"chat_messages":[{"sender":"human","text":"Figs","files":"`+strings.Repeat("x", size)+
		`"}]},`, pictures)
	parts := strings.Repeat(`{"title":"Figs","mapping":{"a":{"message":{"author":{"role":"user"},`+
		`"content":{"parts":["Figs",{"data":"`+strings.Repeat("x", size)+`"}]}}}}},`, pictures)
	for name, data := range map[string][]byte{
		"a.eml": []byte(letterOfAnn + "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: " +
			"application/zip; name=a.zip\r\nContent-Transfer-Encoding: base64\r\n\r\n" + lines.String() + "--b--\r\n"),
		"claude.json":  []byte("[" + strings.TrimSuffix(chats, ",") + "]"),
		"chatgpt.json": []byte("[" + strings.TrimSuffix(parts, ",") + "]"),
	} {
		alive := func() int {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int(m.HeapAlloc)
		}
		alive() // what was pooled is gone after two collections
		before, most := alive(), 0
		_, _, err := Documents(name, data, reading.Limits{GoOn: func() error {
			most = max(most, alive()-before)
			return nil
		}})
		if err != nil || most == 0 || most > len(data) {
			t.Errorf("%s: %d bytes, %d on top, %v", name, len(data), most, err)
		}
		runtime.KeepAlive(data)
	}
}

// TestShortLinesCostNoMoreThanLong: a turn of many lines was copied for each.
func TestShortLinesCostNoMoreThanLong(t *testing.T) {
	data := []byte("A: b\n" + strings.Repeat("x\n", 64<<10))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	docs, _, err := Transcript("a", data, reading.Limits{})
	runtime.ReadMemStats(&after)
	if err != nil || len(docs) != 1 || len(docs[0].Content) != len("A: b")+2*64<<10 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	if spent := after.TotalAlloc - before.TotalAlloc; spent > 100*uint64(len(data)) {
		t.Errorf("%d bytes allocated for a file of %d", spent, len(data))
	}
}

// TestTranscriptsAreBounded: what is shown at once, and how much may be said.
func TestTranscriptsAreBounded(t *testing.T) {
	for name, data := range map[string]string{
		"cue":   "WEBVTT\n\n00:01.000 --> 00:02.000\n" + strings.Repeat(strings.Repeat("<", 1000)+"\n", record.MaxCue/1000+1),
		"turns": "[" + strings.Repeat("{},", record.MaxTurns) + "{}]",
	} {
		if _, _, err := Transcript("a", []byte(data), reading.Limits{}); !errors.Is(err, reading.ErrFile) ||
			!strings.Contains(reading.Reason(err), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var names strings.Builder
	for i := range 2 * record.MaxSpeakers {
		fmt.Fprintf(&names, `{"speaker":"%s %d","text":"x"},`, strings.Repeat(`\"`, 300), i)
	}
	docs, _, err := Transcript("a", []byte("["+names.String()+`{"speaker":"Bob","text":"x"}]`), reading.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := canon.Object(docs[0].Metadata); err != nil {
		t.Errorf("metadata of %d bytes: %v", len(docs[0].Metadata), err)
	}
}

// TestLongTextsAreCut: nothing is lost, and each part is within the bound.
func TestLongTextsAreCut(t *testing.T) {
	long := strings.Repeat("Ünter den Linden.\n\n", reading.MaxRunes/9)
	docs, _, err := Documents("long.txt", []byte(long), reading.Limits{})
	if err != nil || len(docs) < 2 {
		t.Fatalf("%v, %d documents", err, len(docs))
	}
	var all strings.Builder
	for _, d := range docs {
		if utf8.RuneCountInString(d.Content) > reading.MaxRunes || !strings.HasPrefix(d.Content, "Ünter") {
			t.Errorf("a part of %d runes begins with %q", utf8.RuneCountInString(d.Content), d.Content[:8])
		}
		all.WriteString(d.Content)
	}
	if all.String() != long {
		t.Error("the parts are not the whole")
	}
}

func TestWhateverComesIsTextOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		data := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "data")
		hold(t, rapid.SampledFrom([]string{"a", "a.json", "a.jsonl", "a.vtt", "a.md"}).Draw(t, "name"), data)
	})
}

// What reading a file may allocate: what any file may, and what a byte of it is unpacked
// to, by a thousand times at most, and copied to; bzip2 packs more, and is left what an
// import may hold. What is counted is all that was allocated, which is more than was held
// at a time. The files of testdata take less than 4 MiB.
const (
	allocatedAlways  = 16 << 20
	allocatedPerByte = 8 << 10
	allocatedAtMost  = 512 << 20
)

func allocatable(data []byte) uint64 {
	if bytes.Contains(data, []byte("BZh")) {
		return allocatedAtMost
	}
	return min(allocatedAlways+allocatedPerByte*uint64(len(data)), allocatedAtMost)
}

// hold holds what is read of a file to the package's promises.
func hold(t interface{ Errorf(string, ...any) }, name string, data []byte) {
	for _, read := range []func(string, []byte, reading.Limits) ([]reading.Document, string, error){
		Documents,
		Transcript,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		docs, format, err := read(name, data, reading.Limits{})
		runtime.ReadMemStats(&after)
		if spent := after.TotalAlloc - before.TotalAlloc; spent > allocatable(data) {
			t.Errorf("%d bytes were allocated for a file of %d", spent, len(data))
		}
		if err != nil {
			if !errors.Is(err, reading.ErrFile) {
				t.Errorf("%v", err)
			}
			continue
		}
		if len(docs) == 0 || format == "" {
			t.Errorf("neither a document nor an error")
		}
		// A file that is taken in again is the same documents: else they were stored twice.
		if again, same, err := read(name, data, reading.Limits{}); err != nil || same != format ||
			!reflect.DeepEqual(again, docs) {
			t.Errorf("the second time it is %s, %v: %+v and %+v", same, err, docs, again)
		}
		refused := 0
		for _, d := range docs {
			if d.Refused != "" {
				refused++
				continue
			}
			if !utf8.ValidString(d.Title+d.ExternalID+d.Path+d.Where) ||
				utf8.RuneCountInString(d.Title) > reading.MaxTitleRunes || len(d.ExternalID) > 4*reading.MaxExternalID ||
				strings.ContainsRune(d.Title+d.ExternalID, 0) {
				t.Errorf("title %q, external id %q", d.Title, d.ExternalID)
			}
			if _, err := canon.Object(d.Metadata); len(d.Metadata) > 0 && err != nil {
				t.Errorf("metadata %q: %v", d.Metadata, err)
			}
			if !utf8.ValidString(d.Content) || canon.Blank(d.Content) || strings.ContainsRune(d.Content, 0) {
				t.Errorf("document %q", d.Content)
			}
		}
		if refused == len(docs) {
			t.Errorf("all %d parts are refused, and the file is not", refused)
		}
	}
}

func FuzzFiles(f *testing.F) {
	for _, seed := range []string{
		"text", "# md", `{"content":"x"}`, "{\"content\":\"x\"}\n{\"content\":\"y\"}",
		"WEBVTT\n\n00:01.000 --> 00:02.000\n<v A>b", "1\n00:00:01,000 --> 00:00:02,000\nx", "A: b", "%PDF-", "\ufeff[",
	} {
		f.Add("a.json", []byte(seed))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) { hold(t, name, data) })
}
