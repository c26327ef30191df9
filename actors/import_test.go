package actors

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"orgmem/actors/account"
	"orgmem/actors/connector"
	"orgmem/actors/graph"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	formatreading "orgmem/brain/format/reading"
	pb "orgmem/proto"
	"orgmem/proto/prototest"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func file(name, content string) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_ImportFile{ImportFile: &pb.ImportFile{
		Filename: name,
		Content:  []byte(content),
	}}})
}

func (c client) imports() []*pb.Import {
	c.n.t.Helper()
	return c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_ListImports{ListImports: &pb.ListImports{}}})).GetLink().GetImports().
		GetImports()
}

// interface: Endpoints/Import
func TestImport(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	stream := c.stream()
	id := jobOf(c.ok(file("fruit.jsonl",
		"{\"content\":\"Figs ripen late.\",\"externalId\":\"fig\"}\n{\"content\":\"Plums ripen "+
			"early.\",\"occurredAt\":\"2026-01-02T03:04:05Z\"}\n{\"content\":\"Figs ripen late.\"}")))
	if got := next(t, stream); got != pb.EventImportStarted {
		t.Errorf("%s", got)
	}
	n.wait(id)
	job := c.job(id)
	if job.GetType() != pb.JobImport || job.GetStatus() != pb.JobSucceeded || job.GetDone() != 3 {
		t.Errorf("%v", job)
	}
	list := c.imports()
	if len(list) != 1 {
		t.Fatalf("%v", list)
	}
	if diff := prototest.Diff(&pb.Import{
		Id: job.GetId(), Nodes: 2, Status: pb.JobSucceeded, Format: "jsonl", Filename: "fruit.jsonl",
	}, list[0]); diff != "" || list[0].GetFinishedMs() == 0 {
		t.Errorf("%v (-want +got):\n%s", list[0], diff)
	}
	if got := strings.Join(c.chunks("plums"), "|"); !strings.Contains(got, "Plums ripen early.") {
		t.Errorf("%s", got)
	}
	for range 3 { // job.completed, graph.updated and import.finished, in the order of the commit
		if got := next(t, stream); got == pb.EventImportFinished {
			return
		}
	}
	t.Error("no import.finished")
}

func TestImportRefusesWhatItCannotRead(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for name, content := range map[string]string{
		"a.pdf": "%PDF-1.7\n", "b.json": `[{"content":""}]`, "c.txt": "a\x00",
		"d.json": `[{"content":"x","occurredAt":"yesterday"}]`,
	} {
		p := c.refused(pb.CodeValidation, file(name, content))
		if len(p.GetErrors()) != 1 || p.GetErrors()[0].GetField() != "file" {
			t.Errorf("%s: %v", name, p)
		}
	}
	c.refused("payload_too_large", file("large.txt", strings.Repeat("many words ", subject.MaxImportText/10)))
	short := func(content string) *pb.Envelope {
		env := file("short", content)
		env.GetLink().GetImportFile().MaxRunes = 5
		return env
	}
	c.refused("payload_too_large", short(`[{"content":"sixsix"}]`))
	// What the form says is stored with each document of the file.
	env := file("many.json", "["+strings.Repeat(`"x",`, 300)+`"x"]`)
	env.GetLink().GetImportFile().Metadata = []byte(`{"a":"` + strings.Repeat("x", 60<<10) + `"}`)
	c.refused("payload_too_large", env)
	if len(c.imports()) != 0 {
		t.Error("a refused file left a trace")
	}
	transcript := link(&pb.LinkOp{Op: &pb.LinkOp_ImportFile{ImportFile: &pb.ImportFile{
		Filename: "call.txt",
		Content:  []byte("Ann: Hello\nBob: Hi"), Transcript: true, Title: "Monday",
	}}})
	id := jobOf(c.ok(transcript))
	n.wait(id)
	if job := c.job(id); job.GetType() != pb.JobTranscript || job.GetStatus() != pb.JobSucceeded {
		t.Errorf("%v", job)
	}
}

// TestSpeakersBecomePeople: whoever a transcript says that speaks is a person of the
// graph, linked to the transcript; a speaker who has no name is none.
func TestSpeakersBecomePeople(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	const vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Okonkwo, Ifeoma>We meet on Monday.\n\n00:03.000 --> " +
		"00:04.000\n<v Maria del Carmen>And on Friday.\n\n" +
		"00:05.000 --> 00:06.000\n<v zsuzsa (she/her)>I prefer tea to coffee.\n\n00:07.000 --> 00:08.000\n<v Speaker " +
		"1>Good bye.\n"
	transcript := file("call.vtt", vtt)
	transcript.GetLink().GetImportFile().Transcript = true
	for name, env := range map[string]*pb.Envelope{"transcript": transcript, "import": file("call.vtt", vtt)} {
		c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
		id := jobOf(c.ok(env))
		n.wait(id)
		people := c.titles(graph.KindEntity)
		if want := []string{"Ifeoma Okonkwo", "Maria del Carmen", "zsuzsa"}; !slices.Equal(people, want) {
			t.Errorf("%s: %q, want %q", name, people, want)
		}
		said := c.titles("preference")
		if len(said) != 1 || !strings.Contains(said[0], "tea") {
			t.Errorf("%s: %q", name, said)
		}
	}
}

// TestPartsOfAnImport: what cannot be read of a file is a failed item with its
// reason, the rest is taken in, and each node's history says of which file it is.
func TestPartsOfAnImport(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	const letter = "From a@x.org Tue May  5 10:00:00 2026\nFrom: a@x.org\nTo: b@x.org\nSubject: Figs\nDate: Tue, 5 May " +
		"2026 10:00:00 +0000\nMessage-ID: <1@x.org>\n\nFigs ripen late.\n\n"
	env := file("inbox.mbox", letter+"From b@x.org Tue May  5 11:00:00 2026\nno header\n")
	env.GetLink().GetImportFile().Metadata = []byte(`{"from":"the form"}`)
	id := jobOf(c.ok(env))
	n.wait(id)
	job := c.job(id)
	if got, want := itemStatus(job), []string{pb.ItemCreated, pb.ItemFailed}; !slices.Equal(got, want) ||
		job.GetStatus() != pb.JobSucceeded || job.GetDone() != 2 || job.GetFailed() != 1 {
		t.Fatalf("%v", job)
	}
	if e := job.GetItems()[1].GetError(); !strings.HasPrefix(e, "mail 2 ") || !strings.Contains(e, "header") {
		t.Errorf("%q", e)
	}
	node := c.nodeOf(job.GetItems()[0].GetNode())
	if node.GetSource().GetExternalIds()[0] != "mid:1@x.org" ||
		string(node.GetMetadata()) != `{"from":"the form","messageId":"1@x.org","thread":"1@x.org","to":"b@x.org"}` {
		t.Errorf("%v", node)
	}
	if h := c.ok(historyOp(node.GetId(), nil)).GetGraph().GetHistory().GetChanges(); len(h) != 1 ||
		h[0].GetReason() != "imported from inbox.mbox" {
		t.Errorf("%v", h)
	}
}

// TestAnArchiveThatWasCutShort: the files that are whole are taken in, and what is
// missing are failed items, which say what.
func TestAnArchiveThatWasCutShort(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	for _, name := range []string{"figs.txt", "plums.txt"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte("What there is to know of " + name + " is written here."))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	id := jobOf(c.ok(file("fruit.zip", packed.String()[:packed.Len()/2])))
	n.wait(id)
	job := c.job(id)
	if got, want := itemStatus(job), []string{pb.ItemCreated, pb.ItemFailed, pb.ItemFailed}; !slices.Equal(got, want) ||
		job.GetStatus() != pb.JobSucceeded || job.GetFailed() != 2 {
		t.Fatalf("%v", job)
	}
	for i, want := range []string{
		"plums.txt is cut short with its archive",
		"the rest of the archive is missing or damaged",
	} {
		if e := job.GetItems()[1+i].GetError(); !strings.HasPrefix(e, want) {
			t.Errorf("%q", e)
		}
	}
}

// TestATimeThatIsNone: what is wrong with an item of an archive's file is said of the
// item, and the rest is taken in.
func TestATimeThatIsNone(t *testing.T) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("a.json")
	if err == nil {
		_, err = w.Write([]byte(`[{"content":"x"},{"content":"y","occurredAt":"yesterday"}]`))
	}
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	up, p, err := subject.ReadUpload(&pb.ImportFile{Filename: "a.zip", Content: packed.Bytes()}, formatreading.Limits{})
	if err != nil || p != nil || len(up.Items) != 2 {
		t.Fatalf("%v, %v, %v", up, p, err)
	}
	if x, y := up.Items[0], up.Items[1]; x.GetContent() != "x" || y.GetContent() != "" ||
		y.GetRefused() != "a.json, items[1] has an occurredAt that is no RFC 3339 date-time" {
		t.Errorf("%v", up.Items)
	}
}

// TestFilesOfEveryKindAreFound: each of the real files goes in, and is what words from
// its middle find first among all of them.
func TestFilesOfEveryKindAreFound(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	phrases := map[string]string{
		"plain.txt": "compost heap greenhouse", "latin1.txt": "Brücke Mühlbach", "utf16.txt": "spare pantograph",
		"russian.txt": "старый маяк",
		"notes.md":    "third plank steamed", "page.html": "planetarium dome solstice", "stock.csv": "walnut veneer offcuts",
		"items.json":  "sourdough Methuselah",
		"items.jsonl": "harpist tuning key", "letter.eml": "weather vane", "cave.mbox": "hygrometer horsehair",
		"call.vtt": "drawbridge semitone", "call.srt": "wrong estuary",
		"letter.rtf": "green peppercorns", "calendar.ics": "rare map lichen", "report.pdf": "cider press bicycle chain",
		"open256.pdf": "green barometer",
		"notes.docx":  "wait until cone bends", "slides.pptx": "dogs travel free", "hives.xlsx": "hive quarry wall",
		"tower.odt": "smallest bell foundry", "trails.ods": "marsh boardwalk",
		"book.epub": "forty gannets", "chatgpt.json": "salt cucumbers brine", "claude.json": "gnomon latitude",
		"mem0.json": "allergic lupin", "zep.json": "harmoniums chapel",
		"export.json": "jacquard peacock", "slack.zip": "enamel teapot", "notion.zip": "rehang barn door",
		"vault.zip": "weeping mulberry", "confluence.zip": "turbine governor sluice",
		"takeout.zip": "barograph horsehair", "bells.tar.gz": "ferry bell church", "harbour.odp": "diaphone bell buoy",
		"journal.txt.gz": "orrery Saturn", "oak.txt.bz2": "horseshoe trunk saddle", "wells.tsv": "water bailiff's widow",
		"plan.canvas":   "vanilla orchid stanchion",
		"projects.json": "heliostat swan feather", "meeting.txt": "cantilever cyclist", "talk.json": "cobalt foot ring",
	}
	made := map[string][]string{} // the nodes of each file
	for name := range phrases {
		data, err := os.ReadFile(filepath.Join("..", "brain", "format", "testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		env := file(name, string(data))
		env.GetLink().GetImportFile().Transcript = name == "meeting.txt" || name == "talk.json"
		id := jobOf(c.ok(env))
		n.wait(id)
		job := c.job(id)
		if job.GetStatus() != pb.JobSucceeded || job.GetFailed() != 0 {
			t.Errorf("%s: %v", name, job)
		}
		for _, item := range job.GetItems() {
			made[name] = append(made[name], item.GetNode())
		}
	}
	for name, phrase := range phrases {
		hits := c.search(&pb.Search{Query: phrase, TopK: 1, Mode: "keyword"})
		if len(hits) != 1 || !slices.Contains(made[name], hits[0].GetNode()) {
			t.Errorf("%s is not what %q finds: %v", name, phrase, hits)
			continue
		}
		for word := range strings.FieldsSeq(strings.ToLower(phrase)) {
			if !strings.Contains(strings.ToLower(hits[0].GetChunk()), word) {
				t.Errorf("%s is found by %q without %q", name, phrase, word)
			}
		}
	}
}

// TestImportedTimes: a document's own time comes before the form's, 1970 too.
func TestImportedTimes(t *testing.T) {
	up, p, err := subject.ReadUpload(&pb.ImportFile{
		Filename: "a.json", Content: []byte(`[{"content":"x","occurredAt":"1970-01-01T00:00:00Z"},{"content":"y"}]`),
		OccurredMs: 7000,
	}, formatreading.Limits{})
	if err != nil || p != nil || up.Items[0].GetOccurredMs() != 1 || up.Items[1].GetOccurredMs() != 7000 {
		t.Errorf("%v, %v, %v", up, p, err)
	}
}

// TestLargeImportsLeaveTheReadsAlone: they wait for their organization's share of
// the processors, with all reads free meanwhile, and are not read for a caller who
// has left.
func TestLargeImportsLeaveTheReadsAlone(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), func(cfg *tenant.Config, _ *storage.Options) { cfg.Workers = 1 })
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	large := func() *pb.Envelope { return file("large.txt", strings.Repeat("Some words.\n", 300<<10/10)) }
	hold, held := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		n.sys.CPU.Foreground(org.Org, []func(int) error{func(int) error { close(held); <-hold; return nil }})
	})
	<-held
	left, leave := context.WithCancel(t.Context())
	var leaver sync.WaitGroup
	leaver.Go(func() {
		if _, err := n.sys.Ask(left, c.envelope(large())); !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
	})
	for n.sys.CPU.Waiting() != 1 {
		continue
	}
	var job string
	wg.Go(func() { job = jobOf(c.ask(large())) })
	for n.sys.CPU.Waiting() != 2 {
		continue
	}
	c.chunks("words") // a read, while both wait
	small := jobOf(c.ok(file("small.txt", "Small words.")))
	leave()
	leaver.Wait()
	close(hold)
	wg.Wait()
	n.wait(small, job)
	if list := c.imports(); len(list) != 2 {
		t.Errorf("%d imports, want the small one and the one that somebody waited for", len(list))
	}
}

// TestImportHistory: the most recent, of the effective subject only.
//
// interface: Resources/Ingest job
// interface: Limits/Import history
func TestImportHistory(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	for i := range 23 {
		n.wait(jobOf(c.ok(file(fmt.Sprintf("f-%d.txt", i), fmt.Sprintf("text %d", i)))))
		n.clock.Advance(1e9)
	}
	c.as("ann").ok(file("hers.txt", "Her words."))
	list := c.imports()
	if len(list) != 20 || list[0].GetFilename() != "f-22.txt" || list[19].GetFilename() != "f-3.txt" {
		t.Errorf("%d entries, first %v", len(list), list[0])
	}
	if hers := c.as("ann").imports(); len(hers) != 1 || hers[0].GetFilename() != "hers.txt" {
		t.Errorf("%v", hers)
	}
}

func connectorOp(config string) *pb.Envelope {
	return link(&pb.LinkOp{Op: &pb.LinkOp_CreateConnector{CreateConnector: &pb.CreateConnector{
		Type: "git", Name: "docs", Config: []byte(config), IntervalS: 3600, Enabled: true,
	}}})
}

func TestConnectors(t *testing.T) {
	_, allow := receiver(t, nil)
	n := startNode(t, storagetest.NewDisk(), allow)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	r := c.ok(connectorOp(`{"url":"https://public.example/r.git","token":"sesame"}`))
	made := r.GetLink().GetConnector()
	if r.GetStatus() != 201 || strings.Contains(string(made.GetConfig()), "sesame") {
		t.Fatalf("%v", r)
	}
	id := pb.ConnectorID(made.GetId()).String()
	get := link(&pb.LinkOp{Op: &pb.LinkOp_GetConnector{GetConnector: &pb.GetConnector{Id: id}}})
	patch := func(config string) *pb.Envelope {
		return link(&pb.LinkOp{Op: &pb.LinkOp_PatchConnector{PatchConnector: &pb.PatchConnector{
			Id:     id,
			Config: []byte(config),
		}}})
	}
	stored := func() (out string) {
		t.Helper()
		err := n.sys.Visit(t.Context(), org.Org, func(o *tenant.Org, done func(error)) {
			st, err := o.System.Config.Storage.Acquire(o.Store)
			if err == nil {
				k := &pb.Connector{}
				_, err = st.Get(tenant.ModuleOf[*connector.Module](&o.View).ConnectorKey(pb.ConnectorID(made.GetId())), k)
				st.Release()
				if err == nil && strings.Contains(string(k.GetConfig()), "sesame") {
					err = errors.New("the secret lies open")
				}
				if err == nil {
					var whole []byte
					whole, _, err = tenant.ModuleOf[*connector.Module](&o.View).UnsealConfig(k)
					out = string(whole)
				}
			}
			done(err)
		})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	c.ok(patch(`{"url":"https://public.example/other.git"}`))
	if !strings.Contains(stored(), "sesame") || !strings.Contains(stored(), "other.git") {
		t.Errorf("a secret that was left out is gone: %s", stored())
	}
	c.ok(patch(`{"url":"https://public.example/other.git","token":""}`))
	if strings.Contains(stored(), "token") {
		t.Errorf("a secret cannot be removed: %s", stored())
	}
	for _, bad := range []string{
		`{"url":"https://inside.example/"}`,
		`{"url":"https://public.example/","pages":["https://public.example/"]}`, `{"token":"x"}`,
	} {
		c.refused(pb.CodeValidation, patch(bad))
	}
	c.refused(pb.CodeValidation, connectorOp(`{"url":"http://public.example/"}`))
	peer := n.keyOf(org.Org, n.addPerson(org.Org))
	peer.refused(pb.CodeConnectorNotFound, get)
	if list := peer.ok(link(&pb.LinkOp{Op: &pb.LinkOp_ListConnectors{ListConnectors: &pb.ListConnectors{}}})).GetLink().
		GetConnectors(); len(list.GetConnectors()) != 0 {
		t.Errorf("a peer sees %v", list)
	}
	if list := c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_ListConnectors{ListConnectors: &pb.ListConnectors{}}})).GetLink().
		GetConnectors(); len(list.GetConnectors()) != 1 {
		t.Errorf("%v", list)
	}
	if r := c.ok(link(&pb.LinkOp{Op: &pb.LinkOp_DeleteConnector{DeleteConnector: &pb.DeleteConnector{Id: id}}})); r.GetStatus() != 204 {
		t.Errorf("%v", r)
	}
	c.refused(pb.CodeConnectorNotFound, get)
}

func (n *testNode) addPerson(org pb.OrgID) pb.UserID {
	n.t.Helper()
	m, err := n.sys.AddMember(n.t.Context(), org, "peer@example.com", pb.RoleMember)
	if err != nil {
		n.t.Fatal(err)
	}
	return m.User
}

// The name of a file, which is the title of what came with it where nobody gave another,
// goes with that: from the import history, the histories of others, and the disk.
func TestForgettingTakesTheNameOfTheFile(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	take := func(name, content string) {
		t.Helper()
		id := jobOf(c.ok(file(name, content)))
		n.wait(id)
		if job := c.job(id); job.GetStatus() != pb.JobSucceeded {
			t.Fatalf("%s: %v", name, job)
		}
	}
	names := map[string]bool{
		"the-salary-of-ann-4711.txt": true, "the-same-under-another-name-4712.txt": true,
		"the-new-version-4713.json": true, "the-old-version-4714.json": false, "two-of-them-4715.json": false,
	}
	take("the-salary-of-ann-4711.txt", "It is more than that of the others.")
	take("the-same-under-another-name-4712.txt", "It is more than that of the others.")
	take("the-old-version-4714.json", `[{"externalId":"x","content":"The first version of it."}]`)
	take("the-new-version-4713.json", `[{"externalId":"x","content":"The second version of it."}]`)
	take("two-of-them-4715.json",
		`[{"title":"One","content":"The first of two."},{"title":"Two","content":"The second of two."}]`)
	for name := range names {
		if len(disk.Find(t, name)) == 0 {
			t.Fatalf("%s is nowhere: the test proves nothing", name)
		}
	}
	for _, text := range []string{"more than that", "second version", "first of two"} {
		c.forget(c.search(&pb.Search{Query: text})[0].GetNode())
	}
	n.eraseNow(c)
	var shown []string
	for _, e := range c.imports() {
		shown = append(shown, e.GetFilename())
	}
	slices.Sort(shown)
	if want := []string{"", "", "", "the-old-version-4714.json", "two-of-them-4715.json"}; !slices.Equal(shown, want) {
		t.Errorf("the history shows %q, want %q", shown, want)
	}
	for name, gone := range names {
		if files := disk.Find(t, name); gone && len(files) > 0 {
			t.Errorf("%s is in %q", name, files)
		}
	}
	c.forget(c.search(&pb.Search{Query: "second of two"})[0].GetNode())
	n.eraseNow(c)
	if files := disk.Find(t, "two-of-them"); len(files) > 0 {
		t.Errorf("with the last of what it brought the name is in %q", files)
	}
}
