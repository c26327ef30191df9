package account

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"orgmem/actors/commit"
	"orgmem/actors/tenant"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	maxNameRunes = 200
	maxSlugBytes = 60
	// removalTries times RemovalPause is longer than any reader holds a removed store.
	removalTries = 60
	// RemovalPause is how long it takes until the deletion of a removed store is tried again.
	RemovalPause = time.Second
	// slugTries is how often a taken slug gets another number.
	slugTries = 50
)

func cleanName(field, name string) (string, error) {
	name = strings.TrimSpace(name)
	if name == "" || len([]rune(name)) > maxNameRunes || strings.ContainsFunc(name, unicode.IsControl) {
		return "", fmt.Errorf("%w: %s must be 1 to %d printable characters", tenant.ErrInvalid, field, maxNameRunes)
	}
	return name, nil
}

func cleanEmail(field, email string) (string, error) {
	a, err := mail.ParseAddress(strings.TrimSpace(email))
	if err != nil || a.Name != "" {
		return "", fmt.Errorf("%w: %s is not an e-mail address", tenant.ErrInvalid, field)
	}
	return strings.ToLower(a.Address), nil
}

func cleanPlan(plan string) (string, error) {
	if plan == "" {
		return pb.PlanStandard, nil
	}
	if _, ok := tenant.PlanFactor[plan]; !ok {
		return "", fmt.Errorf("%w: plan must be free, standard, scale or unlimited", tenant.ErrInvalid)
	}
	return plan, nil
}

// slugOf makes a readable name for URLs out of an organization's name.
func slugOf(name string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= maxSlugBytes {
			break
		}
	}
	if s := strings.Trim(b.String(), "-"); s != "" {
		return s
	}
	return "org"
}

// CreateOrg implements Operator. The directory entry comes first, the key last:
// a crash in between leaves an organization that nobody can enter, which the
// operator sees in the list and deletes.
func (s LocalOperator) CreateOrg(ctx context.Context, order NewOrg) (CreatedOrg, error) {
	made, rec, email, err := s.RegisterOrg(ctx, order)
	if err != nil {
		return CreatedOrg{}, err
	}
	return s.BeginOrg(ctx, made, rec, email)
}

// RegisterOrg checks an order and puts the organization into the directory. It
// returns what the organization's own store is to begin with.
func (s LocalOperator) RegisterOrg(ctx context.Context, order NewOrg) (made CreatedOrg, rec *pb.Organization,
	email string,
	err error,
) {
	name, err := cleanName("name", order.Name)
	if err != nil {
		return made, nil, "", err
	}
	if email, err = cleanEmail("ownerEmail", order.OwnerEmail); err != nil {
		return made, nil, "", err
	}
	plan, err := cleanPlan(order.Plan)
	if err != nil {
		return made, nil, "", err
	}
	// looked at before there is something that nobody can enter
	if d := s.Config.Host.Directory().KeyStats(); d.Keys >= d.Limit {
		return made, nil, "", keyConflict(wire.ErrDirectoryFull)
	}
	ids := make([]uuid.UUID, 2)
	for i := range ids {
		if ids[i], err = s.NewUUID(); err != nil {
			return made, nil, "", err
		}
	}
	made.Org, made.Owner = pb.OrgID(ids[0]), pb.UserID(ids[1])
	now := clock.Millis(s.Clock.Now())
	base := slugOf(name)
	for try := 1; ; try++ {
		made.Slug = base
		if try > 1 {
			made.Slug = fmt.Sprintf("%s-%d", base, try)
		}
		err = s.Config.Host.Directory().PutOrg(ctx, &pb.OrgEntry{
			Org: made.Org.Bytes(), Name: name, Slug: made.Slug,
			CreatedMs: now, Embedded: s.Embedders.Current().ID(), // there is nothing in it
		})
		if !errors.Is(err, wire.ErrSlugTaken) || try == slugTries {
			break
		}
	}
	if errors.Is(err, wire.ErrSlugTaken) {
		return made, nil, "", fmt.Errorf("%w: too many organizations are named like this", tenant.ErrConflict)
	}
	if err != nil {
		return made, nil, "", notCreated(err)
	}
	secret := make([]byte, 32)
	if _, err := io.ReadFull(s.Config.Random, secret); err != nil {
		return made, nil, "", fmt.Errorf("create organization: %w", err)
	}
	rec = &pb.Organization{
		Id: made.Org.Bytes(), Name: name, Slug: made.Slug, Personal: order.Personal, Plan: plan,
		CreatedMs: now, Secret: secret,
	}
	return made, rec, email, nil
}

// BeginOrg writes an organization's root, its owner and the owner's first key, where the organization lives.
func (s LocalOperator) BeginOrg(
	ctx context.Context, made CreatedOrg, rec *pb.Organization, email string,
) (CreatedOrg, error) {
	scopes := []string{pb.ScopeRead, pb.ScopeWrite, pb.ScopeAdmin}
	err := s.Visit(ctx, made.Org, func(o *tenant.Org, done func(error)) {
		ch := commit.New(o.Store)
		ch.Put(o.Space.Key(storage.TableOrg), rec)
		if err := membersOf(o).putMember(ch.Batch, made.Owner, email, pb.RoleOwner); err != nil {
			done(err)
			return
		}
		ch.Audit(o.ByOperator(pb.ActionOrgCreate, o.ID.String()))
		o.Committer.SubmitChange(ch, func(err error) {
			o.InMailbox(func() {
				if err != nil {
					done(err)
					return
				}
				o.SetRecord(rec)
				first := &pb.Key{User: made.Owner.Bytes(), Scopes: scopes, Label: "first key"}
				keysOf(o).Mint(first, keysOf(o).operatorsKey, func(k CreatedKey, err error) {
					made.APIKey, made.Key = k.APIKey, k.Key
					done(keyConflict(err))
				})
			})
		})
	})
	if err != nil {
		return CreatedOrg{}, notCreated(err)
	}
	return made, nil
}

// notCreated is why an organization was not created. It names a full disk, which the operator can mend.
func notCreated(err error) error {
	err = fmt.Errorf("create organization: %w", err)
	if errors.Is(err, storage.ErrNoSpace) {
		return fullDisk{err}
	}
	return err
}

// fullDisk is an error that knows the problem to answer with.
type fullDisk struct{ error }

func (e fullDisk) Unwrap() error { return e.error }

// Problem is a 503 that may be retried.
func (fullDisk) Problem() *pb.Problem {
	return &pb.Problem{
		Code: pb.CodeServiceDegraded, RetryAfterS: tenant.RetryAfterNoSpaceSeconds,
		Detail: "The disk is nearly full: nothing can be stored until space returns.",
	}
}

// Orgs implements Operator. It asks the directory only: opening a thousand stores
// to count what is in them took eight seconds.
func (s LocalOperator) Orgs(_ context.Context, from string, size int) (OrgPage, error) {
	if size < 1 || size > MaxOrgPage {
		return OrgPage{}, fmt.Errorf("%w: limit must be 1 to %d", tenant.ErrInvalid, MaxOrgPage)
	}
	all := s.Config.Host.Directory().Orgs()
	if from != "" {
		created, org, err := parsePosition(from)
		if err != nil {
			return OrgPage{}, err
		}
		// What was there is found by where it would be: it may be removed meanwhile.
		i, _ := slices.BinarySearchFunc(all, created, func(e *pb.OrgEntry, created int64) int {
			return cmp.Or(cmp.Compare(e.GetCreatedMs(), created), slices.Compare(e.GetOrg(), org[:]))
		})
		all = all[i:]
	}
	var page OrgPage
	for _, e := range all {
		id, err := pb.OrgIDFrom(e.GetOrg())
		if err != nil {
			return OrgPage{}, err
		}
		if len(page.Orgs) == size {
			page.Next = formatPosition(e.GetCreatedMs(), id)
			break
		}
		page.Orgs = append(page.Orgs, OrgEntry{
			Org: id, Name: e.GetName(), Slug: e.GetSlug(),
			Created: time.UnixMilli(e.GetCreatedMs()).UTC(), OutOfService: s.outage(id),
		})
	}
	return page, nil
}

func formatPosition(createdMs int64, org pb.OrgID) string {
	return fmt.Sprintf("%d.%s", createdMs, org)
}

func parsePosition(s string) (createdMs int64, org pb.OrgID, err error) {
	at, id, _ := strings.Cut(s, ".")
	if createdMs, err = strconv.ParseInt(at, 10, 64); err == nil {
		org, err = pb.ParseOrgID(id)
	}
	if err != nil {
		err = fmt.Errorf("%w: cursor does not come from this list", tenant.ErrInvalid)
	}
	return createdMs, org, err
}

// Org implements Operator. It reads the store without waking the organization.
func (s LocalOperator) Org(_ context.Context, org pb.OrgID) (OrgInfo, error) {
	e, err := s.OrgEntry(org)
	if err != nil {
		return OrgInfo{}, err
	}
	info := OrgInfo{
		Org: org, Name: e.GetName(), Slug: e.GetSlug(), Created: time.UnixMilli(e.GetCreatedMs()).UTC(),
		OutOfService: s.outage(org),
	}
	id := tenant.MainStoreOf(org)
	st, err := s.Config.Storage.AcquireToRead(id)
	if errors.Is(err, storage.ErrNoStore) { // its creation ended half-way, or it is being removed
		_, err := s.OrgEntry(org)
		return info, err
	}
	if errors.Is(err, storage.ErrOutOfService) {
		info.OutOfService = s.outage(org) // it may have been opened just now
		return info, nil
	}
	if err != nil {
		return OrgInfo{}, fmt.Errorf("read organization: %w", err)
	}
	defer st.Release()
	space := storage.OrgSpace(id)
	rec := &pb.Organization{}
	if _, err := st.Get(space.Key(storage.TableOrg), rec); err != nil {
		return OrgInfo{}, fmt.Errorf("read organization: %w", err)
	}
	info.Personal, info.Plan = rec.GetPersonal(), rec.GetPlan()
	members, err := countRange(st, space.Prefix(storage.TableMember))
	if err != nil {
		return OrgInfo{}, fmt.Errorf("read organization: %w", err)
	}
	subjects, err := countRange(st, space.Prefix(storage.TableSubject))
	if err != nil {
		return OrgInfo{}, fmt.Errorf("read organization: %w", err)
	}
	info.Members, info.Subjects = int(members), int(subjects)
	return info, nil
}

// outage says what of an organization is damaged on this node.
func (s LocalOperator) outage(org pb.OrgID) string {
	for _, realm := range storage.OrgRealms {
		if err := s.Config.Storage.OutOfService(storage.StoreID{Org: org, Realm: realm}); err != nil {
			return err.Error()
		}
	}
	return ""
}

// SetPlan implements Operator.
func (s LocalOperator) SetPlan(ctx context.Context, org pb.OrgID, plan string) error {
	plan, err := cleanPlan(plan)
	if err != nil {
		return err
	}
	return s.VisitOrg(ctx, org, func(o *tenant.Org, done func(error)) {
		o.Exclusive(tenant.OrganizationLock, func(release func()) {
			next := &pb.Organization{
				Id: o.Record().GetId(), Name: o.Record().GetName(), Slug: o.Record().GetSlug(), Personal: o.Record().GetPersonal(),
				Plan: plan, CreatedMs: o.Record().GetCreatedMs(), Secret: o.Record().GetSecret(),
			}
			ch := commit.New(o.Store)
			ch.Put(o.Space.Key(storage.TableOrg), next)
			ch.Audit(o.ByOperator(pb.ActionOrgPlan, plan))
			o.Committer.SubmitChange(ch, func(err error) {
				o.InMailbox(func() {
					if err == nil {
						o.Replan(o.Record().GetPlan(), plan)
						o.SetRecord(next)
					}
					release()
					done(err)
				})
			})
		})
	})
}

// DeleteOrg implements Operator: the organization, its keys and its stores. What
// failed half-way is finished by calling it again.
func (s LocalOperator) DeleteOrg(ctx context.Context, org pb.OrgID) error {
	e, ok := s.Config.Host.Directory().Org(org)
	if !ok {
		return tenant.ErrOrgNotFound
	}
	if e.GetRemoved() {
		if done, err := s.Config.Host.StoresRemoved(org); err != nil || done {
			return cmp.Or(err, tenant.ErrOrgNotFound)
		}
	}
	if err := s.Config.Host.Directory().RemoveOrg(ctx, org); err != nil {
		return fmt.Errorf("delete organization: %w", err)
	}
	s.RetireOrg(org)
	s.deleteStores(org)
	return nil
}

// deleteStores deletes the directories of a removed organization that its readers have
// kept until now. Their tombstones are written: nothing makes them anew.
func (s LocalOperator) deleteStores(org pb.OrgID) {
	s.BackgroundTasks.Go(func() {
		for _, realm := range storage.OrgRealms {
			id := storage.StoreID{Org: org, Realm: realm}
			err := s.Config.Storage.Remove(id)
			for try := 0; errors.Is(err, storage.ErrInUse) && try < removalTries && s.Sleep(RemovalPause); try++ {
				err = s.Config.Storage.Remove(id)
			}
			if err != nil {
				s.Log.Warn("the store of a removed organization is not deleted; the next start does it", "org", org.String(), "err",
					err)
			}
		}
	})
}

// CreateKey implements Operator.
func (s LocalOperator) CreateKey(ctx context.Context, order NewKey) (CreatedKey, error) {
	scopes, p := checkScopes(order.Scopes)
	switch {
	case p != nil:
		return CreatedKey{}, fmt.Errorf("%w: %s", tenant.ErrInvalid, p.GetDetail())
	case len(scopes) == 0:
		return CreatedKey{}, fmt.Errorf("%w: scopes must name at least one", tenant.ErrInvalid)
	case utf8.RuneCountInString(order.Label) > maxLabelRunes:
		return CreatedKey{}, fmt.Errorf("%w: label is longer than %d characters", tenant.ErrInvalid, maxLabelRunes)
	}
	var made CreatedKey
	err := s.VisitOrg(ctx, order.Org, func(o *tenant.Org, done func(error)) {
		ref, err := o.Member(order.User)
		if err != nil || ref == nil {
			if err == nil {
				err = tenant.ErrUserNotFound
			}
			done(err)
			return
		}
		key := &pb.Key{User: order.User.Bytes(), Scopes: scopes, Label: order.Label}
		keysOf(o).Mint(key, keysOf(o).operatorsKey, func(k CreatedKey, err error) {
			made = k
			done(keyConflict(err))
		})
	})
	return made, err
}

// keyConflict says to an operator why there can be no further key.
func keyConflict(err error) error {
	if refusal, ok := errors.AsType[refusalError](err); ok {
		return fmt.Errorf("%w: %s", tenant.ErrConflict, refusal.problem.GetDetail())
	}
	if errors.Is(err, wire.ErrDirectoryFull) {
		return fmt.Errorf("%w: %w", tenant.ErrConflict, wire.ErrDirectoryFull)
	}
	return err
}
