package migrate

import (
	"context"
	"errors"
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

// service is a stand-in that keeps what it was sent.
type service struct {
	mu       sync.Mutex
	subjects map[string]bool
	held     map[string]map[string]client.Item // by subject and external id
	batches  map[string]client.Job
	sent     int
	weak     bool // the key may not provision
	refuse   func(client.Item) string
	fail     error // of the next batch
}

func newService() *service {
	return &service{
		subjects: map[string]bool{}, held: map[string]map[string]client.Item{}, batches: map[string]client.Job{},
	}
}

func (s *service) PutSubject(_ context.Context, subject string) error {
	if s.weak {
		return &client.Problem{Status: 403, Code: "insufficient_scope"}
	}
	s.subjects[subject] = true
	return nil
}

func (s *service) HasSubject(_ context.Context, subject string) (bool, error) {
	return s.subjects[subject], nil
}

func (s *service) As(subject string) importer.Service { return acting{s, subject} }

type acting struct {
	*service
	subject string
}

func (a acting) IngestBatch(_ context.Context, items []client.Item, _ string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.fail; err != nil {
		a.fail = nil
		return "", err
	}
	var job client.Job
	job.Status = pb.JobDone
	job.Result = &struct {
		Items []client.JobItem `json:"items"`
	}{}
	for i, item := range items {
		if a.refuse != nil && a.refuse(item) != "" {
			return "", &client.Problem{Status: 422, Code: "validation_failed", Detail: a.refuse(item)}
		}
		if a.held[a.subject] == nil {
			a.held[a.subject] = map[string]client.Item{}
		}
		status := pb.ItemCreated
		if was, there := a.held[a.subject][item.ExternalID]; there {
			status = "superseded"
			if was.Content == item.Content {
				status = pb.ItemUnchanged
			}
		}
		a.held[a.subject][item.ExternalID] = item
		a.sent++
		job.Result.Items = append(job.Result.Items, client.JobItem{Index: i, NodeID: item.ExternalID, Status: status})
	}
	id := a.subject + "/" + items[0].ExternalID
	a.batches[id] = job
	return id, nil
}

func (a acting) IngestStatus(_ context.Context, job string) (client.Job, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.batches[job], nil
}

func (a acting) NodeStatus(_ context.Context, node string) (string, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, there := a.held[a.subject][node]; !there {
		return "", &client.Problem{Status: 404, Code: pb.CodeNodeNotFound}
	}
	return "live", nil
}

// send reads and sends an export with the journal of a folder.
func send(t *testing.T, s *service, dir, path string) (Summary, error) {
	t.Helper()
	return sendTo(t, s, dir, "organization", planned(t, "mem0", path), false)
}

func sendTo(t *testing.T, s *service, dir, org string, p *Plan, again bool) (Summary, error) {
	t.Helper()
	j, err := OpenJournal(dir, org)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := p.Send(t.Context(), Target{
		Service: s, Journal: j, Clock: clock.NewFake(time.Unix(1_700_000_000, 0)), Again: again,
	})
	if cerr := j.Close(); cerr != nil {
		t.Fatal(cerr)
	}
	return sum, err
}

func TestSendSkipsWhatIsThere(t *testing.T) {
	dir, s := t.TempDir(), newService()
	for round, want := range []Summary{{Created: 5}, {Unchanged: 5}} {
		sum, err := send(t, s, dir, "testdata/mem0")
		if err != nil || sum.Created != want.Created || sum.Unchanged != want.Unchanged ||
			len(sum.Failed) != 0 || s.sent != 5 {
			t.Errorf("round %d: %+v, %v, %d sent", round, sum, err, s.sent)
		}
	}
	if !s.subjects["ann"] || !s.subjects["bob"] || !s.subjects["carla"] || len(s.subjects) != 3 {
		t.Errorf("subjects %v", s.subjects)
	}
	// A service that was set up anew has another organization, and gets everything again.
	s = newService()
	for round, want := range []Summary{{Created: 5}, {Unchanged: 5}} {
		sum, err := sendTo(t, s, dir, "another", planned(t, "mem0", "testdata/mem0"), false)
		if err != nil || sum.Created != want.Created || sum.Unchanged != want.Unchanged || s.sent != 5 {
			t.Errorf("to a new service, round %d: %+v, %v, %d sent", round, sum, err, s.sent)
		}
	}
}

// Where all that a user had was forgotten, or the subject was erased, a second run brings
// neither back; when it is asked to, it does.
func TestForgottenStaysForgotten(t *testing.T) {
	dir, s := t.TempDir(), newService()
	if sum, err := send(t, s, dir, "testdata/mem0"); err != nil || sum.Created != 5 {
		t.Fatalf("%+v, %v", sum, err)
	}
	ann, bob, carla := len(s.held["ann"]), len(s.held["bob"]), len(s.held["carla"])
	if ann == 0 || bob == 0 || carla == 0 {
		t.Fatalf("they have %d, %d, %d", ann, bob, carla)
	}
	clear(s.held["ann"])      // each note was forgotten
	delete(s.held, "bob")     // erased
	delete(s.subjects, "bob") // likewise
	for range 2 {
		sum, err := send(t, s, dir, "testdata/mem0")
		if err != nil || len(s.held["ann"]) != 0 || len(s.held["bob"]) != 0 || s.subjects["bob"] || s.sent != 5 {
			t.Errorf("%+v, %v: ann has %v, bob %v, subjects %v", sum, err, s.held["ann"], s.held["bob"], s.subjects)
		}
		if sum.Forgotten != bob || sum.Unchanged != 5-bob || !slices.Equal(sum.Erased, []string{"bob"}) ||
			!slices.Equal(sum.Emptied, []string{"ann"}) {
			t.Errorf("it says %+v", sum)
		}
	}
	sum, err := sendTo(t, s, dir, "organization", planned(t, "mem0", "testdata/mem0"), true)
	if err != nil || sum.Created != ann+bob || len(s.held["ann"]) != ann || len(s.held["bob"]) != bob || !s.subjects["bob"] {
		t.Errorf("when asked: %+v, %v, %v", sum, err, s.held)
	}
}

func TestSendGoesOnWhereItStopped(t *testing.T) {
	dir, s := t.TempDir(), newService()
	stopped := errors.New("the network is gone")
	s.fail = stopped
	if _, err := send(t, s, dir, "testdata/mem0"); !errors.Is(err, stopped) {
		t.Fatalf("it ended with %v", err)
	}
	if sum, err := send(t, s, dir, "testdata/mem0"); err != nil || sum.Created+sum.Unchanged != 5 || s.sent != 5 {
		t.Errorf("%+v, %v, %d sent", sum, err, s.sent)
	}
}

// One note that the service refuses costs no other one its place, and is sent again.
func TestSendNamesWhatIsRefused(t *testing.T) {
	dir, s := t.TempDir(), newService()
	s.refuse = func(i client.Item) string {
		if strings.Contains(i.Content, "hazelnuts") {
			return "no nuts"
		}
		return ""
	}
	sum, err := send(t, s, dir, "testdata/mem0")
	if err != nil || sum.Created != 4 || len(sum.Failed) != 1 || !strings.Contains(sum.Failed[0].Reason, "no nuts") ||
		!strings.Contains(sum.Failed[0].Path, "get_all.json results[1]") {
		t.Errorf("%+v, %v", sum, err)
	}
	s.refuse = nil
	if sum, err := send(t, s, dir, "testdata/mem0"); err != nil || sum.Created != 1 || sum.Unchanged != 4 {
		t.Errorf("again: %+v, %v", sum, err)
	}
}

func TestSendWithoutTheScope(t *testing.T) {
	s := newService()
	s.weak = true
	s.subjects["ann"] = true
	_, err := send(t, s, t.TempDir(), "testdata/mem0")
	if err == nil || !strings.Contains(err.Error(), "bob, carla") || strings.Contains(err.Error(), "ann") ||
		!strings.Contains(err.Error(), pb.ScopeProvision) || s.sent != 0 {
		t.Errorf("%v, %d sent", err, s.sent)
	}
	s.subjects["bob"], s.subjects["carla"] = true, true
	if sum, err := send(t, s, t.TempDir(), "testdata/mem0"); err != nil || sum.Created != 5 {
		t.Errorf("with subjects that are there: %+v, %v", sum, err)
	}
}

// A note that was forgotten does not come back because the product says something else of it
// now; what rests on it comes without it, and the other changes come as they are.
func TestForgottenIsNotSentWhenItChanges(t *testing.T) {
	dir, s := t.TempDir(), newService()
	export := func(category, more string) *Plan {
		return planned(t, "supermemory", file(t, "export.json", `{"documents":[`+
			`{"id":"d1","content":"The quay is long.","containerTags":["greta"],"metadata":{"category":"`+category+`"},`+
			`"createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-01T00:00:00Z","status":"done"},`+
			`{"id":"d2","content":"The mole is short.","containerTags":["greta"],"metadata":{"category":"`+category+`"},`+
			`"createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-01T00:00:00Z","status":"done"}`+more+`]}`))
	}
	if sum, err := sendTo(t, s, dir, "organization", export("harbour", ""), false); err != nil || sum.Created != 2 {
		t.Fatalf("%+v, %v", sum, err)
	}
	delete(s.held["greta"], "supermemory:d1")
	for round, more := range []string{"", `,{"id":"d3","content":"The pier is new.","containerTags":["greta"],` +
		`"createdAt":"2025-01-01T00:00:00Z","updatedAt":"2025-01-01T00:00:00Z","status":"done"}`} {
		sum, err := sendTo(t, s, dir, "organization", export("port", more), false)
		if _, back := s.held["greta"]["supermemory:d1"]; err != nil || back || sum.Forgotten != 1 || len(sum.Failed) != 0 ||
			sum.Created != round || sum.Unchanged != 1 {
			t.Errorf("round %d: %+v, %v, back: %v", round, sum, err, back)
		}
	}
	if n := s.held["greta"]["supermemory:d2"]; !strings.Contains(string(n.Metadata), "port") {
		t.Errorf("what was changed is %+v", n)
	}
}

// What is new and rests on a note that was forgotten is taken, without naming it.
func TestGroundsThatWereForgotten(t *testing.T) {
	dir, s := t.TempDir(), newService()
	s.refuse = func(i client.Item) string { // as the service does
		for _, g := range i.DerivedFrom {
			if _, there := s.held["henk"][g]; !there {
				return "rests on what is not there: " + g
			}
		}
		return ""
	}
	export := func(more string) *Plan {
		return planned(t, "hindsight", file(t, "export.json", `{"items":[`+
			`{"id":"d1","bank_id":"henk","original_text":"All of it."}`+more+`]}`))
	}
	if sum, err := sendTo(t, s, dir, "organization", export(""), false); err != nil || sum.Created != 1 {
		t.Fatalf("%+v, %v", sum, err)
	}
	clear(s.held["henk"])
	sum, err := sendTo(t, s, dir, "organization", export(
		`,{"id":"f1","bank_id":"henk","text":"A part.","fact_type":"world","document_id":"d1"}`), false)
	if err != nil || sum.Created != 1 || len(sum.Failed) != 0 || len(s.held["henk"]) != 1 {
		t.Errorf("%+v, %v, %v", sum, err, s.held)
	}
}

// A journal that was torn is believed as far as it goes; one that others can write, not.
func TestJournal(t *testing.T) {
	dir, s := t.TempDir(), newService()
	if _, err := send(t, s, dir, "testdata/mem0"); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v", names, err)
	}
	raw, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], raw[:len(raw)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if sum, err := send(t, s, dir, "testdata/mem0"); err != nil || sum.Unchanged != 5 {
			t.Errorf("torn: %+v, %v", sum, err)
		}
	}
	if s.sent != 6 {
		t.Errorf("%d sent", s.sent)
	}
	if err := os.Chmod(names[0], 0o666); err != nil {
		t.Fatal(err)
	}
	j, err := OpenJournal(dir, "organization")
	if err != nil || j.Distrusted == "" || len(j.notes) != 0 {
		t.Errorf("%+v, %v", j, err)
	}
	if _, err := OpenJournal(dir, "organization"); err == nil {
		t.Error("two imports at a time")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
