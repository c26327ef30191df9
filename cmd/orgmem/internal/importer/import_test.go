package importer_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/importer"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// memory is a service that keeps what it is given.
type memory struct {
	mu      sync.Mutex
	docs    map[string]string // by external id
	sent    map[string]client.Item
	nodes   map[string]bool
	jobs    map[string]client.Job
	batches int
	refuse  func([]client.Item) error // before a batch is taken
	lose    int                       // answer so many batches with an error after taking them
	onTake  func()
	await   func(ctx context.Context, first client.Item) // before a batch is met
}

func newMemory() *memory {
	return &memory{
		docs: map[string]string{}, sent: map[string]client.Item{}, nodes: map[string]bool{},
		jobs: map[string]client.Job{},
	}
}

func (m *memory) IngestBatch(ctx context.Context, items []client.Item, key string) (string, error) {
	if m.await != nil {
		m.await(ctx, items[0])
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if key == "" {
		return "", errors.New("no idempotency key")
	}
	if m.refuse != nil {
		if err := m.refuse(items); err != nil {
			return "", err
		}
	}
	m.batches++
	job := client.Job{ID: fmt.Sprintf("job-%d", m.batches), Status: "done"}
	job.Result = &struct {
		Items []client.JobItem `json:"items"`
	}{}
	for i, item := range items {
		status := "created"
		switch old, known := m.docs[item.ExternalID]; {
		case strings.Contains(item.Content, "poison"):
			job.Result.Items = append(job.Result.Items, client.JobItem{
				Index: i, ExternalID: item.ExternalID, Status: "failed", Error: json.RawMessage(`"cannot be read"`),
			})
			continue
		case known && old == item.Content:
			status = "unchanged"
		case known:
			status = "superseded"
		}
		m.docs[item.ExternalID], m.sent[item.ExternalID] = item.Content, item
		node := "n:" + item.ExternalID + ":" + item.Content
		m.nodes[node] = true
		job.Result.Items = append(job.Result.Items, client.JobItem{
			Index: i, ExternalID: item.ExternalID, NodeID: node, Status: status,
		})
	}
	m.jobs[job.ID] = job
	if m.onTake != nil {
		m.onTake()
	}
	if m.lose > 0 {
		m.lose--
		return "", errors.New("connection lost")
	}
	return job.ID, nil
}

func (m *memory) IngestStatus(ctx context.Context, job string) (client.Job, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return client.Job{}, err
	}
	j, ok := m.jobs[job]
	if !ok {
		return j, &client.Problem{Status: 404, Code: "job_not_found"}
	}
	return j, nil
}

func (m *memory) NodeStatus(_ context.Context, node string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.nodes[node] {
		return "", &client.Problem{Status: 404, Code: "node_not_found"}
	}
	return "live", nil
}

func (m *memory) wipe() {
	m.docs, m.nodes, m.jobs = map[string]string{}, map[string]bool{}, map[string]client.Job{}
}

// bench is a folder, a state directory and a memory.
type bench struct {
	*testing.T
	folder, states string
	memory         *memory
	progress       func(importer.Progress)
	again          bool
	org            pb.OrgID
}

func newBench(t *testing.T, files map[string]string) *bench {
	b := &bench{T: t, folder: t.TempDir(), states: t.TempDir(), memory: newMemory(), org: pb.OrgID{1}}
	for name, text := range files {
		b.write(name, text)
	}
	return b
}

func (b *bench) write(name, text string) {
	b.Helper()
	path := filepath.Join(b.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

// run takes in the paths; none are the folder.
func (b *bench) run(ctx context.Context, paths ...string) (importer.Summary, string, error) {
	b.Helper()
	if len(paths) == 0 {
		paths = []string{b.folder}
	}
	files, skipped, err := importer.Scan(paths)
	if err != nil {
		b.Fatal(err)
	}
	state, err := importer.OpenState(b.states, importer.Target{Base: "http://x", Org: b.org, User: pb.UserID{2}})
	if err != nil {
		b.Fatal(err)
	}
	sum, err := importer.Import(ctx, importer.Options{
		Service: b.memory, State: state, Clock: clock.NewFake(time.Unix(1_700_000_000, 0)), Progress: b.progress,
		Again: b.again,
	}, files, skipped)
	if cerr := state.Close(); cerr != nil {
		b.Fatal(cerr)
	}
	return sum, state.Distrusted, err
}

func (b *bench) mustRun(taken, unchanged int) importer.Summary {
	b.Helper()
	return b.mustRunOn(taken, unchanged)
}

func (b *bench) mustRunOn(taken, unchanged int, paths ...string) importer.Summary {
	b.Helper()
	sum, _, err := b.run(context.Background(), paths...)
	if err != nil {
		b.Fatal(err)
	}
	if sum.Created+sum.Superseded != taken || sum.Unchanged != unchanged {
		b.Fatalf("%+v, want %d created or superseded, and %d unchanged", sum, taken, unchanged)
	}
	return sum
}

func TestUnchangedFilesAreNotSentAgain(t *testing.T) {
	b := newBench(t, map[string]string{"a.md": "# Alpha\nfirst", "deep/er/b.txt": "second", "c.rst": "third"})
	b.mustRun(3, 0)
	if b.memory.docs["deep/er/b.txt"] != "second" {
		t.Errorf("external ids are %v", b.memory.docs)
	}
	b.mustRun(0, 3)
	if b.memory.batches != 1 {
		t.Errorf("%d batches were sent", b.memory.batches)
	}
	b.write("c.rst", "third, changed")
	if sum := b.mustRun(1, 2); sum.Superseded != 1 || sum.Documents != 1 {
		t.Errorf("%+v", sum)
	}
	if b.memory.docs["c.rst"] != "third, changed" {
		t.Error("the change did not arrive")
	}
}

// Every format is read as the service reads it, and what is not taken is named with
// its reason.
func TestEveryFormatIsTaken(t *testing.T) {
	b := newBench(t, map[string]string{
		"ok.log": "a line", "bom.txt": "\ufeffwith a mark", "latin.txt": "caf\xe9 au lait",
		"page.html": "<!DOCTYPE html><title>A page</title><p>of words", "u16.txt": "\xff\xfea\x00b\x00",
		"stock.csv": "item,shelf\nfigs,B7\n", "call.vtt": "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>Hello",
		"package.json": `{"name": "x"}`,
		"two.json":     `[{"content":"one","externalId":"own"},{"content":"two"}]`,
		"day.ics": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nUID:u\nSUMMARY:Walk\n" +
			"DTSTART:20260505T100000Z\nEND:VEVENT\nEND:VCALENDAR\n",
		"all.zip": zipped(t, "a.txt", "Figs ripen late.", "x/b.txt", "Plums ripen early.", "../out.txt", "no", "p.png",
			"\x89PNG"),
		"x.pdf": "%PDF-1.7", "x.docx": "PK\x03\x04 z", "nul.md": "a\x00b", "photo": "\x89PNG", "empty": "",
		"blank.txt": " \n\t ", ".hidden/x.md": "no",
		"bad.json": `[{"content":"x","occurredAt":"yesterday"}]`,
	})
	if err := os.Symlink(filepath.Join(b.folder, "ok.log"), filepath.Join(b.folder, "link.txt")); err != nil {
		t.Fatal(err)
	}
	sum := b.mustRun(11, 0)
	got := map[string]string{}
	for _, s := range append(sum.Skipped, sum.Failed...) {
		rel, _ := filepath.Rel(b.folder, s.Path)
		got[strings.TrimSuffix(rel+": "+s.Part, ": ")] = s.Reason
	}
	want := map[string]string{
		"x.pdf": "PDF", "x.docx": "ZIP", "nul.md": "binary", "photo": "image", "empty": "empty", "blank.txt": "empty",
		".hidden":  "hidden",
		"link.txt": "not a regular file", "all.zip: ../out.txt": "out of its archive", "all.zip: p.png": "image",
		"bad.json: items[0]": "occurredAt",
	}
	if len(got) != len(want) {
		t.Errorf("skipped %v", got)
	}
	for name, reason := range want {
		if !strings.Contains(got[name], reason) {
			t.Errorf("%s is skipped as %q", name, got[name])
		}
	}
	for id, content := range map[string]string{
		"bom.txt": "with a mark", "latin.txt": "café au lait", "u16.txt": "ab", "page.html": "of words",
		"stock.csv": "item: figs; shelf: B7", "call.vtt": "Ann: Hello",
		"package.json": `{"name": "x"}`, "own": "one", "two.json#items[1]": "two", "all.zip#a.txt": "Figs ripen late.",
		"all.zip#x/b.txt": "Plums ripen early.",
	} {
		if !strings.Contains(b.memory.docs[id], content) {
			t.Errorf("%s is %q, want %q", id, b.memory.docs[id], content)
		}
	}
	if event := b.memory.sent["ics:u"]; event.Kind != "event" || event.OccurredAt != "2026-05-05T10:00:00Z" {
		t.Errorf("%+v", event)
	}
	if inner := b.memory.sent["all.zip#x/b.txt"]; string(inner.Metadata) != `{"path":"all.zip/x/b.txt"}` {
		t.Errorf("%s", inner.Metadata)
	}
}

// A file of many documents is one file: it is taken when all of them are, in however
// many batches they went, and a change in one is no change in the others.
func TestAFileOfManyDocuments(t *testing.T) {
	mails := func(changed string) string {
		var all strings.Builder
		for i := range 450 {
			body := fmt.Sprintf("mail %d", i)
			if i == 300 {
				body += changed
			}
			fmt.Fprintf(&all, "From a@x.org Tue May  5 10:00:00 2026\nFrom: a@x.org\nTo: b@x.org\nDate: Tue, 5 May 2026 "+
				"10:00:00 +0000\nMessage-ID: <%d@x.org>\n\n%s\n\n", i, body)
		}
		return all.String()
	}
	b := newBench(t, map[string]string{"in.mbox": mails(""), "a.txt": "one"})
	if sum := b.mustRun(2, 0); sum.Created != 2 || sum.Documents != 451 || len(b.memory.docs) != 451 {
		t.Fatalf("%+v, %d documents", sum, len(b.memory.docs))
	}
	b.mustRun(0, 2)
	b.write("in.mbox", mails(", mended"))
	if sum := b.mustRun(1, 1); sum.Superseded != 1 || sum.Documents != 1 {
		t.Errorf("%+v", sum)
	}
	// Stopped between two of its batches it is not held for taken.
	b.write("in.mbox", mails(", mended again"))
	ctx, stop := context.WithCancel(t.Context())
	b.memory.onTake = stop
	if _, _, err := b.run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	b.memory.onTake = nil
	// Which of its batches went first nobody knows: the file may say nothing new now.
	batches := b.memory.batches
	if sum, _, err := b.run(t.Context()); err != nil || b.memory.batches == batches ||
		sum.Created+sum.Superseded+sum.Unchanged != 2 {
		t.Fatalf("%+v, %d batches, %v", sum, b.memory.batches-batches, err)
	}
	if got := b.memory.docs["mid:300@x.org"]; !strings.HasSuffix(got, "mail 300, mended again") {
		t.Errorf("%q", got)
	}
	// One that the service does not take leaves its file to be sent again.
	b.write("in.mbox", mails(" poison"))
	sum, _, err := b.run(t.Context())
	if err != nil || len(sum.Failed) != 1 || sum.Failed[0].Part != "mid:300@x.org" || sum.Unchanged != 1 {
		t.Errorf("%+v, %v", sum, err)
	}
	batches = b.memory.batches
	if _, _, err := b.run(t.Context()); err != nil || b.memory.batches == batches {
		t.Errorf("it was not sent again: %v", err)
	}
}

// Documents of one file never share an id, and no id is longer than the interface
// takes.
func TestIdsWithinAFile(t *testing.T) {
	long := strings.Repeat("d/", 300) + "a.txt"
	b := newBench(t, map[string]string{
		"all.zip":  zipped(t, "a.txt", "one", "a.txt", "two", long, "three", long, "four"),
		"long.txt": strings.Repeat("word ", 700_000),
	})
	b.mustRun(2, 0)
	if len(b.memory.docs) != 6 || b.memory.docs["all.zip#a.txt"] != "one" || b.memory.docs["all.zip#a.txt#2"] != "two" {
		t.Errorf("%d documents", len(b.memory.docs))
	}
	titles := []string{b.memory.sent["long.txt"].Title, b.memory.sent["long.txt#2"].Title}
	if !slices.Equal(titles, []string{"long.txt", "long.txt (2)"}) {
		t.Errorf("%q", titles)
	}
	for id := range b.memory.docs {
		if len(id) > 512 {
			t.Errorf("an id of %d bytes", len(id))
		}
	}
}

func zipped(t *testing.T, pairs ...string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		w, err := z.Create(pairs[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(pairs[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// A stop in the middle loses nothing and repeats nothing that was accepted.
func TestInterruptedImportGoesOn(t *testing.T) {
	files := map[string]string{}
	for i := range 900 {
		files[fmt.Sprintf("f%04d.txt", i)] = fmt.Sprintf("text %d", i)
	}
	b := newBench(t, files)
	ctx, stop := context.WithCancel(context.Background())
	b.memory.onTake = func() {
		if b.memory.batches == 2 {
			stop()
		}
	}
	stopped, _, err := b.run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	b.memory.onTake = nil
	accepted := len(b.memory.docs)
	if stopped.Created+stopped.Queued != accepted || stopped.Queued == 0 {
		t.Errorf("it says %d created and %d with the service, which has %d", stopped.Created, stopped.Queued, accepted)
	}
	if accepted == 0 || accepted == 900 {
		t.Fatalf("%d documents before the stop", accepted)
	}
	sum := b.mustRun(900-accepted, accepted)
	if len(sum.Failed) != 0 || len(b.memory.docs) != 900 {
		t.Errorf("%d documents, failed %v", len(b.memory.docs), sum.Failed)
	}
}

func TestLostAnswersDoNoHarm(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	b.memory.lose = 1
	if _, _, err := b.run(context.Background()); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	b.mustRun(0, 2) // the service says that it has them
}

// A service that was set up anew has organizations with other ids.
func TestAServiceSetUpAnewGetsEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	b.mustRun(2, 0)
	b.memory.wipe()
	b.org = pb.OrgID{9}
	if sum := b.mustRun(2, 0); sum.Emptied {
		t.Errorf("%+v", sum)
	}
}

// An import says that a memory no longer holds anything. Whether it was emptied on purpose or lost cannot be known, so
// it is filled again only when asked to.
func TestAnEmptiedMemoryIsToldOf(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"a.txt": "one", "b.txt": "two"})
	b.mustRun(2, 0)
	b.memory.wipe()
	if sum := b.mustRun(0, 2); !sum.Emptied || b.memory.batches != 1 {
		t.Errorf("%+v after %d batches", sum, b.memory.batches)
	}
	b.again = true
	if sum := b.mustRun(2, 0); sum.Emptied || sum.Created != 2 {
		t.Errorf("when asked: %+v", sum)
	}
	b.again = false
	if sum := b.mustRun(0, 2); sum.Emptied {
		t.Errorf("after that: %+v", sum)
	}
}

// What a person had forgotten does not come back by an import, though all of it was forgotten
// or the file says something else now, until it is asked for.
func TestWhatWasForgottenStaysForgotten(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "c", "d", "e", "f"}
	b := newBench(t, nil)
	for _, name := range names {
		b.write(name+".txt", name)
	}
	b.mustRun(6, 0)
	delete(b.memory.nodes, "n:a.txt:a")
	b.mustRun(0, 6)
	b.write("a.txt", "changed")
	b.write("b.txt", "changed, too")
	for range 2 { // it is said each time
		sum, _, err := b.run(context.Background())
		if err != nil || sum.Forgotten != 1 || sum.Emptied || b.memory.docs["a.txt"] != "a" {
			t.Errorf("%+v: %v", sum, err)
		}
	}
	if b.memory.docs["b.txt"] != "changed, too" {
		t.Errorf("a change beside it did not arrive: %v", b.memory.docs)
	}
	for node := range b.memory.nodes {
		delete(b.memory.nodes, node)
	}
	if sum := b.mustRun(0, 5); sum.Forgotten != 1 || !sum.Emptied {
		t.Errorf("all forgotten: %+v", sum)
	}
	b.again = true
	if sum := b.mustRun(1, 5); sum.Forgotten != 0 || sum.Emptied || b.memory.docs["a.txt"] != "changed" {
		t.Errorf("when asked: %+v", sum)
	}
}

// Of a file that holds several documents each is known by itself: a forgotten one is left out,
// one that says what it said is not sent, and the others are, also where one was refused.
func TestADocumentOfAFileStaysForgotten(t *testing.T) {
	t.Parallel()
	line := func(id, text string) string { return `{"externalId":"` + id + `","content":"` + text + `"}` + "\n" }
	b := newBench(t, map[string]string{"all.jsonl": line("1", "one") + line("2", "two") + line("3", "three") + line("4", "poison")})
	if sum, _, err := b.run(context.Background()); err != nil || sum.Documents != 3 || len(sum.Failed) != 1 {
		t.Fatalf("%+v: %v", sum, err)
	}
	delete(b.memory.nodes, "n:1:one")
	clear(b.memory.sent)
	b.write("all.jsonl", line("1", "one")+line("2", "two, changed")+line("3", "three")+line("4", "four"))
	sum, _, err := b.run(context.Background())
	if err != nil || sum.Forgotten != 0 || sum.Documents != 2 || sum.Superseded != 1 {
		t.Errorf("%+v: %v", sum, err)
	}
	if sent := slices.Sorted(maps.Keys(b.memory.sent)); !slices.Equal(sent, []string{"2", "4"}) {
		t.Errorf("%v was sent", sent)
	}
	clear(b.memory.sent)
	b.write("all.jsonl", line("1", "one, changed")+line("5", "five"))
	sum, _, err = b.run(context.Background())
	if err != nil || sum.Forgotten != 1 || sum.Documents != 1 || sum.Created != 1 {
		t.Errorf("%+v: %v", sum, err)
	}
	b.write("all.jsonl", line("1", "one, changed once more"))
	if sum := b.mustRun(0, 0); sum.Forgotten != 1 {
		t.Errorf("all of it forgotten: %+v", sum)
	}
	if sent := slices.Sorted(maps.Keys(b.memory.sent)); !slices.Equal(sent, []string{"5"}) {
		t.Errorf("%v was sent", sent)
	}
	// Under another name it is the same document.
	if err := os.Rename(filepath.Join(b.folder, "all.jsonl"), filepath.Join(b.folder, "other.jsonl")); err != nil {
		t.Fatal(err)
	}
	if sum := b.mustRun(0, 0); sum.Forgotten != 1 {
		t.Errorf("from another file: %+v", sum)
	}
}

func TestADamagedOrOpenStateIsNotBelieved(t *testing.T) {
	for name, spoil := range map[string]func(path string, raw []byte) error{
		"edited": func(path string, raw []byte) error {
			return os.WriteFile(path, []byte(strings.Replace(string(raw), "a.txt", "z.txt", 1)), 0o600)
		},
		"torn":     func(path string, raw []byte) error { return os.WriteFile(path, raw[:len(raw)/2], 0o600) },
		"writable": func(path string, _ []byte) error { return os.Chmod(path, 0o666) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"a.txt": "one"})
			b.mustRun(1, 0)
			states, err := filepath.Glob(filepath.Join(b.states, "*.json"))
			if err != nil || len(states) != 1 {
				t.Fatal(states, err)
			}
			raw, err := os.ReadFile(states[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(states[0], raw); err != nil {
				t.Fatal(err)
			}
			sum, why, err := b.run(context.Background())
			if err != nil || why == "" || sum.Unchanged != 1 || b.memory.batches != 2 {
				t.Errorf("%+v after %d batches (%q): %v", sum, b.memory.batches, why, err)
			}
		})
	}
}

func TestTwoImportsAtOnceAreRefused(t *testing.T) {
	dir, target := t.TempDir(), importer.Target{Base: "http://x"}
	first, err := importer.OpenState(dir, target)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := importer.OpenState(dir, target); !errors.Is(err, importer.ErrStateBusy) {
		t.Errorf("got %v", err)
	}
	other := target
	other.Subject = "ann"
	second, err := importer.OpenState(dir, other)
	if err != nil {
		t.Errorf("another subject's import is refused: %v", err)
	} else if err := second.Close(); err != nil {
		t.Error(err)
	}
	if err := errors.Join(first.Close(), first.Close()); err != nil {
		t.Error(err)
	}
}

// One bad file fails alone, whether the service refuses its batch or its item.
func TestOneBadFileFailsAlone(t *testing.T) {
	b := newBench(t, map[string]string{
		"a.txt": "one", "b.txt": "refused", "c.txt": "three", "d.txt": "poison",
		"e.txt": "five",
	})
	b.memory.refuse = func(items []client.Item) error {
		if slices.ContainsFunc(items, func(i client.Item) bool { return i.Content == "refused" }) {
			return &client.Problem{Status: 422, Code: "validation_failed", Detail: "no"}
		}
		return nil
	}
	sum := b.mustRun(3, 0)
	if len(sum.Failed) != 2 {
		t.Fatalf("failed %v", sum.Failed)
	}
	slices.SortFunc(sum.Failed, func(a, b importer.Skipped) int { return strings.Compare(a.Path, b.Path) })
	if !strings.Contains(sum.Failed[0].Reason, "validation_failed") || sum.Failed[1].Reason != "cannot be read" {
		t.Errorf("failed %v", sum.Failed)
	}
}

func TestARefusedKeyEndsTheImport(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one"})
	b.memory.refuse = func([]client.Item) error { return &client.Problem{Status: 403, Code: "permission_denied"} }
	if _, _, err := b.run(context.Background()); !client.IsCode(err, "permission_denied") {
		t.Errorf("got %v", err)
	}
}

func TestScanNamesWhatIsMissing(t *testing.T) {
	b := newBench(t, map[string]string{"x/a.txt": "1", "y/a.txt": "2"})
	if _, _, err := importer.Scan([]string{filepath.Join(b.folder, "absent")}); err == nil {
		t.Error("a missing folder went unnoticed")
	}
	x := filepath.Join(b.folder, "x")
	files, skipped, err := importer.Scan([]string{x, filepath.Join(b.folder, "y"), x})
	if err != nil || len(files) != 2 || len(skipped) != 0 {
		t.Errorf("files %v, skipped %v: %v", files, skipped, err)
	}
}

// Files of one name in two folders are two documents, whether the folders are taken in
// together or one after the other; each changes on its own, and a folder that is moved
// stays what it was.
func TestTwoFoldersDoNotDisplaceEachOther(t *testing.T) {
	for _, together := range []bool{true, false} {
		b := newBench(t, map[string]string{"x/README.md": "of x", "y/README.md": "of y"})
		x, y := filepath.Join(b.folder, "x"), filepath.Join(b.folder, "y")
		if together {
			b.mustRunOn(2, 0, x, y)
		} else {
			b.mustRunOn(1, 0, x)
			if sum := b.mustRunOn(1, 0, y); sum.Created != 1 {
				t.Errorf("the second folder: %+v", sum)
			}
		}
		holds := func(want ...string) {
			t.Helper()
			texts := slices.Sorted(maps.Values(b.memory.docs))
			if !slices.Equal(texts, want) {
				t.Errorf("the memory holds %q of %v, want %q", texts, b.memory.docs, want)
			}
		}
		holds("of x", "of y")
		b.mustRunOn(0, 2, y, x)
		b.mustRunOn(0, 1, filepath.Join(y, "README.md")) // the same file, named by itself
		b.write("y/README.md", "of y, changed")
		if sum := b.mustRunOn(1, 0, y); sum.Superseded != 1 {
			t.Errorf("a change of the second: %+v", sum)
		}
		holds("of x", "of y, changed")
		z := filepath.Join(b.folder, "z")
		if err := os.Rename(x, z); err != nil {
			t.Fatal(err)
		}
		b.mustRunOn(0, 1, z)
		b.write("z/README.md", "of z")
		if sum := b.mustRunOn(1, 0, z); sum.Superseded != 1 {
			t.Errorf("a change behind a move: %+v", sum)
		}
		holds("of y, changed", "of z")
	}
}

// Progress never goes back, and ends at the total.
func TestProgressGoesForward(t *testing.T) {
	b := newBench(t, map[string]string{"a.txt": "one", "b.txt": "two", "c.bin": "\x00", "d.txt": "poison"})
	files, skipped, err := importer.Scan([]string{b.folder})
	if err != nil {
		t.Fatal(err)
	}
	state, err := importer.OpenState(b.states, importer.Target{Base: "http://x"})
	if err != nil {
		t.Fatal(err)
	}
	last := importer.Progress{}
	_, err = importer.Import(t.Context(), importer.Options{
		Service: b.memory, State: state, Clock: clock.NewFake(time.Unix(0, 0)),
		Progress: func(p importer.Progress) {
			if p.Files < last.Files || p.Bytes < last.Bytes || p.Files > p.TotalFiles || p.Bytes > p.TotalBytes {
				t.Errorf("%+v after %+v", p, last)
			}
			last = p
		},
	}, files, skipped)
	if err != nil || last != (importer.Progress{Files: 4, TotalFiles: 4, Bytes: 13, TotalBytes: 13}) {
		t.Errorf("ended at %+v: %v", last, err)
	}
	if err := state.Close(); err != nil {
		t.Error(err)
	}
}
