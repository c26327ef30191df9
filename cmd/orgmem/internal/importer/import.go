package importer

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"orgmem/cmd/orgmem/internal/client"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// Bounds of an import.
const (
	// batchItems is a fifth of what the interface allows: progress is seen sooner
	// and an interruption repeats less, at no measurable cost in speed.
	batchItems = 200
	// batchBytes is the encoded size at which a batch is sent; one of maxItemBytes
	// goes alone, and still fits the interface's 10 MiB.
	batchBytes   = 4 << 20
	maxItemBytes = 9 << 20
	// inFlight is how many jobs are under way. The service works them off one
	// after the other for one subject; two more keep its queue from running dry.
	inFlight = 3
	// firstPoll doubles up to lastPoll between two questions for a job.
	firstPoll = 50 * time.Millisecond
	lastPoll  = 2 * time.Second
	// maxStill is how long a job may make no progress before the import gives up.
	maxStill = 15 * time.Minute
	// saveEvery bounds what a kill -9 makes the next import send again.
	saveEvery = 5 * time.Second
	// probes is how many recorded nodes are asked for before the state is believed.
	probes = 5
)

// Service is what an import needs of the service; *client.Client has it.
type Service interface {
	IngestBatch(ctx context.Context, items []client.Item, idempotencyKey string) (string, error)
	IngestStatus(ctx context.Context, job string) (client.Job, error)
	NodeStatus(ctx context.Context, node string) (string, error)
}

// Options say what an import works with. Progress may be nil; it is called with
// a lock held, must return soon, and must not call back.
type Options struct {
	Service  Service
	State    *State
	Clock    clock.Clock
	Random   io.Reader // nil: crypto/rand
	Progress func(Progress)
	// Again sends what was taken in before, too, also what was forgotten since.
	Again bool
}

// Progress counts files whose fate is known, and bytes of files.
type Progress struct {
	Files, TotalFiles int
	Bytes, TotalBytes int64
}

func (p *Progress) add(d Progress) { p.Files, p.Bytes = p.Files+d.Files, p.Bytes+d.Bytes }

// Summary is what became of the files. A file of several documents is counted once:
// as superseded where one of them took the place of an older one, else as created
// where one is new.
type Summary struct {
	Created    int `json:"created"`
	Superseded int `json:"superseded"`
	Unchanged  int `json:"unchanged"`
	Documents  int `json:"documents"` // that were created or superseded
	// documents of a stopped import that the service has, and still processes
	Queued int `json:"queued"`
	// Forgotten documents were taken in before, and were forgotten in the service since: they
	// are left out.
	Forgotten int `json:"forgotten"`
	// Emptied says that nothing that was asked for of what earlier imports took in is there any
	// more; what did not change since is not sent to such a memory.
	Emptied bool      `json:"emptied"`
	Skipped []Skipped `json:"skipped"`
	Failed  []Skipped `json:"failed"`
}

// Import sends the files that are new or changed and waits until the service
// has taken them in. When it returns an error the summary tells how far it came,
// and a later Import with the same state goes on from there.
func Import(ctx context.Context, o Options, files []File, skipped []Skipped) (Summary, error) {
	if o.Random == nil {
		o.Random = rand.Reader
	}
	r := &run{
		Options: o, saved: o.Clock.Now(),
		summary: Summary{Skipped: slices.Clone(skipped), Failed: []Skipped{}},
		done:    Progress{TotalFiles: len(files)},
		partial: make(map[string]Progress), queued: make(map[string]int),
	}
	for _, file := range files {
		r.done.TotalBytes += file.bytes
	}
	if r.summary.Skipped == nil {
		r.summary.Skipped = []Skipped{}
	}
	if err := r.verify(ctx); err != nil {
		return r.summary, err
	}
	if err := r.resume(ctx); err != nil {
		return r.summary, err
	}
	files = slices.Clone(files)
	r.State.identify(files)
	r.before = r.State.documents()
	ctx, r.stop = context.WithCancelCause(ctx)
	defer r.stop(nil)
	batches := make(chan []entry)
	var workers sync.WaitGroup
	for range inFlight {
		workers.Go(func() {
			for batch := range batches {
				if err := r.send(ctx, batch); err != nil {
					r.stop(err) // the producer sees it and closes batches
				}
			}
		})
	}
	r.produce(ctx, files, batches)
	close(batches)
	workers.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		for _, n := range r.queued {
			r.summary.Queued += n
		}
		return r.summary, context.Cause(ctx)
	}
	return r.summary, r.State.save()
}

// taking is one file on its way, which may be in several parts.
type taking struct {
	file File

	// What follows is guarded by run.mu.
	open    int    // parts whose fate is not known, and 1 while a mailbox is read
	count   int    // documents whose fate is known
	stood   bool   // a part had not changed
	cut     bool   // it was not read to its end
	digest  digest // of all parts
	node    pb.NodeID
	taken   map[string]int
	refused int
	gone    int // documents that were forgotten in the service
}

// intake is a part of a file, or a whole one, on its way. Its documents may be in several
// batches.
type intake struct {
	*taking
	key    pb.ExternalID // under which the state knows it
	path   string        // that the state gives back as the file's; empty for a part
	digest digest
	count  int // documents

	// What follows is guarded by run.mu.
	left    int       // documents whose fate is not known
	node    pb.NodeID // of the last document that was taken
	refused int       // documents that the service did not take
	docs    map[pb.ExternalID]sent
}

// entry is one document on its way.
type entry struct {
	*intake
	item  client.Item
	bytes int // encoded
	mark  mark
	share Progress // of the file: its last document is the one that completes it
}

// id is the document's own in the service.
func (e entry) id() pb.ExternalID { return pb.ExternalID(e.item.ExternalID) }

type run struct {
	Options
	stop context.CancelCauseFunc
	// before are the documents of earlier imports. Nothing writes it once it is made.
	before map[pb.ExternalID]sent

	mu      sync.Mutex // guards State and what follows
	summary Summary
	done    Progress            // what is known
	partial map[string]Progress // by job under way: what the service has worked off of it
	queued  map[string]int      // by job under way: its documents
	saved   time.Time
}

// verify asks for some of the nodes that the state names, to tell of a memory that knows none
// of them. What is not there was forgotten or erased, or the service was set back to a backup,
// which nothing tells apart: so it does not come back unless it is asked for. A service that
// was set up anew has organizations with other ids, and so another state.
func (r *run) verify(ctx context.Context) error {
	if r.Again {
		return nil
	}
	ids := make([]pb.ExternalID, 0, len(r.State.body.Files))
	for id, t := range r.State.body.Files {
		if t.Node != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	for i := range min(probes, len(ids)) {
		node := r.State.body.Files[ids[i*len(ids)/min(probes, len(ids))]].Node
		if there, err := r.there(ctx, node); err != nil || there {
			return err
		}
	}
	r.summary.Emptied = true
	return nil
}

// there reports whether a node stands, or was superseded; else it was forgotten.
func (r *run) there(ctx context.Context, node pb.NodeID) (bool, error) {
	status, err := r.Service.NodeStatus(ctx, string(node))
	if client.IsCode(err, pb.CodeNodeNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("verify what was imported before: %w", err)
	}
	return status != pb.StatusTombstoned, nil
}

// wanted reports whether a document is to be sent. One that says what it said when it was
// taken in is not, nor one that was forgotten since, whatever it says now: these are settled
// here.
func (r *run) wanted(ctx context.Context, e entry) (bool, error) {
	was, known := r.before[e.id()]
	if !known || r.Again {
		return true, nil
	}
	if was.Mark == e.mark {
		as := client.JobItem{NodeID: string(was.Node), Status: pb.ItemUnchanged}
		r.settle(e.share, func(s *Summary) { r.decided(s, e, as, "") })
		return false, nil
	}
	if there, err := r.there(ctx, was.Node); err != nil || there {
		return there, err
	}
	r.settle(e.share, func(s *Summary) {
		s.Forgotten++
		e.gone++
		e.docs[e.id()] = was
		r.completed(s, e.intake)
	})
	return false, nil
}

// resume waits for the jobs whose end an earlier import did not see.
func (r *run) resume(ctx context.Context) error {
	for job, files := range r.State.body.Jobs {
		done, err := r.wait(ctx, job, func(int) {}) // its files are counted when they are met
		if client.IsCode(err, pb.CodeJobNotFound) {
			delete(r.State.body.Jobs, job)
			continue
		}
		if err != nil {
			return err
		}
		outcome := outcomes(done)
		for id, s := range files {
			var node pb.NodeID
			docs := make(map[pb.ExternalID]sent, s.Count)
			whole := s.Count > 0
			for i := s.First; i < s.First+s.Count; i++ {
				item, ok := outcome[i]
				whole, node = whole && ok && item.Status != pb.ItemFailed, pb.NodeID(item.NodeID)
				docs[pb.ExternalID(item.ExternalID)] = sent{Node: node}
			}
			if whole {
				r.State.body.Files[id] = taken{s.Digest, node, s.Path, several(id, docs)}
			}
		}
		delete(r.State.body.Jobs, job)
	}
	return nil
}

// produce reads the files and hands out batches until ctx ends.
func (r *run) produce(ctx context.Context, files []File, batches chan<- []entry) {
	var (
		batch []entry
		bytes int
	)
	flush := func() {
		if len(batch) == 0 {
			return
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
		}
		batch, bytes = nil, 0
	}
	give := func(entries []entry) {
		for _, e := range entries {
			if send, err := r.wanted(ctx, e); err != nil {
				r.stop(err)
				return
			} else if !send {
				continue
			}
			if len(batch) == batchItems || bytes+e.bytes > batchBytes {
				flush()
			}
			batch, bytes = append(batch, e), bytes+e.bytes
		}
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return
		}
		if file.isMailbox() {
			r.prepareMailbox(ctx, file, give)
			continue
		}
		give(r.prepare(ctx, file))
	}
	flush()
}

// prepare reads a file and returns what of it has to be sent.
func (r *run) prepare(ctx context.Context, file File) []entry {
	whole := Progress{Files: 1, Bytes: file.bytes}
	raw, sum, reason := file.bytesOf()
	if reason != "" {
		r.settle(whole, func(s *Summary) { s.Skipped = append(s.Skipped, Skipped{Path: file.Path, Reason: reason}) })
		return nil
	}
	if r.stands(file, sum) {
		r.settle(whole, func(s *Summary) { s.Unchanged++ })
		return nil
	}
	all := &taking{file: file, taken: make(map[string]int)}
	entries := r.prepareBytes(ctx, &intake{taking: all, key: file.ID, path: file.whole, digest: sum}, file, raw, 0)
	if n := len(entries); n > 0 {
		entries[n-1].share.Files = 1
	} else if ctx.Err() == nil {
		r.settle(Progress{Files: 1}, func(*Summary) {})
	}
	return entries
}

// stands reports whether a file is as it was when it was taken in.
func (r *run) stands(file File, sum digest) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	was, known := r.State.body.Files[file.ID]
	if known = known && was.Digest == sum && !r.Again; known {
		was.Path = file.whole // it may have been moved
		r.State.body.Files[file.ID] = was
	}
	return known
}

// prepareBytes reads a part of a file, or a whole one, which is as long as file says, and
// returns what of it has to be sent. mails stand before it.
func (r *run) prepareBytes(ctx context.Context, in *intake, file File, raw []byte, mails int) []entry {
	items, refused, err := file.documents(raw, mails, ctx.Err)
	if err != nil {
		return nil // the import has ended
	}
	none := Progress{}
	if len(items) == 0 {
		none.Bytes = file.bytes
	}
	in.count, in.left, in.docs = len(items), len(items), make(map[pb.ExternalID]sent, len(items))
	r.settle(none, func(s *Summary) {
		s.Skipped = append(s.Skipped, refused...)
		if in.count > 0 {
			in.open++
		}
	})
	entries := make([]entry, len(items))
	rest := file.bytes
	for i, item := range items {
		part := Progress{Bytes: file.bytes / int64(len(items))}
		if i == len(items)-1 {
			part.Bytes = rest
		}
		rest -= part.Bytes
		entries[i] = entry{in, item.Item, item.encoded, item.mark, part}
	}
	return entries
}

// send queues a batch, waits for its job and records the outcome. A batch that
// the service refuses for its content is halved until the file at fault is
// alone; the error that is returned ends the import.
func (r *run) send(ctx context.Context, batch []entry) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	items := make([]client.Item, len(batch))
	files := make(pending, len(batch))
	for i, e := range batch {
		items[i] = e.item
		s, ok := files[e.key]
		if !ok {
			s = share{Digest: e.digest, First: i, Path: e.path}
		}
		s.Count++
		if files[e.key] = s; i == len(batch)-1 || batch[i+1].intake != e.intake {
			if s.Count < e.count {
				delete(files, e.key)
			}
		}
	}
	key, err := r.newKey()
	if err != nil {
		return err
	}
	job, err := r.Service.IngestBatch(ctx, items, key)
	if p, refused := refusal(err); refused {
		if len(batch) == 1 {
			r.settle(batch[0].share, func(s *Summary) { r.decided(s, batch[0], client.JobItem{}, p.Error()) })
			return nil
		}
		half := len(batch) / 2
		if err := r.send(ctx, batch[:half]); err != nil {
			return err
		}
		return r.send(ctx, batch[half:])
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.State.body.Jobs[job], r.queued[job] = files, len(batch)
	r.mu.Unlock()
	done, err := r.wait(ctx, job, func(n int) { r.underway(job, batch, n) })
	if err != nil {
		return err
	}
	return r.record(job, batch, done)
}

// newKey makes a fresh idempotency key for each intent. A key made from the
// content would replay an old job after its document was forgotten.
func (r *run) newKey() (string, error) { return newKey(r.Random) }

func newKey(random io.Reader) (string, error) {
	var raw [16]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("import: random: %w", err)
	}
	return "import-" + hex.EncodeToString(raw[:]), nil
}

// wait asks for a job until it has finished, and notes how far it has come.
func (r *run) wait(ctx context.Context, job string, note func(done int)) (client.Job, error) {
	return waitFor(ctx, r.Options, job, note)
}

// waitFor asks for a job until it has finished, and notes how far it has come.
func waitFor(ctx context.Context, o Options, job string, note func(done int)) (client.Job, error) {
	pause, seen, since := firstPoll, -1, o.Clock.Now()
	for {
		j, err := o.Service.IngestStatus(ctx, job)
		if err != nil || j.Finished() {
			return j, err
		}
		now := o.Clock.Now()
		if j.Progress.Done != seen {
			seen, since = j.Progress.Done, now
			note(seen)
		}
		if now.Sub(since) > maxStill {
			return j, fmt.Errorf("job %s has made no progress for %v; run the import again to go on waiting", job, maxStill)
		}
		if err := clock.Wait(ctx, o.Clock, pause); err != nil {
			return j, err
		}
		pause = min(2*pause, lastPoll)
	}
}

// outcomes are what became of a job's items, by their place in it.
func outcomes(job client.Job) map[int]client.JobItem {
	by := make(map[int]client.JobItem)
	if job.Result != nil {
		for _, item := range job.Result.Items {
			by[item.Index] = item
		}
	}
	return by
}

// record takes over what became of a batch.
func (r *run) record(id string, batch []entry, job client.Job) error {
	outcome := outcomes(job)
	fallback := endOf(job)
	var save error
	var all Progress
	for _, e := range batch {
		all.add(e.share)
	}
	r.settle(all, func(s *Summary) {
		delete(r.State.body.Jobs, id)
		delete(r.partial, id)
		delete(r.queued, id)
		for i, e := range batch {
			item, ok := outcome[i]
			reason := ""
			switch {
			case !ok:
				reason = fallback
			case item.Status == pb.ItemFailed:
				reason = itemError(item.Error)
			}
			r.decided(s, e, item, reason)
		}
		if now := r.Clock.Now(); now.Sub(r.saved) >= saveEvery {
			r.saved = now
			save = r.State.save()
		}
	})
	return save
}

// decided takes over what became of one document: the service's item, or the reason
// why it did not take it. mu is held.
func (r *run) decided(s *Summary, e entry, item client.JobItem, reason string) {
	in := e.intake
	if reason != "" {
		part := ""
		if in.count > 1 {
			part = e.item.ExternalID
		}
		s.Failed = append(s.Failed, Skipped{in.file.Path, part, reason})
		in.refused++
	} else {
		in.taken[item.Status]++
		in.node = pb.NodeID(item.NodeID)
		in.docs[e.id()] = sent{in.node, e.mark}
	}
	r.completed(s, in)
}

// completed takes over that the fate of one document more is known. mu is held.
func (r *run) completed(s *Summary, in *intake) {
	if in.left--; in.left > 0 {
		return
	}
	all := in.taking
	all.count, all.refused, all.node = all.count+in.count, all.refused+in.refused, cmp.Or(in.node, all.node)
	now := taken{in.digest, in.node, in.path, several(in.key, in.docs)}
	if in.refused > 0 {
		now.Digest = "" // it is sent again the next time, but for what was forgotten until then
	}
	if in.node != "" {
		r.State.body.Files[in.key] = now
	}
	r.partEnded(s, all)
}

// several are the documents of a file as the state keeps them: of one document that has the
// file's own id the file says all.
func several(key pb.ExternalID, docs map[pb.ExternalID]sent) map[pb.ExternalID]sent {
	if _, own := docs[key]; own && len(docs) == 1 {
		return nil
	}
	return docs
}

// partEnded counts a file once the fate of all its parts is known. mu is held.
func (r *run) partEnded(s *Summary, all *taking) {
	if all.open--; all.open > 0 {
		return
	}
	created, unchanged := all.taken[pb.ItemCreated], all.taken[pb.ItemUnchanged]
	superseded := all.count - all.refused - all.gone - created - unchanged // and those that are live again
	s.Documents += created + superseded
	switch {
	case superseded > 0:
		s.Superseded++
	case created > 0:
		s.Created++
	case all.refused == 0 && (all.count > all.gone || all.stood):
		s.Unchanged++
	}
	if all.digest == "" {
		return // a file that is not in parts
	}
	r.done.Files++
	if all.refused == 0 && !all.cut && all.node != "" {
		r.State.body.Files[all.file.ID] = taken{Digest: all.digest, Node: all.node, Path: all.file.whole}
	}
}

// itemError reads an item's error, a text or an object with a detail.
func itemError(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return text
	}
	var object struct{ Code, Detail string }
	if json.Unmarshal(raw, &object) == nil && object.Detail != "" {
		return object.Detail
	}
	return "failed"
}

// settle changes the summary and reports what more is done.
func (r *run) settle(more Progress, change func(*Summary)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change(&r.summary)
	r.done.add(more)
	r.report()
}

// underway notes how far a job has come with its batch.
func (r *run) underway(job string, batch []entry, done int) {
	var worked Progress
	for _, e := range batch[:min(done, len(batch))] {
		worked.add(e.share)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.partial[job] = worked
	r.report()
}

// report tells the sum of what is done; mu is held.
func (r *run) report() {
	if r.Progress == nil {
		return
	}
	done := r.done
	for _, worked := range r.partial {
		done.add(worked)
	}
	r.Progress(done)
}
