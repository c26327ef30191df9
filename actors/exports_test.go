package actors

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"orgmem/actors/account"
	"orgmem/actors/commit"
	"orgmem/actors/export"
	"orgmem/actors/tenant"
	"orgmem/brain/document"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func dataOp(op *pb.DataOp) *pb.Envelope { return &pb.Envelope{Op: &pb.Envelope_Data{Data: op}} }

func createExport(org bool) *pb.Envelope {
	return dataOp(&pb.DataOp{Op: &pb.DataOp_CreateExport{CreateExport: &pb.CreateExport{OrgScope: org}}})
}

func getExport(id string) *pb.Envelope {
	return dataOp(&pb.DataOp{Op: &pb.DataOp_GetExport{GetExport: &pb.GetExport{Id: id}}})
}

func downloadExport(id string) *pb.Envelope {
	return dataOp(&pb.DataOp{Op: &pb.DataOp_DownloadExport{DownloadExport: &pb.DownloadExport{Id: id}}})
}

func listExports(page *pb.Page) *pb.Envelope {
	return dataOp(&pb.DataOp{Op: &pb.DataOp_ListExports{ListExports: &pb.ListExports{Page: page}}})
}

// export makes an export, waits for it and returns its id.
func (c client) export(org bool) string {
	c.n.t.Helper()
	id := pb.ExportID(c.ok(createExport(org)).GetData().GetExport().GetId()).String()
	c.n.wait(id)
	return id
}

func (c client) exportStatus(id string) string {
	c.n.t.Helper()
	return c.ok(getExport(id)).GetData().GetExport().GetStatus()
}

// download reads a whole document, and checks it against its description.
func (c client) download(id string) []byte {
	c.n.t.Helper()
	e := c.ok(downloadExport(id)).GetData().GetDownload()
	var doc []byte
	for n := uint32(0); uint64(len(doc)) < e.GetBytes(); n++ {
		piece, err := c.n.sys.ExportPiece(c.n.t.Context(), e, n)
		if err != nil {
			c.n.t.Fatal(err)
		}
		doc = append(doc, piece...)
	}
	if sum := sha256.Sum256(doc); uint64(len(doc)) != e.GetBytes() || hex.EncodeToString(sum[:]) != e.GetSha256() {
		c.n.t.Fatalf("a document of %d bytes does not fit %v", len(doc), e)
	}
	return doc
}

// exported is what the tests read of a document.
type exported struct {
	document.Head
	Partitions []struct {
		document.Partition
		Nodes       []document.Node
		Edges       []document.Edge
		ExternalIDs []document.External
		Sessions    []json.RawMessage
		Domains     []document.Domain
	}
}

func readDocument(t testing.TB, raw []byte) (doc exported) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return doc
}

// interface: Resources/Export
// interface: Versioning/export format
func TestExportHoldsTheMemoryAndNoOther(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	other := client{n: n, key: n.org(account.NewOrg{Name: "Other", OwnerEmail: "o@example.com", Plan: pb.PlanUnlimited}).
		APIKey}
	other.ingest(doc("o", "text of another organization"))
	c.put("ann")
	c.as("ann").ingest(doc("a", "text of <ann> & co"), doc("b", "an old text"))
	c.as("ann").ingest(doc("b", "a new text"))
	c.ingest(doc("mine", "text of the owner"))

	of := readDocument(t, c.as("ann").download(c.as("ann").export(false)))
	if of.Format != document.Format || of.Version != document.Version || of.Scope != pb.ExportScopeUser ||
		len(of.Partitions) != 1 {
		t.Fatalf("head %+v", of.Head)
	}
	p := of.Partitions[0]
	var texts []string
	for _, node := range p.Nodes {
		texts = append(texts, node.Status+": "+*node.Content)
		if !node.OfContent || node.Source.Type != "ingest" || len(node.History) == 0 {
			t.Errorf("node %+v", node)
		}
	}
	slices.Sort(texts)
	if want := []string{"live: a new text", "live: text of <ann> & co", "superseded: an old text"}; !slices.Equal(texts,
		want) || p.Subject != "ann" {
		t.Errorf("%s has %q, want %q", p.Subject, texts, want)
	}
	if len(p.ExternalIDs) != 2 {
		t.Errorf("external ids %v", p.ExternalIDs)
	}
	whole := c.download(c.export(true))
	for text, want := range map[string]bool{
		"text of <ann>": true, "text of the owner": true, "owner@example.com": true,
		"another organization": false,
	} {
		if bytes.Contains(whole, []byte(text)) != want {
			t.Errorf("the organization's document holds %q: %v", text, !want)
		}
	}
	if got := len(readDocument(t, whole).Partitions); got != 2 {
		t.Errorf("%d memories", got)
	}
}

// interface: Endpoints/Exports
func TestExportsBelongToWhoMayReadThem(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	c.put("bob")
	_, peer := n.recruit(made.Org, "peer@example.com", pb.RoleMember, pb.ScopeRead, pb.ScopeWrite)
	mine := c.export(false)
	n.clock.Advance(time.Millisecond)
	whole, anns := c.export(true), c.as("ann").export(false)
	for _, has := range []struct {
		who  client
		name string
		ids  []string
	}{
		{c, "owner", []string{whole, mine}},
		{c.as("ann"), "ann", []string{anns}},
		{c.as("bob"), "bob", nil},
		{peer, "peer", nil},
		{peer.as("ann"), "peer as ann", []string{anns}},
	} {
		var listed []string
		for _, e := range has.who.ok(listExports(nil)).GetData().GetExports().GetExports() {
			listed = append(listed, pb.ExportID(e.GetId()).String())
		}
		if !slices.Equal(listed, has.ids) {
			t.Errorf("%s lists %q, want %q", has.name, listed, has.ids)
		}
		for _, id := range []string{mine, whole, anns} {
			for _, op := range []*pb.Envelope{getExport(id), downloadExport(id)} {
				if slices.Contains(has.ids, id) {
					has.who.ok(op)
				} else {
					has.who.refused(pb.CodeExportNotFound, op)
				}
			}
		}
	}
	c.refused(pb.CodeExportNotFound, getExport("nonsense"))
	c.as("ann").refused(pb.CodePermissionDenied, createExport(true))
	// The cursor of one memory's list does not open another's.
	c.as("ann").export(false)
	cursor := c.as("ann").ok(listExports(&pb.Page{Size: 1})).GetData().GetExports().GetNextCursor()
	if cursor == "" {
		t.Fatal("the list of two has one page of one")
	}
	c.refused(pb.CodeInvalidCursor, listExports(&pb.Page{Cursor: cursor}))
	if rest := c.as("ann").ok(listExports(&pb.Page{Cursor: cursor})).GetData().GetExports(); len(rest.GetExports()) != 1 ||
		rest.GetNextCursor() != "" {
		t.Errorf("the second page is %v", rest)
	}
}

// TestOrganizationExportIsItsMakers: the user who made an export of the organization
// lists and reads it with any key that reads, and nobody else does, admin or not.
//
// interface: Endpoints/Exports
func TestOrganizationExportIsItsMakers(t *testing.T) {
	t.Parallel()
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.put("ann")
	whole := c.export(true)
	reads := func(who client) bool {
		t.Helper()
		listed := false
		for _, e := range who.ok(listExports(nil)).GetData().GetExports().GetExports() {
			listed = listed || pb.ExportID(e.GetId()).String() == whole
		}
		for _, op := range []*pb.Envelope{getExport(whole), downloadExport(whole)} {
			if listed {
				who.ok(op)
			} else {
				who.refused(pb.CodeExportNotFound, op)
			}
		}
		return listed
	}
	if reader := n.keyOf(made.Org, made.Owner, pb.ScopeRead); !reads(reader) {
		t.Error("its maker does not see it with a key that reads")
	} else if len(reader.download(whole)) == 0 {
		t.Error("its maker downloads nothing")
	}
	_, admin := n.recruit(made.Org, "admin@example.com", pb.RoleAdmin, pb.ScopeRead, pb.ScopeWrite, pb.ScopeAdmin)
	_, peer := n.recruit(made.Org, "peer@example.com", pb.RoleMember, pb.ScopeRead)
	for name, who := range map[string]client{
		"an admin": admin, "a peer": peer, "the maker as a subject": c.as("ann"),
		"the sandbox": n.sandboxKey(c),
	} {
		if reads(who) {
			t.Errorf("%s sees it", name)
		}
	}
}

// interface: States/Export not ready
func TestExportExpires(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	c.ingest(doc("a", "a text"))
	id := c.export(false)
	n.clock.Advance(export.DefaultExportRetention)
	if got := c.exportStatus(id); got != pb.ExportExpired {
		t.Errorf("status is %s", got)
	}
	c.refused(pb.CodeExportNotReady, downloadExport(id))
	store := storage.StoreID{Org: made.Org, Realm: storage.RealmMain}
	n.waitFor(func() bool { // the sweep ends it in the store
		n.clock.Advance(tenant.SweepInterval)
		c.ok(&pb.Envelope{Op: &pb.Envelope_Me{Me: &pb.Me{}}})
		return records(n, store, storage.TableExport,
			func() *pb.Export { return &pb.Export{} })[0].GetStatus() == pb.ExportExpired
	})
}

// An export that holds what is forgotten ends with it, also while it is sent; one
// of another memory does not.
func TestForgettingEndsExports(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.put("ann")
	c.put("bob")
	node := c.as("ann").ingest(doc("a", "a text to forget")).GetItems()[0].GetNode()
	c.as("ann").ingest(doc("b", "a text to keep"))
	anns, bobs, whole := c.as("ann").export(false), c.as("bob").export(false), c.export(true)
	sending := c.ok(downloadExport(whole)).GetData().GetDownload()
	if _, err := n.sys.ExportPiece(t.Context(), sending, 0); err != nil {
		t.Fatal(err)
	}
	c.as("ann").ok(forgetOp(node))
	if _, err := n.sys.ExportPiece(t.Context(), sending, 0); err == nil {
		t.Error("a document is still sent after something in it was forgotten")
	}
	for _, e := range []struct {
		who  client
		id   string
		want string
	}{{c.as("ann"), anns, pb.ExportExpired}, {c, whole, pb.ExportExpired}, {c.as("bob"), bobs, pb.ExportSucceeded}} {
		if got := e.who.exportStatus(e.id); got != e.want {
			t.Errorf("export is %s, want %s", got, e.want)
		}
	}
	if again := c.as("ann").download(c.as("ann").export(false)); bytes.Contains(again, []byte("a text to forget")) ||
		!bytes.Contains(again, []byte("a text to keep")) {
		t.Errorf("the next document is %s", again)
	}
}

// What is forgotten while a document is being written is not in it.
func TestForgettingSendsARunningExportBack(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	long := strings.Repeat("a long text of many words. ", storagetest.LessUnderRace(t, 1500, 300))
	var its []*pb.IngestItem
	for i := range 24 {
		its = append(its, doc(fmt.Sprint(i), fmt.Sprintf("%d: %s", i, long)))
	}
	nodes := c.ingest(its...).GetItems()
	for i := range 20 {
		id := pb.ExportID(c.ok(createExport(false)).GetData().GetExport().GetId()).String()
		c.ok(forgetOp(nodes[i].GetNode())) // before, while or after it is written
		n.wait(id)
		r := c.ask(downloadExport(id))
		if r.GetProblem() != nil {
			if got := r.GetProblem().GetCode(); got != pb.CodeExportNotReady {
				t.Fatalf("download: %s", got)
			}
			continue
		}
		if bytes.Contains(c.download(id), fmt.Appendf(nil, `"%d: a long`, i)) {
			t.Fatalf("document %d holds what was forgotten before it was finished", i)
		}
	}
}

func TestExportSurvivesACrash(t *testing.T) {
	disk := storagetest.NewDisk()
	n := startNode(t, disk)
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	long := strings.Repeat("a long text of many words. ", 20_000)
	c.ingest(doc("a", long), doc("b", "short"))
	id := pb.ExportID(c.ok(createExport(true)).GetData().GetExport().GetId()).String()
	crashed := disk.Crash(50, 7)
	n.stop()
	n = startNode(t, crashed)
	c.n = n
	n.settle(storage.StoreID{Org: made.Org, Realm: storage.RealmMain})
	if doc := readDocument(t, c.download(id)); len(doc.Partitions[0].Nodes) != 2 {
		t.Errorf("%d nodes", len(doc.Partitions[0].Nodes))
	}
}

func TestExportIsIdempotentAndAudited(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	first := createExport(false)
	first.IdempotencyKey = "k"
	second := createExport(false)
	second.IdempotencyKey = "k"
	a, b := c.ok(first), c.ok(second)
	if !b.GetReplayed() || string(a.GetData().GetExport().GetId()) != string(b.GetData().GetExport().GetId()) {
		t.Errorf("%v, then %v", a, b)
	}
	if !slices.Contains(n.audits(made.Org), "export.create") {
		t.Error("no audit")
	}
	n.wait(pb.ExportID(a.GetData().GetExport().GetId()).String())
}

func TestExportsAreBounded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var ids []string
	for range export.MaxKeptExports + 1 {
		n.clock.Advance(time.Millisecond)
		ids = append(ids, c.export(false))
	}
	if got := c.exportStatus(ids[0]); got != pb.ExportExpired {
		t.Errorf("the oldest is %s", got)
	}
	if got := c.exportStatus(ids[1]); got != pb.ExportSucceeded {
		t.Errorf("the second is %s", got)
	}
}

func TestExportCanBeCancelled(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	c.ingest(doc("a", strings.Repeat("a long text of many words. ", 20_000)))
	id := pb.ExportID(c.ok(createExport(false)).GetData().GetExport().GetId()).String()
	r := c.ask(&pb.Envelope{Op: &pb.Envelope_CancelJob{CancelJob: &pb.CancelJob{Id: id}}})
	n.wait(id)
	switch code := r.GetProblem().GetCode(); code {
	case pb.CodeJobNotCancellable: // it was faster
		c.download(id)
	case "":
		if r.GetJob().GetJob().GetStatus() != pb.JobCancelled || c.exportStatus(id) != pb.ExportFailed {
			t.Errorf("cancelled: %v, %s", r.GetJob(), c.exportStatus(id))
		}
		c.refused(pb.CodeExportNotReady, downloadExport(id))
	default:
		t.Errorf("cancel: %s", code)
	}
	c.download(c.export(false)) // the next one is not held up
}

// Nothing is downloaded of an export that has not succeeded, and its record says
// what it is.
//
// interface: States/Export not ready
func TestOnlyFinishedExportsAreDownloaded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	for i, status := range []string{pb.ExportQueued, pb.ExportRunning, pb.ExportFailed, pb.ExportExpired} {
		id := pb.ExportID{byte(i + 1)}
		c.inOrg(func(o *tenant.Org) {
			e := &pb.Export{
				Id: id[:], User: made.Owner[:], Partition: made.Owner[:], Scope: pb.ExportScopeUser, Status: status,
				Format: export.Format, CreatedMs: n.clock.Now().UnixMilli(),
			}
			ch := commit.New(o.Store)
			ch.Put(export.Key(o.Space, id), e)
			ch.PutRaw(export.KeyByTime(o.Space, e), nil)
			if err := o.Committer.CommitChange(ch); err != nil {
				t.Error(err)
			}
		})
		if got := c.exportStatus(id.String()); got != status {
			t.Errorf("%s reads %s", status, got)
		}
		c.refused(pb.CodeExportNotReady, downloadExport(id.String()))
	}
}

// interface: Endpoints/Exports
func TestEndedExportsAreBounded(t *testing.T) {
	n := startNode(t, storagetest.NewDisk())
	made := n.org(account.NewOrg{})
	c := client{n: n, key: made.APIKey}
	part := made.Owner
	c.inOrg(func(o *tenant.Org) {
		b := storage.NewBatch(o.Store)
		for i := range export.MaxEndedExports + 3 {
			var id pb.ExportID
			id[0], id[1] = byte(i>>8), byte(i)
			e := &pb.Export{
				Id: id[:], User: part[:], Partition: part[:], Scope: pb.ExportScopeUser, Status: pb.ExportExpired,
				Format:    export.Format,
				CreatedMs: int64(1000 + i), FinishedMs: n.clock.Now().UnixMilli(),
			}
			b.Put(export.Key(o.Space, id), e)
			b.PutRaw(export.KeyByTime(o.Space, e), nil)
		}
		o.Committer.Submit(b, func(error) {})
	})
	c.export(false)
	c.export(false)
	left := records(n, storage.StoreID{Org: c.orgID(), Realm: storage.RealmMain}, storage.TableExport,
		func() *pb.Export { return &pb.Export{} })
	oldest := slices.MinFunc(left, func(a, b *pb.Export) int { return int(a.GetCreatedMs() - b.GetCreatedMs()) })
	if len(left) != export.MaxEndedExports+1 || oldest.GetCreatedMs() != 1000+4 {
		t.Errorf("%d records, the oldest of %d", len(left), oldest.GetCreatedMs())
	}
}

// An export that was made before a subject was there holds nothing of it, and stays when
// the subject's memory is purged, a part of it forgotten, or the subject erased. One that
// ends says when it did.
func TestExportsFromBeforeASubjectOutliveIt(t *testing.T) {
	for name, forget := range map[string]func(n *testNode, c client, node string){
		"purged": func(_ *testNode, c client, _ string) {
			c.ok(confirmPurge("ann", c.ok(dryPurge("ann")).GetData().GetPurge().GetConfirmToken()))
		},
		"forgotten": func(_ *testNode, c client, node string) { c.as("ann").ok(forgetOp(node)) },
		"erased":    func(n *testNode, c client, _ string) { n.wait(jobOf(c.ok(eraseOp("ann")))) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, storagetest.NewDisk())
			c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
			c.ingest(doc("a", "a text of the organization"))
			before := c.export(true)
			c.put("ann")
			between := c.export(true)
			text := c.as("ann").ingest(doc("a", "a text of ann")).GetItems()[0].GetNode()
			behind := c.export(true)
			n.clock.Advance(time.Hour)
			forget(n, c, text)
			for id, want := range map[string]string{
				before: pb.ExportSucceeded, between: pb.ExportExpired,
				behind: pb.ExportExpired,
			} {
				e := c.ok(getExport(id)).GetData().GetExport()
				at := n.clock.Now().UnixMilli()
				if over := e.GetExpiresMs() <= at; e.GetStatus() != want || over != (want == pb.ExportExpired) {
					t.Errorf("an export is %s and expires at %d; it is %d", e.GetStatus(), e.GetExpiresMs(), at)
				}
			}
		})
	}
}
