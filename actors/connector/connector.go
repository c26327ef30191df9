package connector

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/asynkron/protoactor-go/actor"

	"orgmem/actors/commit"
	"orgmem/actors/egress"
	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// A connector is a person's own, since what it fetches goes into that person's
// memory: nobody else sees it, or may say where it fetches from.

// maxConnectors bounds a person's connectors: each is work that comes again by
// itself.
const maxConnectors = 50

// Module schedules an organization's connectors and carries out what their owners ask for.
type Module struct {
	*tenant.Org
	tenant.NoModule
	syncing *actor.PID // the syncer, while a connector is enabled or being fetched for
	looks   uint64     // how often the syncer was asked to look
	syncs   chan struct{}
}

// Feature is what a node has once for connectors.
type Feature struct {
	tenant.NoFeature
	syncs chan struct{} // the fetches under way
}

// New makes the feature of a node, whose organizations share the places for fetches.
func New() Feature {
	return Feature{syncs: make(chan struct{}, MaxConcurrentSyncs)}
}

// Module makes the module of an organization.
func (f Feature) Module(o *tenant.Org) tenant.Module {
	return &Module{Org: o, syncs: f.syncs}
}

// Handle begins what a request about connectors asks for. It reports whether the request is one of this module's.
func (o *Module) Handle(c *tenant.Call) bool {
	switch op := c.Env.GetLink().GetOp().(type) {
	case *pb.LinkOp_CreateConnector:
		o.createConnector(c, op.CreateConnector)
	case *pb.LinkOp_ListConnectors:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) {
			return o.listConnectors(st, c.Principal, op.ListConnectors)
		})
	case *pb.LinkOp_GetConnector:
		o.Read(c, func(st *storage.Store) (*pb.Reply, error) { return o.getConnector(st, c.Principal, op.GetConnector) })
	case *pb.LinkOp_PatchConnector:
		o.patchConnector(c, op.PatchConnector)
	case *pb.LinkOp_DeleteConnector:
		o.deleteConnector(c, op.DeleteConnector)
	case *pb.LinkOp_SyncConnector:
		o.syncConnector(c, op.SyncConnector)
	default:
		return false
	}
	return true
}

// Idle reports whether the organization has no syncer, so that it may leave memory.
func (o *Module) Idle() bool { return o.syncing == nil }

// SandboxWoken has the syncer look for connectors whose owner is gone.
func (o *Module) SandboxWoken() { o.lookConnectors() }

// EraseMember erases a member's connectors with their tokens; the erasure of the memory ends their jobs.
func (o *Module) EraseMember(st *storage.Store, ch *commit.Change, user pb.UserID) error {
	own, err := o.connectors(st, tenant.Principal{User: user})
	for _, k := range own {
		ch.Erase(o.ConnectorKey(pb.ConnectorID(k.GetId())))
		ch.Erase(o.connectorState(pb.ConnectorID(k.GetId())))
	}
	return err
}

// Reseal adds to a batch the connectors whose secrets are stored unsealed, or sealed under a former key.
func (o *Module) Reseal(st *storage.Store, b *storage.Batch) error {
	all := o.Space.Prefix(storage.TableConnector)
	for rec, err := range storage.ScanRecords(st, all, storage.ScanOptions{}, func() *pb.Connector {
		return &pb.Connector{}
	}) {
		if err != nil {
			return err
		}
		if err := o.resealConnector(b, rec.Value); err != nil {
			return err
		}
	}
	return nil
}

// JobKinds has the job of a sync: it is the module's while the sync fetches. Afterwards what was fetched lies in the
// partition's queue, and its worker has the job.
func (o *Module) JobKinds() map[string]tenant.JobKind {
	return map[string]tenant.JobKind{pb.JobConnectorSync: {
		Resume: func(job *pb.Job) (bool, error) { return job.GetTotal() == 0, nil }, // the syncer fetches once more
		Cancel: func(c *tenant.Call, job *pb.Job) bool {
			if job.GetTotal() > 0 {
				return false
			}
			o.cancelSync(c, pb.JobID(job.GetId()))
			return true
		},
	}}
}

func connectorNotFound() *pb.Problem {
	return tenant.NewProblem(pb.CodeConnectorNotFound, "There is no such connector of yours.")
}

// ConnectorKey is the key of a connector's record.
func (o *Module) ConnectorKey(id pb.ConnectorID) storage.Key {
	return o.Space.Key(storage.TableConnector, storage.ID16(id))
}

func (o *Module) findConnector(r storage.Reader, who tenant.Principal, id string) (*pb.Connector, error) {
	connectorID, err := pb.ParseConnectorID(id)
	if err != nil {
		return nil, nil //nolint:nilerr // what is no id names no connector
	}
	k := &pb.Connector{}
	found, err := r.Get(o.ConnectorKey(connectorID), k)
	if err != nil || !found || !bytes.Equal(k.GetUser(), who.User[:]) {
		return nil, err
	}
	return k, nil
}

// connectors returns a person's connectors, newest first.
func (o *Module) connectors(r storage.Reader, who tenant.Principal) ([]*pb.Connector, error) {
	var all []*pb.Connector
	for rec, err := range storage.ScanRecords(r, o.Space.Prefix(storage.TableConnector), storage.ScanOptions{},
		func() *pb.Connector { return &pb.Connector{} }) {
		if err != nil {
			return nil, err
		}
		if bytes.Equal(rec.Value.GetUser(), who.User[:]) {
			all = append(all, rec.Value)
		}
	}
	slices.SortFunc(all, func(a, b *pb.Connector) int { return tenant.NewerFirst(a, b) })
	return all, nil
}

func (o *Module) listConnectors(r storage.Reader, who tenant.Principal, op *pb.ListConnectors) (*pb.Reply, error) {
	all, err := o.connectors(r, who)
	if err != nil {
		return nil, err
	}
	page, next, p := tenant.PageOfDated(&o.View, all, "connectors "+who.User.String(), op.GetPage())
	if p != nil {
		return tenant.Refuse(p), nil
	}
	list := &pb.ConnectorList{NextCursor: next}
	for _, k := range page {
		shown, err := WithoutSecrets(k)
		if err != nil {
			return nil, err
		}
		list.Connectors = append(list.Connectors, shown)
	}
	return tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Connectors{Connectors: list}}), nil
}

func (o *Module) getConnector(r storage.Reader, who tenant.Principal, op *pb.GetConnector) (*pb.Reply, error) {
	k, err := o.findConnector(r, who, op.GetId())
	if err != nil {
		return nil, err
	}
	if k == nil {
		return tenant.Refuse(connectorNotFound()), nil
	}
	return connectorReply(k, 200)
}

func connectorReply(k *pb.Connector, status uint32) (*pb.Reply, error) {
	shown, err := WithoutSecrets(k)
	r := tenant.LinkReply(&pb.LinkResult{Result: &pb.LinkResult_Connector{Connector: shown}})
	r.Status = status
	return r, err
}

// WithoutSecrets is a connector without its secrets.
func WithoutSecrets(k *pb.Connector) (*pb.Connector, error) {
	raw, _, err := splitConfig(k.GetConfig())
	return &pb.Connector{
		Id: k.GetId(), Type: k.GetType(), Name: k.GetName(), Config: raw, IntervalS: k.GetIntervalS(),
		Enabled: k.GetEnabled(), LastSyncMs: k.GetLastSyncMs(), LastStatus: k.GetLastStatus(), LastError: k.GetLastError(),
		Documents: k.GetDocuments(), CreatedMs: k.GetCreatedMs(),
	}, err
}

// ParseConfig parses a connector's config into its fields. The error says that it is not a JSON object.
func ParseConfig(raw []byte) (map[string]json.RawMessage, error) {
	config := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &config); err != nil {
		return nil, fmt.Errorf("connector config: %w", err)
	}
	return config, nil
}

// Address is one address that a config names, and the field that names it.
type Address struct{ Field, URL string }

// Addresses lists the addresses that a config names; the edge has seen to its
// shape.
func Addresses(raw []byte) ([]Address, error) {
	config, err := ParseConfig(raw)
	if err != nil {
		return nil, err
	}
	var out []Address
	for _, name := range slices.Sorted(maps.Keys(config)) {
		var one string
		var list []string
		switch name {
		case "url", "sitemap":
			if err := json.Unmarshal(config[name], &one); err != nil {
				return nil, fmt.Errorf("connector config: %w", err)
			}
			out = append(out, Address{"config." + name, one})
		case "pages":
			if err := json.Unmarshal(config[name], &list); err != nil {
				return nil, fmt.Errorf("connector config: %w", err)
			}
			for i, page := range list {
				out = append(out, Address{fmt.Sprintf("config.pages[%d]", i), page})
			}
		}
	}
	return out, nil
}

// checkAddresses holds the addresses of a config against the rules of egress, beside the mailbox since the name service
// may take seconds, and continues in the mailbox with then.
func (o *Module) checkAddresses(c *tenant.Call, config []byte, then func()) {
	list, err := Addresses(config)
	if err != nil {
		c.Fail(err)
		return
	}
	if o.System.Config.Egress == nil {
		c.Fail(tenant.ErrNoEgress)
		return
	}
	o.System.RunInBackground(func(ctx context.Context) { // one deadline for all of them
		for _, a := range list {
			switch err := o.System.Config.Egress.Check(ctx, a.URL); {
			case errors.Is(err, egress.ErrAddress):
				c.Refuse(tenant.Invalid(a.Field, egress.Reason(err)))
				return
			case err != nil:
				c.Fail(err)
				return
			}
		}
		tenant.Continue(o.Org, c, then)
	})
}

func (o *Module) createConnector(c *tenant.Call, op *pb.CreateConnector) {
	o.whenScheduled(c, op.GetConfig(), func() {
		o.Exclusive(tenant.ConnectorsLock, func(release func()) {
			if !o.StillInUse(c) {
				release()
				return
			}
			var all []*pb.Connector
			err := o.WithStore(func(st *storage.Store) (err error) {
				all, err = o.connectors(st, c.Principal)
				return err
			})
			if err == nil && len(all) >= maxConnectors {
				release()
				c.Refuse(tenant.NewProblem(pb.CodeConnectorLimit, "A person has at most %d connectors.", maxConnectors))
				return
			}
			var r *pb.Reply
			k := &pb.Connector{
				User: c.Principal.User.Bytes(), Type: op.GetType(), Name: op.GetName(), IntervalS: op.GetIntervalS(),
				Enabled: op.GetEnabled(), CreatedMs: clock.Millis(o.System.Clock.Now()),
				NextSyncMs: clock.Millis(o.System.Clock.Now().Add(InitialDelay)),
			}
			if err == nil {
				id, drawn := o.System.NewUUID()
				k.Id, err = id[:], drawn
			}
			if err == nil {
				err = o.giveConfig(k, op.GetConfig())
			}
			if err == nil {
				r, err = connectorReply(k, 201)
			}
			if err != nil {
				release()
				c.Fail(err)
				return
			}
			o.putConnector(c, commit.New(o.Store), k, "connector.create", r, release)
		})
	})
}

func (o *Module) putConnector(c *tenant.Call, ch *commit.Change, k *pb.Connector, action string, r *pb.Reply,
	release func(),
) {
	id := pb.ConnectorID(k.GetId())
	ch.Put(o.ConnectorKey(id), k)
	ch.Audit(c.AuditOf(action, id.String()))
	c.Settle(ch, r, func() {
		release()
		o.InMailbox(o.lookConnectors)
	})
}

// whenScheduled is checkAddresses, behind which the directory says that the
// organization has work that comes by itself. Without a config nothing is checked.
func (o *Module) whenScheduled(c *tenant.Call, config []byte, then func()) {
	busy := func() { o.WithBusyMarkFor(c, func() { then() }) }
	if config == nil {
		busy()
		return
	}
	o.checkAddresses(c, config, busy)
}

// changeConnector runs f on a connector that no other change is under way of.
func (o *Module) changeConnector(c *tenant.Call, id string, f func(k *pb.Connector, release func())) {
	o.Exclusive(tenant.ConnectorsLock, func(release func()) {
		if !o.StillInUse(c) {
			release()
			return
		}
		var k *pb.Connector
		err := o.WithStore(func(st *storage.Store) (err error) {
			k, err = o.findConnector(st, c.Principal, id)
			return err
		})
		switch {
		case err != nil:
			release()
			c.Fail(err)
		case k == nil:
			release()
			c.Refuse(connectorNotFound())
		default:
			f(k, release)
		}
	})
}

// patchConnector changes a connector. A secret that a new config leaves out stays
// as it is; an empty one removes it.
func (o *Module) patchConnector(c *tenant.Call, op *pb.PatchConnector) {
	change := func() {
		o.changeConnector(c, op.GetId(), func(k *pb.Connector, release func()) {
			if op.Name != nil {
				k.Name = op.GetName()
			}
			if op.IntervalS != nil {
				k.IntervalS = op.GetIntervalS()
			}
			now := o.System.Clock.Now()
			k.UpdatedMs = clock.Millis(now)
			if op.Config != nil || op.GetEnabled() && !k.GetEnabled() {
				k.NextSyncMs, k.Failures = clock.Millis(now.Add(InitialDelay)), 0
			}
			k.NextSyncMs = min(k.GetNextSyncMs(), clock.Millis(now.Add(time.Duration(k.GetIntervalS())*time.Second)))
			if op.Enabled != nil {
				k.Enabled = op.GetEnabled()
			}
			if field := misfit(k.GetType(), op); field != "" {
				release()
				c.Refuse(tenant.Invalid(field, "does not belong to a connector of type "+k.GetType()))
				return
			}
			ch := commit.New(o.Store)
			err := error(nil)
			if op.Config != nil {
				err = o.changeConfig(ch, k, op.GetConfig())
			}
			var r *pb.Reply
			if err == nil {
				r, err = connectorReply(k, 200)
			}
			if err != nil {
				release()
				c.Fail(err)
				return
			}
			o.putConnector(c, ch, k, "connector.update", r, release)
		})
	}
	o.whenScheduled(c, op.Config, change)
}

// configFields are those of each type's config.
var configFields = map[string][]string{
	"feed": {"url", "authorization"}, "web": {"sitemap", "pages", "authorization"},
	"git": {"url", "branch", "path", "token"},
}

// misfit names a field of a new config that the connector's type has not, or the
// config itself where it lacks what the type needs; empty when all is well.
func misfit(kind string, op *pb.PatchConnector) string {
	config, err := ParseConfig(op.GetConfig())
	if op.Config == nil || err != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if !slices.Contains(configFields[kind], name) {
			return "config." + name
		}
	}
	if config["url"] == nil && config["sitemap"] == nil && config["pages"] == nil {
		return "config"
	}
	return ""
}

// changeConfig gives a connector that is stored another config. The secrets that go
// with the one before leave the files.
func (o *Module) changeConfig(ch *commit.Change, k *pb.Connector, after []byte) error {
	before, _, err := o.UnsealConfig(k)
	if errors.Is(err, tenant.ErrSealed) { // those that it keeps are lost, and it can be given new ones
		before, err = k.GetConfig(), nil
	}
	if err != nil {
		return err
	}
	merged, err := mergeConfig(before, after)
	if err != nil {
		return err
	}
	ch.Erase(o.ConnectorKey(pb.ConnectorID(k.GetId())))
	return o.giveConfig(k, merged)
}

func mergeConfig(before, after []byte) ([]byte, error) {
	old, err := ParseConfig(before)
	if err != nil {
		return nil, err
	}
	config, err := ParseConfig(after)
	if err != nil {
		return nil, err
	}
	for _, secret := range SecretFields {
		switch given, ok := config[secret]; {
		case !ok && old[secret] != nil:
			config[secret] = old[secret]
		case string(given) == `""`:
			delete(config, secret)
		}
	}
	return json.Marshal(config)
}

func (o *Module) deleteConnector(c *tenant.Call, op *pb.DeleteConnector) {
	o.changeConnector(c, op.GetId(), func(k *pb.Connector, release func()) {
		ch := commit.New(o.Store)
		var ended []pb.JobID
		err := o.WithStore(func(st *storage.Store) (err error) {
			ended, err = o.eraseConnector(ch, st, k)
			return err
		})
		if err != nil {
			release()
			c.Fail(err)
			return
		}
		ch.Audit(c.AuditOf("connector.delete", pb.ConnectorID(k.GetId()).String()))
		o.Committer.SubmitChange(ch, func(err error) {
			release()
			if err != nil {
				c.Fail(err)
				return
			}
			c.Org.JobsEnded(ended...)
			o.InMailbox(func() {
				for _, id := range ended {
					o.stopSync(id)
				}
				o.lookConnectors()
			})
			c.Reply(tenant.EmptyReply())
		})
	})
}
