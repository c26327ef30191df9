package actors

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "orgmem/proto"
	"orgmem/storage"
)

// What the scripts of script_test.go show: the records of a store as text, what differs between
// two readings of it, and names in place of ids that chance has made.

// recordForm says how the records of a table are shown.
type recordForm struct {
	name string
	// parts are the kinds of the key's parts: job, user and the like are ids of 16 bytes, ms a
	// time, seq a number; a minus is what runs downwards.
	parts string
	value func() proto.Message // nil: the value is raw, and is not shown
	order int                  // what has one is named first, in this order: it says what came first
}

func of[M any, P interface {
	*M
	proto.Message
}]() proto.Message {
	return P(new(M))
}

// recordForms are the tables of an organization's store that scripts meet.
var recordForms = map[storage.Table]recordForm{
	storage.TableOrg:               {"org", "", of[pb.Organization], 1},
	storage.TableHandedOver:        {"handed_over", "", of[pb.HandedOver], 0},
	storage.TableKey:               {"key", "hash", of[pb.Key], 0},
	storage.TableKeyByUser:         {"key_by_user", "user ms hash", nil, 0},
	storage.TableKeyUse:            {"key_use", "hash", of[pb.Key], 0},
	storage.TableMember:            {"member", "user", of[pb.Member], 2},
	storage.TableMemberByEmail:     {"member_by_email", "str", nil, 0},
	storage.TablePartition:         {"partition", "partition", of[pb.Partition], 3},
	storage.TableSubject:           {"subject", "str", nil, 0},
	storage.TableJob:               {"job", "job", of[pb.Job], 0},
	storage.TableJobByTime:         {"job_by_time", "-ms job", nil, 0},
	storage.TableJobOpen:           {"job_open", "job", nil, 0},
	storage.TableTombstoneDue:      {"tombstone_due", "ms partition", nil, 0},
	storage.TableCognitionDue:      {"cognition_due", "partition", nil, 0},
	storage.TableIdempotency:       {"idempotency", "hash", of[pb.Idempotency], 0},
	storage.TableIdempotencyByTime: {"idempotency_by_time", "ms hash", nil, 0},
	storage.TableUsage:             {"usage", "ms str hash partition", of[pb.Usage], 0},
	storage.TableAudit:             {"audit", "seq", of[pb.Audit], 6},
	storage.TableAuditByTarget:     {"audit_by_target", "str -seq", nil, 0},
	storage.TableOutbox:            {"event", "seq", of[pb.OutboxEvent], 7},
	storage.TableExport:            {"export", "job", of[pb.Export], 0},
	storage.TableExportPiece:       {"export_piece", "job n", nil, 0},
	storage.TableExportByTime:      {"export_by_time", "-ms job", nil, 0},
	storage.TableOrgCounter:        {"org_counter", "str", nil, 0},

	storage.TableState:           {"state", "", of[pb.PartitionState], 0},
	storage.TableNode:            {"node", "str", of[pb.Node], 0},
	storage.TableNodeByTime:      {"node_by_time", "str str -ms str", nil, 0},
	storage.TableContent:         {"content", "str", of[pb.Content], 0},
	storage.TableHistory:         {"history", "str -seq", of[pb.Audit], 0},
	storage.TableContentHash:     {"content_hash", "hash", nil, 0},
	storage.TableNodeByDomain:    {"node_by_domain", "str str str -ms str", nil, 0},
	storage.TableTombstone:       {"tombstone", "ms str", nil, 0},
	storage.TableChunk:           {"chunk", "seq", of[pb.Chunk], 5},
	storage.TableVector:          {"vector", "str seq", nil, 0},
	storage.TableExternalID:      {"external_id", "str", of[pb.ExternalRef], 0},
	storage.TableEdge:            {"edge", "edge", of[pb.Edge], 0},
	storage.TableEdgeBySource:    {"edge_by_source", "str str -ms edge", nil, 0},
	storage.TableEdgeByTarget:    {"edge_by_target", "str str -ms edge", nil, 0},
	storage.TableEdgeOf:          {"edge_of", "str str str str", nil, 0},
	storage.TableEdgeByTime:      {"edge_by_time", "str -ms edge", nil, 0},
	storage.TableEdgeByType:      {"edge_by_type", "str str -ms edge", nil, 0},
	storage.TableDomain:          {"domain", "domain", of[pb.Domain], 0},
	storage.TableDomainByTime:    {"domain_by_time", "-ms domain", nil, 0},
	storage.TableContradiction:   {"contradiction", "-ms derived", of[pb.Contradiction], 0},
	storage.TableProposal:        {"proposal", "derived", of[pb.Proposal], 0},
	storage.TableProposalByTime:  {"proposal_by_time", "-ms derived", nil, 0},
	storage.TableProposalByPair:  {"proposal_by_pair", "str str", nil, 0},
	storage.TableInsight:         {"insight", "-ms derived", of[pb.Insight], 0},
	storage.TableMoment:          {"moment", "-at derived", of[pb.Moment], 0},
	storage.TableRecurrence:      {"recurrence", "-at derived", of[pb.Recurrence], 0},
	storage.TableView:            {"view", "str", nil, 0},
	storage.TableDerivedByNode:   {"derived_by_node", "str derived", nil, 0},
	storage.TableEntity:          {"entity", "str", of[pb.Entity], 8},
	storage.TableEntityKey:       {"entity_key", "str str", nil, 0},
	storage.TableTrace:           {"trace", "str", of[pb.Trace], 0},
	storage.TableCognition:       {"cognition", "", of[pb.Cognition], 0},
	storage.TableQueue:           {"queue", "seq", of[pb.QueueEntry], 3},
	storage.TableJobItem:         {"job_item", "job n", of[pb.JobItem], 4},
	storage.TableSegment:         {"segment", "seq", of[pb.Segment], 0},
	storage.TableSegmentPiece:    {"segment_piece", "seq n", nil, 0},
	storage.TableSegmentLiveness: {"segment_liveness", "seq", nil, 0},
	storage.TableUnsealed:        {"unsealed", "seq", nil, 0},
}

// hiddenFields say nothing that a reader could check: they are made of chance or of a secret, or
// repeat what the key says.
var hiddenFields = map[protoreflect.FullName]bool{
	"orgmem.Organization.secret": true, "orgmem.Organization.id": true, "orgmem.Partition.secret": true,
	"orgmem.Partition.id": true, "orgmem.Key.hash": true, "orgmem.Member.user": true, "orgmem.Job.id": true,
	"orgmem.Export.id": true, "orgmem.Export.sha256": true, "orgmem.Export.bytes": true,
	"orgmem.Node.id": true, "orgmem.Node.facts": true, "orgmem.Chunk.seq": true, "orgmem.Edge.id": true,
	"orgmem.OutboxEvent.id": true, "orgmem.Segment.id": true, "orgmem.Segment.bytes": true,
	"orgmem.Idempotency.body_hash": true, "orgmem.Outcome.sealed": true, "orgmem.Edge.sealed": true,
	"orgmem.JobItem.index": true, "orgmem.Insight.id": true, "orgmem.Moment.id": true, "orgmem.Proposal.id": true,
	"orgmem.Recurrence.id":    true,
	"orgmem.Contradiction.id": true, "orgmem.Domain.id": true, "orgmem.Entity.node": true,
	"orgmem.Cognition.mind": true, "orgmem.Cognition.voice": true, "orgmem.NodeInfo.etag": true,
}

// shownRecord is a record as text, with its ids as they are.
type shownRecord struct {
	table  storage.Table
	where  string // the partition, in the text of an id; empty: the organization
	key    string
	fields []shownField
	raw    []byte // of a value that is not shown: so that a change of it is seen
}

type shownField struct{ name, value string }

// many is how many records of a table, or items of a list, are told one by one: more are counted.
const many = 9

// shown is a store at one moment, by the bytes of its keys.
type shown map[string]shownRecord

// nameBook gives ids that chance has made names, in the order in which they appear.
type nameBook struct {
	began time.Time
	round time.Duration     // what times are rounded to; 0: nothing
	of    map[string]string // text of the id → name
	ids   map[string]string // name → text of the id
	kinds map[string]string // text of the id → what it is of
	count map[string]int
}

func newNameBook(began time.Time) *nameBook {
	return &nameBook{
		began: began, of: map[string]string{}, ids: map[string]string{}, kinds: map[string]string{},
		count: map[string]int{},
	}
}

// chance finds what chance has made: ids of nodes, UUIDs and hashes.
var chance = regexp.MustCompile(`[a-z_]+:[0-9a-f]{8}-[0-9a-f-]{27}:[a-z2-7]{8,}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-` +
	`[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{64}\b`)

// timesInText finds times as JSON has them.
var timesInText = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`)

// call gives an id its name.
func (n *nameBook) call(id, name string) {
	n.of[id], n.ids[name] = name, id
}

// unnamed stands for an id that has no name yet.
const unnamed = "<?>"

// known puts names where they are known and a question mark where not.
func (n *nameBook) known(text string) string {
	return chance.ReplaceAllStringFunc(text, func(id string) string { return cmp.Or(n.of[id], unnamed) })
}

// in puts names in place of all ids, and gives names to those that have none.
func (n *nameBook) in(text string) string {
	text = chance.ReplaceAllStringFunc(text, func(id string) string {
		if n.of[id] == "" {
			kind := cmp.Or(n.kinds[id], "id")
			switch {
			case strings.Contains(id, ":"):
				kind = "node"
			case len(id) == 64:
				kind = "hash"
			}
			n.count[kind]++
			n.call(id, fmt.Sprintf("<%s%d>", kind, n.count[kind]))
		}
		return n.of[id]
	})
	return timesInText.ReplaceAllStringFunc(text, func(s string) string {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			return s
		}
		return n.since(at)
	})
}

// out reads a name back, where chance has made what it is of.
func (n *nameBook) out(name string) string {
	if strings.HasPrefix(name, "<") {
		return cmp.Or(n.ids[name], name)
	}
	return name
}

func (n *nameBook) since(at time.Time) string {
	d := at.Sub(n.began)
	if n.round > 0 {
		d = d.Round(n.round)
	}
	if days := d / (24 * time.Hour); days > 0 {
		if rest := d % (24 * time.Hour); rest > 0 {
			return fmt.Sprintf("+%dd%v", days, rest)
		}
		return fmt.Sprintf("+%dd", days)
	}
	return "+" + d.String()
}

func (n *nameBook) millis(ms int64) string { return n.since(time.UnixMilli(ms)) }

// id is the text of an id of 16 bytes.
func (n *nameBook) id(kind string, b []byte) string {
	text := uuid.UUID(b).String()
	if n.kinds[text] == "" {
		n.kinds[text] = kind
	}
	return text
}

// key shows the parts of a record's key.
func (n *nameBook) key(t *testing.T, k storage.Key, parts string) string {
	var out []string
	r := k.Parts()
	for kind := range strings.FieldsSeq(parts) {
		switch kind {
		case "str":
			if s := r.Str(); s != "" {
				out = append(out, s)
			} else {
				out = append(out, `""`)
			}
		case "edge":
			id := r.Str()
			n.kinds[id] = kind
			out = append(out, id)
		case "seq":
			out = append(out, fmt.Sprint(r.U64()))
		case "-seq":
			out = append(out, fmt.Sprint(^r.U64()))
		case "n":
			out = append(out, fmt.Sprint(r.U32()))
		case "ms":
			out = append(out, n.millis(int64(r.U64())))
		case "-ms":
			out = append(out, n.millis(int64(^r.U64())))
		case "-at":
			out = append(out, n.millis(int64(^r.U64()^(1<<63))))
		case "hash":
			h := r.Hash32()
			out = append(out, hex.EncodeToString(h[:]))
		default:
			id := r.ID16()
			out = append(out, n.id(kind, id[:]))
		}
	}
	if err := r.Done(); err != nil {
		t.Fatalf("%v is not %q: %v", k, parts, err)
	}
	return strings.Join(out, " ")
}

// fields shows a message field by field.
func (n *nameBook) fields(m proto.Message) (out []shownField) {
	r := m.ProtoReflect()
	all := r.Descriptor().Fields()
	for i := range all.Len() {
		f := all.Get(i)
		if !r.Has(f) || hiddenFields[f.FullName()] {
			continue
		}
		name, value := string(f.Name()), ""
		if short, isTime := strings.CutSuffix(name, "_ms"); isTime && all.ByName(protoreflect.Name(short)) == nil {
			name = short
		}
		switch v := r.Get(f); {
		case f.IsMap():
			value = fmt.Sprint(v.Map().Len(), " entries")
		case f.IsList():
			value = n.list(f, v.List())
		default:
			value = n.value(f, v)
		}
		out = append(out, shownField{name, value})
	}
	return out
}

func (n *nameBook) list(f protoreflect.FieldDescriptor, l protoreflect.List) string {
	if l.Len() > many {
		return fmt.Sprintf("[%d of them]", l.Len())
	}
	var each []string
	for i := range l.Len() {
		each = append(each, n.value(f, l.Get(i)))
	}
	return "[" + strings.Join(each, " ") + "]"
}

func (n *nameBook) value(f protoreflect.FieldDescriptor, v protoreflect.Value) string {
	switch f.Kind() {
	case protoreflect.MessageKind:
		return "{" + joined(n.fields(v.Message().Interface())) + "}"
	case protoreflect.BytesKind:
		b := v.Bytes()
		if len(bytes.Trim(b, "\x00")) == 0 {
			return "nobody" // an id that is zero
		}
		switch len(b) {
		case len(uuid.UUID{}):
			return n.id(string(f.Name()), b)
		case len(pb.KeyHash{}):
			return hex.EncodeToString(b)
		default:
			return string(b)
		}
	case protoreflect.Int64Kind:
		if strings.HasSuffix(string(f.Name()), "_ms") {
			return n.millis(v.Int())
		}
	case protoreflect.DoubleKind, protoreflect.FloatKind:
		return fmt.Sprintf("%.2g", v.Float())
	case protoreflect.StringKind:
		if s := v.String(); s == "" || strings.ContainsAny(s, " \n") {
			return fmt.Sprintf("%q", s)
		}
	default: // is shown as it is
	}
	return v.String()
}

func joined(fields []shownField) string {
	var out []string
	for _, f := range fields {
		out = append(out, f.name+"="+f.value)
	}
	return strings.Join(out, " ")
}

// read shows all records of an organization's store.
func (n *nameBook) read(t *testing.T, st *storage.Store, id storage.StoreID) shown {
	t.Helper()
	all := shown{}
	take := func(r storage.Range) {
		for item, err := range st.Scan(r, storage.ScanOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			form, ok := recordForms[item.Key.Table()]
			if !ok {
				t.Fatalf("%v: its table is in no recordForms", item.Key)
			}
			rec := shownRecord{table: item.Key.Table(), key: n.key(t, item.Key, form.parts)}
			if part, ok := item.Key.Partition(); ok {
				rec.where = n.id("partition", part[:])
			}
			if form.value == nil {
				rec.raw = bytes.Clone(item.Value)
			} else {
				m := form.value()
				if err := item.Decode(m); err != nil {
					t.Fatal(err)
				}
				rec.fields = n.fields(m)
				n.callPartition(m)
			}
			all[string(item.Key.Bytes())] = rec
		}
	}
	take(storage.OrgSpace(id).All())
	var parts []string
	for _, rec := range all {
		if rec.table == storage.TablePartition {
			parts = append(parts, rec.key)
		}
	}
	for _, part := range parts {
		p, err := pb.ParsePartitionID(part)
		if err != nil {
			t.Fatal(err)
		}
		take(storage.PartitionSpace(id, p).All())
	}
	return all
}

// callPartition gives organizations, members and subjects the names that people know them by.
func (n *nameBook) callPartition(m proto.Message) {
	switch m := m.(type) {
	case *pb.Organization:
		n.call(n.id("org", m.GetId()), strings.ToLower(m.GetName()))
	case *pb.Member:
		name, _, _ := strings.Cut(m.GetEmail(), "@")
		n.call(n.id("user", m.GetUser()), name)
	case *pb.Partition:
		if m.GetSubject() != "" {
			n.call(n.id("partition", m.GetId()), m.GetSubject())
		}
	}
}

// change is a record that came, went or is another.
type change struct {
	mark  string
	table storage.Table
	head  string // where it is and what it is called
	body  string
}

func (c change) text() string { return strings.TrimSpace(c.mark + " " + c.head + "  " + c.body) }

// differences are what differs between two moments.
func differences(before, after shown) (all []change) {
	head := func(r shownRecord) string {
		s := recordForms[r.table].name
		if r.where != "" {
			s = r.where + "/" + s
		}
		return strings.TrimSpace(s + " " + r.key)
	}
	for k, now := range after {
		was, there := before[k]
		switch {
		case !there:
			all = append(all, change{"+", now.table, head(now), joined(now.fields)})
		case !bytes.Equal(was.raw, now.raw):
			all = append(all, change{"~", now.table, head(now), ""})
		default:
			if body := changedFields(was.fields, now.fields); body != "" {
				all = append(all, change{"~", now.table, head(now), body})
			}
		}
	}
	for k, was := range before {
		if _, there := after[k]; !there {
			all = append(all, change{"-", was.table, head(was), ""})
		}
	}
	return all
}

func changedFields(before, after []shownField) string {
	was, is := map[string]string{}, map[string]string{}
	var order []string
	for _, f := range before {
		was[f.name] = f.value
		order = append(order, f.name)
	}
	for _, f := range after {
		if _, known := was[f.name]; !known {
			order = append(order, f.name)
		}
		is[f.name] = f.value
	}
	var out []string
	for _, name := range order {
		a, had := was[name]
		b, has := is[name]
		switch {
		case a == b:
		case !had:
			out = append(out, name+"="+b)
		case !has:
			out = append(out, name+"="+a+"→none")
		default:
			out = append(out, name+"="+a+"→"+b)
		}
	}
	return strings.Join(out, " ")
}

// tell names what has no name yet, in an order that no chance is in, and gives the lines: the
// organization's tables first, each memory's behind them.
func (n *nameBook) tell(changes []change) (lines []string) {
	pending := slices.Clone(changes)
	for len(pending) > 0 {
		least := slices.MinFunc(pending, func(a, b change) int {
			first := func(c change) int { return cmp.Or(recordForms[c.table].order, 1000) }
			return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(a.table, b.table),
				compareNumbers(n.known(a.text()), n.known(b.text())))
		})
		n.in(least.text())
		pending = slices.DeleteFunc(pending, func(c change) bool { return !strings.Contains(n.known(c.text()), unnamed) })
	}
	type group struct {
		table storage.Table
		mark  string
		where string
	}
	groups := map[group][]string{}
	for _, c := range changes {
		where, _, found := strings.Cut(c.head, "/")
		if !found {
			where = ""
		}
		g := group{c.table, c.mark, n.in(where)}
		groups[g] = append(groups[g], n.in(c.text()))
	}
	marks := "-~+"
	for _, g := range slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		return cmp.Or(cmp.Compare(a.where, b.where), cmp.Compare(a.table, b.table),
			cmp.Compare(strings.Index(marks, a.mark), strings.Index(marks, b.mark)))
	}) {
		texts := groups[g]
		slices.SortFunc(texts, compareNumbers)
		if len(texts) > many {
			name := recordForms[g.table].name
			if g.where != "" {
				name = g.where + "/" + name
			}
			texts = []string{fmt.Sprintf("%s %s  %d records", g.mark, name, len(texts))}
		}
		lines = append(lines, texts...)
	}
	return lines
}

// compareNumbers compares texts with the numbers in them as numbers.
func compareNumbers(a, b string) int {
	for a != "" && b != "" {
		x, y := digits(a), digits(b)
		if x > 0 && y > 0 {
			if c := cmp.Or(cmp.Compare(x, y), cmp.Compare(a[:x], b[:y])); c != 0 {
				return c
			}
			a, b = a[x:], b[y:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
