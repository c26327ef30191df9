package export

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/commit"
	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/document"
	"orgmem/brain/extract"
	"orgmem/brain/text"
	pb "orgmem/proto"
	"orgmem/storage"
)

// An exported document comes back in parts, through the operator interface: each
// part is of one memory and holds some records, as they stand in the document. It
// goes the way of edits, record by record, so it competes with nothing and can
// be sent again: what is there already stays as it is.

const (
	// MaxRestoreRecords bounds the records of one part. Each node is a commit of its
	// own, and embedded: a part should take seconds.
	MaxRestoreRecords = 500
	// maxRestoreAtOnce bounds the nodes of a part that are embedded together.
	maxRestoreAtOnce = 16
)

// Restored answers a part: NodeIDs are the ids that the part's nodes have here,
// in its order. Unread are the nodes that texts of the part name which are forgotten
// here: when all edges are there, they are sent back, to be counted anew (recount).
type Restored struct {
	PartitionID string   `json:"partitionId"`
	NodeIDs     []string `json:"nodeIds"`
	Created     int      `json:"created"`
	Unchanged   int      `json:"unchanged"`
	Unread      []string `json:"unread,omitempty"`
}

// Restore is Operator.Restore.
func Restore(ctx context.Context, s *tenant.System, org pb.OrgID, raw []byte) (Restored, error) {
	in, err := document.ReadPart(raw, MaxRestoreRecords)
	if err != nil {
		return Restored{}, fmt.Errorf("%w: %w", tenant.ErrInvalid, err)
	}
	if err := CheckPart(in); err != nil {
		return Restored{}, err
	}
	part, err := restoreInto(ctx, s, org, in)
	if err != nil {
		return Restored{}, err
	}
	out := Restored{PartitionID: part.ID.String(), NodeIDs: make([]string, 0, len(in.Nodes))}
	r := &restorer{sys: s, ctx: ctx, org: org, part: part, from: in.Partition.ID, out: &out}
	var at *tenant.View
	err = r.edits([]func(*graph.Tx) (*pb.Reply, error){func(f *graph.Tx) (*pb.Reply, error) {
		at = f.Org
		return r.head(f, in)
	}})
	if in.Partition.Settings != nil && at != nil {
		at.Residents.Drop(part.ID) // the next reader of the settings gets the new ones
	}
	for nodes := range slices.Chunk(in.Nodes, maxRestoreAtOnce) {
		if err != nil {
			break
		}
		var runs []func(*graph.Tx) (*pb.Reply, error)
		forgotten := make([]bool, len(nodes)) // here
		for i := range nodes {
			id := r.idOf(&nodes[i])
			out.NodeIDs = append(out.NodeIDs, string(id))
			runs = append(runs, func(f *graph.Tx) (reply *pb.Reply, err error) {
				reply, forgotten[i], err = r.node(f, id, &nodes[i])
				return reply, err
			})
		}
		if err = r.edits(runs); err != nil {
			break
		}
		for i := range nodes {
			if forgotten[i] {
				out.Unread = append(out.Unread, r.namedIn(&nodes[i])...)
			}
		}
	}
	if err == nil && len(in.Edges)+len(in.External)+len(in.Links)+len(in.Unread)+len(in.Names) > 0 {
		err = r.edits([]func(*graph.Tx) (*pb.Reply, error){func(f *graph.Tx) (*pb.Reply, error) {
			return r.relations(f, in)
		}})
	}
	if err != nil {
		return Restored{}, fmt.Errorf("restore: %w", err)
	}
	slices.Sort(out.Unread)
	out.Unread = slices.Compact(out.Unread)
	return out, nil
}

// restoreInto finds the memory that a part goes into, or provisions its subject.
func restoreInto(ctx context.Context, s *tenant.System, org pb.OrgID,
	in *document.Part,
) (part *partition.Ref, err error) {
	err = s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		switch in.Partition.Kind {
		case pb.PartitionMember:
			var user pb.UserID
			if user, err = restoreMember(o, in); err == nil {
				part, err = o.Member(user)
			}
			if err == nil && part == nil {
				err = tenant.ErrUserNotFound
			}
			done(err)
		case pb.PartitionSubject:
			name := pb.SubjectKey(in.Partition.Subject)
			if !tenant.ValidSubject(string(name)) {
				done(fmt.Errorf("%w: a subject's id must be 1 to 256 bytes of UTF-8 without control characters", tenant.ErrInvalid))
				return
			}
			o.Exclusive(tenant.SubjectLock(string(name)), func(release func()) {
				finish := func(err error) { release(); done(err) }
				if part, err = o.LookupSubject(name); err != nil || part != nil {
					finish(err)
					return
				}
				id, err := o.System.NewUUID()
				if err == nil {
					part, err = o.NewPartition(pb.PartitionID(id), pb.PartitionSubject, name)
				}
				if err != nil {
					finish(err)
					return
				}
				ch := commit.New(o.Store)
				tenant.PutPartition(ch.Batch, o.Space, part)
				ch.Audit(o.ByOperator(pb.ActionSubjectProvision, part.ID.String()))
				o.Committer.SubmitChange(ch, finish)
			})
		default:
			done(fmt.Errorf("%w: a memory of kind %q cannot be restored", tenant.ErrInvalid, in.Partition.Kind))
		}
	})
	return part, err
}

// restoreMember says whose memory a member's goes into: the one that is named, or
// the same person, by id or by e-mail address.
func restoreMember(o *tenant.Org, in *document.Part) (pb.UserID, error) {
	if in.User != "" {
		user, err := pb.ParseUserID(in.User)
		if err != nil {
			return user, tenant.ErrUserNotFound
		}
		return user, nil
	}
	members, err := o.ListMembers()
	if err != nil {
		return pb.UserID{}, err
	}
	for _, same := range []func(tenant.MemberInfo) bool{
		func(m tenant.MemberInfo) bool { return m.User.String() == in.Partition.ID },
		func(m tenant.MemberInfo) bool { return in.Partition.Email != "" && m.Email == in.Partition.Email },
	} {
		if i := slices.IndexFunc(members, same); i >= 0 {
			return members[i].User, nil
		}
	}
	return pb.UserID{},
		fmt.Errorf("%w: nobody here is the member %s (%s) of the export; say into whose memory theirs goes",
			tenant.ErrInvalid, in.Partition.ID, in.Partition.Email)
}

// restorer carries out one part.
type restorer struct {
	sys  *tenant.System
	ctx  context.Context // the request's: the restorer lives as long
	org  pb.OrgID
	part *partition.Ref
	from string // the memory's id in the document
	out  *Restored
}

// edits has the memory's worker carry out edits, and waits for them.
func (r *restorer) edits(runs []func(*graph.Tx) (*pb.Reply, error)) error {
	calls := make([]*tenant.Call, len(runs))
	err := r.sys.VisitOrg(r.ctx, r.org, func(o *tenant.Org, done func(error)) {
		if now, err := o.LoadPartition(r.part.ID); err != nil || now == nil {
			if err == nil {
				err = fmt.Errorf("%w: the memory is being erased", tenant.ErrConflict)
			}
			done(err)
			return
		}
		for i, run := range runs {
			c := tenant.NewCall(&pb.Envelope{})
			c.Org, c.Part, c.Payload = &o.View, r.part, &graph.Edit{Run: run}
			calls[i] = c
			o.Forward(c, r.part)
		}
		done(nil)
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, c := range calls {
		select {
		case reply := <-c.Done:
			switch {
			case reply.GetProblem() != nil:
				errs = append(errs, fmt.Errorf("%w: %s", errRestore, reply.GetProblem().GetDetail()))
			case reply.GetStatus() == statusMade:
				r.out.Created++
			case reply.GetStatus() == statusThere:
				r.out.Unchanged++
			}
		case <-r.ctx.Done():
			return r.ctx.Err()
		}
	}
	return errors.Join(errs...)
}

// statusMade and statusThere are how an edit says what became of a node.
const (
	statusMade  = 201
	statusThere = 200
)

// errRestore wraps what a worker answers to a record.
var errRestore = errors.New("a record could not be restored")

// idOf is the id that a node of a document has here: what its content has in this
// memory, or its old id with this memory's name in it.
func (r *restorer) idOf(n *document.Node) pb.NodeID {
	if n.OfContent && n.Content != nil {
		return r.part.NodeFor(*n.Content)
	}
	return pb.NodeID(strings.Replace(n.ID, r.from, r.part.ID.String(), 1))
}

// head writes a memory's settings and domains, where it has none. The domains are
// there before the nodes, so that each node that comes is counted (Tx.Finish) and
// a cycle that runs meanwhile uses them. What they say comes with the nodes
// that it was read out of (nameDomain): one of them may have been forgotten here.
func (r *restorer) head(f *graph.Tx, in *document.Part) (*pb.Reply, error) {
	f.Batch.Audit(f.Call.AuditOf(pb.ActionExportImport, r.part.ID.String()))
	if s := in.Partition.Settings; s != nil {
		key := r.part.Space.Key(storage.TableSettings)
		_, found, err := f.Store.GetRaw(key)
		if err != nil {
			return nil, err
		}
		if !found {
			f.Batch.Put(key, &pb.Settings{QualityMode: s.QualityMode, LearnModeDefault: s.LearnModeDefault, UpdatedMs: f.NowMs})
		}
	}
	for _, d := range in.Domains {
		id, err := pb.ParseDomainID(d.ID)
		if err != nil {
			return nil, err
		}
		if found, err := f.Store.Get(r.part.Space.Key(storage.TableDomain, storage.ID16(id)), &pb.Domain{}); err != nil ||
			found {
			if err != nil {
				return nil, err
			}
			continue
		}
		graph.PutDomain(f.Batch.Batch, r.part.Space, &pb.Domain{
			Id: id[:], Edges: d.EdgeCount, Cohesion: d.Cohesion,
			CreatedMs: int64(d.CreatedAt), UpdatedMs: int64(d.UpdatedAt),
		})
	}
	return &pb.Reply{}, nil
}

// nameDomain gives a domain that is there its words and the nodes that it shows, as
// they were, unless something has named it since: a cycle, or this import before it
// was repeated. Where a node that it was named by has been forgotten here, or must not be
// learned from, its words stay away.
func nameDomain(f *graph.Tx, in *document.Domain) error {
	id, err := pb.ParseDomainID(in.ID)
	if err != nil {
		return err
	}
	before := &pb.Domain{}
	found, err := f.Store.Get(f.Part.Space.Key(storage.TableDomain, storage.ID16(id)), before)
	if err != nil || !found || before.GetLabel() != "" ||
		len(before.GetKeywords())+len(before.GetTopNodes())+len(before.GetNamedBy()) > 0 {
		return err
	}
	after := proto.CloneOf(before)
	after.Label, after.Keywords, after.Refined, after.UpdatedMs = in.Label, in.Keywords, in.Refined, int64(in.UpdatedAt)
	after.Nameless = in.Label == ""
	names := in.NamedBy
	if len(names) == 0 { // a document of before that was in it
		names = in.TopNodes
	}
	for _, name := range names {
		n, err := f.Node(pb.NodeID(name))
		if err != nil {
			return err
		}
		if n == nil || n.GetStatus() == pb.StatusTombstoned || n.GetErased() || n.GetUnlearned() {
			after.Label, after.Keywords, after.Refined = "", nil, false
			continue
		}
		after.NamedBy = append(after.NamedBy, name)
		if slices.Contains(in.TopNodes, name) {
			after.TopNodes = append(after.TopNodes, name)
		}
	}
	f.Derived.PutDomain(before, after)
	return nil
}

// node writes one node with what belongs to it. One that is there already stays;
// forgotten says of one that it is a tombstone, and was none in the document.
func (r *restorer) node(f *graph.Tx, id pb.NodeID, in *document.Node) (reply *pb.Reply, forgotten bool, err error) {
	before, err := f.Node(id)
	if err != nil || before != nil {
		return &pb.Reply{Status: statusThere},
			before.GetStatus() == pb.StatusTombstoned && in.Status != pb.StatusTombstoned, err
	}
	n := in.Stored(id)
	r.derived(f, id, in)
	for i := len(in.History) - 1; i >= 0; i-- {
		f.History.Put(id, in.History[i].Stored(f.Part.Subject))
	}
	switch {
	case in.Status == pb.StatusTombstoned:
		if n.RestorableMs != 0 {
			f.Batch.PutRaw(f.Tombstone(n), nil)
			f.Batch.PutRaw(f.Org.Space.Key(storage.TableTombstoneDue, storage.U64(uint64(n.RestorableMs)),
				storage.ID16(f.Part.ID)), nil)
		}
		f.PutNodeRecord(n)
	case in.Content == nil:
		f.PutNodeRecord(n)
		f.State.Nodes++
	case in.Derived != nil && !in.Edited: // the words of a text, which is found by them
		f.Nodes[id] = n
		f.PutContent(n, *in.Content)
		f.PutNodeRecord(n)
		f.State.Nodes++
	default:
		item := &pb.IngestItem{Content: *in.Content}
		if text.Title("", *in.Content) != in.Title { // else nobody has given it one
			item.Title = in.Title
		}
		it, err := f.Prepared(id, item)
		if err != nil {
			return nil, false, err
		}
		f.Nodes[id] = n
		if err := f.UpdateContentKey(n, "", *in.Content); err != nil {
			return nil, false, err
		}
		n.Edited = in.Edited // a content that came back after its node was edited has another id, too
		f.PutContent(n, *in.Content)
		f.State.Nodes++
		if err := f.PutChunks(it, n); err != nil {
			return nil, false, err
		}
		if in.Status == pb.StatusSuperseded {
			f.Index.Hide(id)
		}
		f.WaiveCharge() // what the operator brings back is nobody's use
	}
	n.UpdatedMs, f.IsRestore = int64(in.UpdatedAt), true
	return &pb.Reply{Status: statusMade}, false, nil
}

// derived writes what a node was read out of, and what was read out of it: then its
// text is not read again. Nodes that were read out of texts keep their ids but for
// the memory's name.
func (r *restorer) derived(f *graph.Tx, id pb.NodeID, in *document.Node) {
	if d := in.Derived; d != nil {
		rec := d.Stored(id)
		names := []string{in.Title}
		for _, x := range d.Forms {
			names = append(names, x.Name)
		}
		f.Entities.Put(rec)
		if in.Kind == graph.KindEntity {
			for _, name := range names {
				f.Entities.PutKeys(id, name, extract.Type(d.Type))
			}
		}
	}
	f.Traces.Known = in.Trace != nil
	if in.Trace == nil {
		return
	}
	f.Traces.Put(id, in.Trace.Stored(r.from, r.part.ID.String()))
}

// relations writes edges, external ids, successions and the names of domains between
// nodes that are there. Their ids are those of this memory.
func (r *restorer) relations(f *graph.Tx, in *document.Part) (*pb.Reply, error) {
	for _, link := range in.Links {
		if err := restoreLink(f, link); err != nil {
			return nil, err
		}
	}
	for _, id := range in.Unread {
		if f.IsFull() {
			return nil, graph.ErrUnfinished
		}
		if err := recount(f, pb.NodeID(id)); err != nil {
			return nil, err
		}
	}
	for i := range in.Names {
		if err := nameDomain(f, &in.Names[i]); err != nil {
			return nil, err
		}
	}
	for i := range in.Edges {
		if err := restoreEdgeRecord(f, &in.Edges[i]); err != nil {
			return nil, err
		}
	}
	for _, x := range in.External {
		ext := pb.ExternalID(x.ExternalID)
		before, err := f.External.Resolve(ext)
		if err != nil {
			return nil, err
		}
		n, err := f.Node(pb.NodeID(x.NodeID))
		if err != nil {
			return nil, err
		}
		if before == "" && n != nil && n.GetStatus() != pb.StatusTombstoned {
			f.External.Put(ext, pb.NodeID(x.NodeID))
		}
	}
	return &pb.Reply{}, nil
}

// restoreLink writes what a node knows of another one.
func restoreLink(f *graph.Tx, in document.Link) error {
	n, err := f.Node(pb.NodeID(in.NodeID))
	if err != nil || n == nil {
		return err
	}
	superseded := n.GetStatus() == pb.StatusSuperseded ||
		n.GetStatus() == pb.StatusTombstoned && n.GetWas() == pb.StatusSuperseded
	if in.SupersededBy != "" && superseded && n.GetSupersededBy() == "" {
		n.SupersededBy = in.SupersededBy
		f.PutNodeRecord(n)
	}
	if err := renameInHistory(f, pb.NodeID(in.NodeID), in.History); err != nil {
		return err
	}
	if in.Follows == "" {
		return nil
	}
	trace, err := f.Traces.Stored(pb.NodeID(in.NodeID))
	if err == nil && trace != nil && trace.GetFollows() == "" {
		trace.Follows = in.Follows
		f.Traces.Put(pb.NodeID(in.NodeID), trace)
	}
	return err
}

// renameInHistory gives the nodes that a node's history names the ids that they have
// here.
func renameInHistory(f *graph.Tx, id pb.NodeID, ids map[string]string) error {
	if len(ids) == 0 {
		return nil
	}
	for rec, err := range storage.ScanRecords(f.Store, f.Part.Space.Prefix(storage.TableHistory, storage.Str(id)),
		storage.ScanOptions{}, func() *pb.Audit { return &pb.Audit{} }) {
		if err != nil {
			return err
		}
		renamed := false
		for _, change := range rec.Value.GetChanges() {
			if !graph.NamesNode(change.GetField()) {
				continue
			}
			for _, value := range []*string{change.Before, change.After} {
				if value != nil && ids[*value] != "" {
					*value, renamed = ids[*value], true
				}
			}
		}
		if renamed {
			f.Batch.Put(rec.Key, rec.Value)
		}
	}
	return nil
}

// restoreEdgeRecord writes an edge between nodes that are there; one that is there already
// stays.
func restoreEdgeRecord(f *graph.Tx, in *document.Edge) error {
	e := in.Stored()
	before, err := f.Edge(pb.EdgeID(in.ID))
	if err != nil || before != nil {
		return err
	}
	if before, err = f.EdgeByIdentity(graph.EdgeIdentityOf(e)); err != nil || before != nil {
		return err
	}
	var ends []*pb.Node
	for _, id := range []string{e.GetSource(), e.GetTarget()} {
		n, err := f.Node(pb.NodeID(id))
		if err != nil || n == nil {
			return err // its node was removed long ago: the edge says nothing
		}
		ends = append(ends, n)
	}
	if baseless, err := buryEdge(f, e, ends...); err != nil || baseless {
		return err
	}
	if err := f.PutCurrent(nil, e); err != nil || e.GetStatus() == pb.StatusTombstoned {
		return err
	}
	return f.PutGroundsOf(e)
}
