package actors

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/cluster"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// patience bounds every wait of a test; one that passes never waits so long without
// anything getting on, even where ten other programs want the machine's processors.
const patience = 5 * time.Minute

// stuck is after how long a wait moves the test's clock, by nudges of a second and twice as
// far as a back-off goes: what failed for a moment, on a busy machine, waits for that clock
// to be tried again.
const (
	stuck  = 30 * time.Second
	nudges = 2 * int(tenant.MaxBackOff/time.Second)
)

// wordEmbedder is a model whose vectors are bags of hashed words: texts that
// share words are near, and nothing needs weights.
type wordEmbedder struct {
	id   string
	fail func(text string) // may panic
}

const wordDim = 1024 // so that few words share a component

func (e wordEmbedder) ID() string                    { return e.id }
func (wordEmbedder) Dim() int                        { return wordDim }
func (wordEmbedder) CountTokens(s string) int        { return len(strings.Fields(s)) + 2 }
func (e wordEmbedder) NewEncoder() partition.Encoder { return e }
func (e wordEmbedder) Query(s string) []float32      { return e.Passages([]string{s})[0] }

func (e wordEmbedder) Passages(texts []string) [][]float32 {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if e.fail != nil {
			e.fail(t)
		}
		v := make([]float32, wordDim)
		for w := range strings.FieldsSeq(strings.ToLower(t)) {
			h := fnv.New32a()
			h.Write([]byte(e.id + strings.Trim(w, ".,;:!?")))
			v[h.Sum32()%wordDim]++
		}
		var norm float64
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		for j := range v {
			v[j] /= float32(max(math.Sqrt(norm), 1e-9))
		}
		out[i] = v
	}
	return out
}

// testNode is a whole node of the service below the edge, on a disk that can crash.
type testNode struct {
	t     testing.TB
	disk  *storagetest.Disk
	store *storage.Node
	host  *cluster.Host
	sys   *Service
	clock *clock.Fake

	mu       sync.Mutex
	finished *sync.Cond
	jobs     map[pb.JobID]bool
	epochs   int // that trainings have gone through

	detach func() // lets the test's clean-up forget the node
}

func startNode(t testing.TB, disk *storagetest.Disk, configure ...func(*tenant.Config, *storage.Options)) *testNode {
	t.Helper()
	n := &testNode{
		t: t, disk: disk, clock: clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)),
		jobs: map[pb.JobID]bool{},
	}
	n.finished = sync.NewCond(&n.mu)
	fatal := func(msg string) { t.Error("fatal: " + msg) }
	opts, _ := disk.Options()
	opts.Clock, opts.Fatal = clock.Real(), fatal
	cfg := tenant.Config{
		Platform: tenant.Platform{Clock: n.clock, Random: rand.Reader, Logger: slog.New(slog.DiscardHandler)},
		Models:   tenant.Models{Embedder: wordEmbedder{id: "words"}},
		Bounds:   tenant.Bounds{Workers: 2},
		Testing:  tenant.Testing{WithoutDerivation: true},
	}
	for _, c := range configure {
		c(&cfg, &opts)
	}
	var err error
	if n.store, err = storage.Open(opts); err != nil {
		t.Fatal(err)
	}
	n.host, err = cluster.Start(t.Context(), cluster.Config{
		Storage: n.store, Clock: n.clock, Logger: slog.New(slog.DiscardHandler), Fatal: fatal, Shards: 3, Server: "one",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if err := n.host.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	cfg.Host, cfg.Storage = n.host, n.store
	told := cfg.EpochCommitted
	cfg.EpochCommitted = func() {
		n.mu.Lock()
		n.epochs++
		n.mu.Unlock()
		if told != nil {
			told()
		}
	}
	cfg.JobFinished = func(id pb.JobID) {
		n.mu.Lock()
		n.jobs[id] = true
		n.mu.Unlock()
		n.finished.Broadcast()
	}
	if n.sys, err = Start(cfg, nil); err != nil {
		t.Fatal(err)
	}
	// A test against a model starts hundreds of nodes: its clean-up must not keep the disks,
	// in memory, of those that were stopped.
	running := n
	n.detach = func() { running = nil }
	t.Cleanup(func() {
		if running != nil {
			running.stop()
		}
	})
	return n
}

// stop may be called twice.
func (n *testNode) stop() {
	n.t.Helper()
	if n.detach != nil {
		n.detach()
	}
	if err := n.sys.Close(); err != nil {
		n.t.Error(err)
	}
	if err := n.host.Close(); err != nil {
		n.t.Error(err)
	}
	if err := n.store.Close(); err != nil {
		n.t.Error(err)
	}
}

// wait waits until jobs have ended, for as long as trainings get on.
func (n *testNode) wait(jobs ...string) {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	seen := n.epochs
	var give *time.Timer
	give = time.AfterFunc(patience, func() { // a bound for a test that fails
		n.mu.Lock()
		defer n.mu.Unlock()
		if seen != n.epochs {
			seen = n.epochs
			give.Reset(patience)
			return
		}
		n.jobs = nil
		n.finished.Broadcast()
	})
	defer give.Stop()
	defer n.nudge()()
	for _, j := range jobs {
		id, err := pb.ParseJobID(j)
		if err != nil {
			n.t.Fatal(err)
		}
		for !n.jobs[id] {
			if n.jobs == nil {
				n.t.Fatalf("job %s did not end", j)
			}
			n.finished.Wait()
		}
	}
}

func (n *testNode) org(order account.NewOrg) account.CreatedOrg {
	n.t.Helper()
	if order.Name == "" {
		order = account.NewOrg{Name: "Acme", OwnerEmail: "owner@example.com", Plan: pb.PlanUnlimited}
	}
	made, err := n.sys.CreateOrg(n.t.Context(), order)
	if err != nil {
		n.t.Fatal(err)
	}
	return made
}

// client sends envelopes as the edge would.
type client struct {
	n       *testNode
	key     string
	subject string // selector; empty: none
}

func (c client) as(subject string) client { c.subject = subject; return c }

var routes = map[string]struct {
	scope, family string
	mode          pb.SubjectMode
}{
	"*pb.Envelope_Me":            {"", "reads", 0},
	"*pb.Envelope_ListKeys":      {"", "reads", 0},
	"*pb.Envelope_CreateKey":     {pb.ScopeAdmin, "default", 0},
	"*pb.Envelope_RevokeKey":     {"", "default", 0},
	"*pb.Envelope_ListSubjects":  {pb.ScopeRead, "reads", 0},
	"*pb.Envelope_GetSubject_":   {pb.ScopeRead, "reads", 0},
	"*pb.Envelope_PutSubject":    {pb.ScopeProvision, "default", 0},
	"*pb.Envelope_EraseSubject":  {pb.ScopeProvision, "default", 0},
	"*pb.Envelope_Ingest":        {pb.ScopeWrite, "ingest", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.Envelope_JobStatus":     {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.Envelope_GetJob":        {pb.ScopeRead, "reads", 0},
	"*pb.Envelope_ListJobs":      {pb.ScopeRead, "reads", 0},
	"*pb.Envelope_CancelJob":     {pb.ScopeWrite, "writes", 0},
	"*pb.Envelope_Search":        {pb.ScopeRead, "search", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.Envelope_GetNode":       {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.LinkOp_StreamEvents":    {pb.ScopeRead, "reads", 0},
	"*pb.LinkOp_CreateWebhook":   {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_ListWebhooks":    {pb.ScopeRead, "reads", 0},
	"*pb.LinkOp_GetWebhook":      {pb.ScopeRead, "reads", 0},
	"*pb.LinkOp_GetDelivery":     {pb.ScopeRead, "reads", 0},
	"*pb.LinkOp_PatchWebhook":    {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_DeleteWebhook":   {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_TestWebhook":     {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_CreateConnector": {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_ListConnectors":  {pb.ScopeRead, "reads", 0},
	"*pb.LinkOp_GetConnector":    {pb.ScopeRead, "reads", 0},
	"*pb.LinkOp_PatchConnector":  {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_DeleteConnector": {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_SyncConnector":   {pb.ScopeWrite, "writes", 0},
	"*pb.LinkOp_ImportFile":      {pb.ScopeWrite, "ingest", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.LinkOp_ListImports":     {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.LinkOp_SessionEvents":   {pb.ScopeWrite, "sessions", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.LinkOp_AgentSignals":    {pb.ScopeWrite, "sessions", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.LinkOp_SessionFinalize": {pb.ScopeWrite, "sessions", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.LinkOp_SessionStatus":   {pb.ScopeWrite, "sessions", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.LinkOp_ListSessions":    {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.LinkOp_DeleteSession":   {pb.ScopeWrite, "default", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.Envelope_Rejected":      {pb.ScopeWrite, "ingest", pb.SubjectMode_SUBJECT_AWARE},

	"*pb.GraphOp_ListNodes":       {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_NodeContext":     {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_SearchNodes":     {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_EntityElsewhere": {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_EditNode":        {pb.ScopeGraph, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_ForgetNode":      {pb.ScopeForget, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_UndeleteNode":    {pb.ScopeGraph, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_SupersedeNode":   {pb.ScopeGraph, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_NodeHistory":     {pb.ScopeGraph, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_ListEdges":       {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_GetEdge":         {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_AssertEdge":      {pb.ScopeGraph, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_ForgetEdge":      {pb.ScopeForget, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_ListDomains":     {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.GraphOp_GetDomain":       {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},

	"*pb.DataOp_GetUsage":       {pb.ScopeUsage, "reads", 0},
	"*pb.DataOp_CreateExport":   {pb.ScopeWrite, "exports", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.DataOp_ListExports":    {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.DataOp_GetExport":      {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.DataOp_DownloadExport": {pb.ScopeRead, "exports", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.DataOp_Purge":          {pb.ScopeAdmin, "default", 0},

	"*pb.AccountOp_DeleteMe":         {pb.ScopeWrite, "default", 0},
	"*pb.AccountOp_GetTeam":          {pb.ScopeRead, "reads", 0},
	"*pb.AccountOp_ListMembers":      {pb.ScopeAdmin, "reads", 0},
	"*pb.AccountOp_ListAudit":        {pb.ScopeAdmin, "reads", 0},
	"*pb.AccountOp_ListTeamKeys":     {pb.ScopeAdmin, "reads", 0},
	"*pb.AccountOp_ListSandboxKeys":  {pb.ScopeAdmin, "reads", 0},
	"*pb.AccountOp_CreateSandboxKey": {pb.ScopeAdmin, "default", 0},
	"*pb.AccountOp_RevokeSandboxKey": {pb.ScopeAdmin, "default", 0},
	"*pb.AccountOp_ResetSandbox":     {pb.ScopeAdmin, "default", 0},
	"*pb.AccountOp_GetSettings":      {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.AccountOp_PatchSettings":    {pb.ScopeWrite, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.AccountOp_ResetSettings":    {pb.ScopeWrite, "writes", pb.SubjectMode_SUBJECT_AWARE},

	"*pb.MindOp_Recall":             {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_GetIdentity":        {pb.ScopeRead, "reads", 0},
	"*pb.MindOp_PlotIdentity":       {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_ListContradictions": {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_ListProposals":      {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_DecideProposal":     {pb.ScopeGraph, "writes", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_BrainInfo":          {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.MindOp_BrainQuery":         {pb.ScopeRead, "default", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.MindOp_BrainAnswer":        {pb.ScopeRead, "default", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.MindOp_EvaluateQuality":    {pb.ScopeWrite, "default", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_ListQuality":        {pb.ScopeRead, "reads", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_BrainTrain":         {pb.ScopeAdmin, "default", pb.SubjectMode_SUBJECT_REFUSED},
	"*pb.MindOp_ConditionSession":   {pb.ScopeRead, "default", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_ConditionScaffold":  {pb.ScopeRead, "default", pb.SubjectMode_SUBJECT_AWARE},
	"*pb.MindOp_Retrieve":           {pb.ScopeRead, "search", pb.SubjectMode_SUBJECT_AWARE},
}

// operation names what an envelope asks for.
func operation(op *pb.Envelope) string {
	switch o := op.Op.(type) {
	case *pb.Envelope_Graph:
		return fmt.Sprintf("%T", o.Graph.GetOp())
	case *pb.Envelope_Account:
		return fmt.Sprintf("%T", o.Account.GetOp())
	case *pb.Envelope_Data:
		return fmt.Sprintf("%T", o.Data.GetOp())
	case *pb.Envelope_Mind:
		return fmt.Sprintf("%T", o.Mind.GetOp())
	case *pb.Envelope_Link:
		return fmt.Sprintf("%T", o.Link.GetOp())
	default:
		return fmt.Sprintf("%T", op.Op)
	}
}

func (c client) envelope(op *pb.Envelope) *pb.Envelope {
	name := operation(op)
	r, known := routes[name]
	if !known {
		c.n.t.Fatalf("%s is in no route", name)
	}
	h := pb.HashKey(c.key)
	op.KeyHash, op.Scope, op.Family, op.SubjectMode = h[:], r.scope, r.family, r.mode
	op.HasSubject, op.Subject = c.subject != "", c.subject
	op.Method, op.Path = "POST", name
	clone := proto.CloneOf(op)
	clone.IdempotencyKey, clone.BodyHash = "", nil
	raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(clone)
	if err != nil {
		c.n.t.Fatal(err)
	}
	sum := sha256.Sum256(raw)
	op.BodyHash = sum[:]
	return op
}

func (c client) ask(op *pb.Envelope) *pb.Reply {
	c.n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := c.n.sys.Ask(ctx, c.envelope(op))
	if err != nil {
		c.n.t.Fatal(err)
	}
	return r
}

// ok is ask for requests that must succeed.
func (c client) ok(op *pb.Envelope) *pb.Reply {
	c.n.t.Helper()
	r := c.ask(op)
	if p := r.GetProblem(); p != nil {
		c.n.t.Fatalf("%T: %s: %s", op.Op, p.GetCode(), p.GetDetail())
	}
	return r
}

// refused is ask for requests that must end with a problem of the code.
func (c client) refused(code string, op *pb.Envelope) *pb.Problem {
	c.n.t.Helper()
	r := c.ask(op)
	if got := r.GetProblem().GetCode(); got != code {
		c.n.t.Fatalf("%T: %q, want %s (%v)", op.Op, got, code, r)
	}
	return r.GetProblem()
}

func (c client) put(subject string) {
	c.n.t.Helper()
	c.ok(&pb.Envelope{Op: &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: subject}}})
}

func items(items ...*pb.IngestItem) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_Ingest{Ingest: &pb.Ingest{Items: items, Batch: true}}}
}

func doc(ext, content string) *pb.IngestItem {
	return &pb.IngestItem{ExternalId: ext, Content: content}
}

func jobOf(r *pb.Reply) string { return pb.JobID(r.GetAccepted().GetJob()).String() }

// ingest sends items, waits for the job and returns it.
func (c client) ingest(its ...*pb.IngestItem) *pb.Job {
	c.n.t.Helper()
	id := jobOf(c.ok(items(its...)))
	c.n.wait(id)
	return c.job(id)
}

func (c client) job(id string) *pb.Job {
	c.n.t.Helper()
	return c.ok(&pb.Envelope{Op: &pb.Envelope_GetJob{GetJob: &pb.GetJob{Id: id}}}).GetJob().GetJob()
}

// audits lists the actions in an organization's trail.
func (n *testNode) audits(org pb.OrgID) (actions []string) {
	n.t.Helper()
	for _, a := range records(n, storage.StoreID{Org: org, Realm: storage.RealmMain}, storage.TableAudit,
		func() *pb.Audit { return &pb.Audit{} }) {
		actions = append(actions, a.GetAction())
	}
	return actions
}

// records reads a table of an organization's store.
func records[M proto.Message](n *testNode, id storage.StoreID, table storage.Table, empty func() M) (all []M) {
	n.t.Helper()
	st, err := n.store.Acquire(id)
	if err != nil {
		n.t.Fatal(err)
	}
	defer st.Release()
	for rec, err := range storage.ScanRecords(st, storage.OrgSpace(id).Prefix(table), storage.ScanOptions{}, empty) {
		if err != nil {
			n.t.Fatal(err)
		}
		all = append(all, rec.Value)
	}
	return all
}

// waitMoving is wait for jobs whose back-off runs on the clock of the test, which goes
// on by steps meanwhile, and no further: requests have deadlines on it, too.
func (n *testNode) waitMoving(step time.Duration, jobs ...string) {
	n.t.Helper()
	done := make(chan struct{})
	var moving sync.WaitGroup
	defer moving.Wait()
	defer close(done)
	moving.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				n.clock.Advance(step)
			}
		}
	})
	n.wait(jobs...)
}

// nudge moves the clock when it is stuck, until the caller has what it waits for.
func (n *testNode) nudge() (done func()) {
	var mu sync.Mutex // guards what follows
	left := nudges
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(stuck, func() {
		mu.Lock()
		defer mu.Unlock()
		if left == 0 {
			return
		}
		left--
		n.clock.Advance(time.Second) // not at once: requests have deadlines on it, too
		timer.Reset(stuck / 100)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		left = 0
		timer.Stop()
	}
}

// looks is how often waitFor asks at once before it leaves the processor to what it waits
// for: most of what is waited for is there by then, and one that asks all the time reads
// the store all the time.
const looks = 20

// waitFor gives the actors their turns until something holds.
func (n *testNode) waitFor(holds func() bool) {
	n.t.Helper()
	late := time.AfterFunc(patience, func() { n.t.Error("waited in vain") })
	defer late.Stop()
	defer n.nudge()()
	turn := time.NewTicker(time.Millisecond)
	defer turn.Stop()
	for asked := 0; !holds() && !n.t.Failed(); asked++ {
		if runtime.Gosched(); asked >= looks {
			<-turn.C
		}
	}
}

// settle waits until the store has no unfinished job.
func (n *testNode) settle(id storage.StoreID) {
	n.t.Helper()
	for _, j := range records(n, id, storage.TableJob, func() *pb.Job { return &pb.Job{} }) {
		if !tenant.Terminal(j.GetStatus()) {
			n.wait(pb.JobID(j.GetId()).String())
		}
	}
}

func find(query string) *pb.Envelope {
	return &pb.Envelope{Op: &pb.Envelope_Search{Search: &pb.Search{Query: query}}}
}

func (c client) search(op *pb.Search) []*pb.Hit {
	c.n.t.Helper()
	return c.ok(&pb.Envelope{Op: &pb.Envelope_Search{Search: op}}).GetSearch().GetHits()
}

// chunks lists the texts of the hits.
func (c client) chunks(query string) []string {
	c.n.t.Helper()
	var out []string
	for _, h := range c.search(&pb.Search{Query: query, TopK: 100}) {
		out = append(out, h.GetChunk())
	}
	return out
}
