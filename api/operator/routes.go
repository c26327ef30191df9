package operator

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"orgmem/actors/account"
	"orgmem/actors/tenant"
	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

var (
	errNoOrg  = fmt.Errorf("path: %w", tenant.ErrOrgNotFound)
	errNoUser = fmt.Errorf("path: %w", tenant.ErrUserNotFound)
)

// Routes is the operator's table.
var Routes = slices.Concat(nodeRoutes, requestRoutes, profileRoutes, vaultRoutes, ClusterRoutes)

var nodeRoutes = []Route{
	{
		Method: http.MethodGet, Path: "/healthz", status: http.StatusOK, Open: true,
		handle: func(context.Context, *server, gin.Params, any) (any, error) {
			return health{"ok"}, nil
		},
	},
	{
		Method: http.MethodGet, Path: "/readyz", status: http.StatusOK, Open: true,
		handle: func(ctx context.Context, s *server, _ gin.Params, _ any) (any, error) {
			if s.edge.IsDraining() {
				return nil, problemError{problems.New(pb.CodeServiceDraining)}
			}
			if s.cfg.Ready != nil {
				if err := s.cfg.Ready(ctx); errors.Is(err, tenant.ErrDraining) {
					return nil, problemError{problems.New(pb.CodeServiceDraining)}
				} else if err != nil {
					return nil, problemError{problems.Newf(pb.CodeServiceDegraded, "Not ready: %s.", err)}
				}
			}
			return health{"ready"}, nil
		},
	},
	{
		Method: http.MethodPost, Path: "/operator/orgs", status: http.StatusCreated, Body: reflect.TypeFor[newOrgBody](),
		handle: func(ctx context.Context, s *server, _ gin.Params, body any) (any, error) {
			in := body.(*newOrgBody)
			org, err := s.cfg.Operator.CreateOrg(ctx, account.NewOrg{
				Name: in.Name, OwnerEmail: in.OwnerEmail, Personal: in.Personal, Plan: in.Plan,
			})
			return createdOrg{org.Org.String(), org.Slug, org.Owner.String(), org.APIKey, org.Key.String()}, err
		},
	},
	{
		Method: http.MethodGet, Path: "/operator/orgs", status: http.StatusOK, query: []string{"cursor", "limit"},
		handle: func(ctx context.Context, s *server, params gin.Params, _ any) (any, error) {
			size := defaultOrgPage
			if limit := params.ByName("limit"); limit != "" {
				var err error
				if size, err = strconv.Atoi(limit); err != nil {
					return nil, fmt.Errorf("%w: limit must be a number", tenant.ErrInvalid)
				}
			}
			page, err := s.cfg.Operator.Orgs(ctx, params.ByName("cursor"), size)
			list := orgList{dataOf[orgEntry]{make([]orgEntry, 0, len(page.Orgs))}, page.Next}
			for _, o := range page.Orgs {
				list.Data = append(list.Data, orgEntry{
					o.Org.String(), o.Name, o.Slug, wire.Timestamp(clock.Millis(o.Created)), o.OutOfService,
				})
			}
			return list, err
		},
	},
	{
		Method: http.MethodGet, Path: "/operator/orgs/{org}", status: http.StatusOK,
		handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			o, err := s.cfg.Operator.Org(ctx, org)
			return orgInfoOf(o), err
		},
	},
	{
		Method: http.MethodPut, Path: "/operator/orgs/{org}/plan", status: http.StatusNoContent,
		Body: reflect.TypeFor[planBody](),
		handle: func(ctx context.Context, s *server, path gin.Params, body any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			return nil, s.cfg.Operator.SetPlan(ctx, org, body.(*planBody).Plan)
		},
	},
	{
		Method: http.MethodDelete, Path: "/operator/orgs/{org}", status: http.StatusNoContent,
		handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			return nil, s.cfg.Operator.DeleteOrg(ctx, org)
		},
	},
	{
		Method: http.MethodPost, Path: "/operator/orgs/{org}/members", status: http.StatusCreated,
		Body: reflect.TypeFor[memberBody](),
		handle: func(ctx context.Context, s *server, path gin.Params, body any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			in := body.(*memberBody)
			m, err := s.cfg.Operator.AddMember(ctx, org, in.Email, account.Role(in.Role))
			return memberOf(m), err
		},
	},
	{
		Method: http.MethodGet, Path: "/operator/orgs/{org}/members", status: http.StatusOK,
		handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			members, err := s.cfg.Operator.Members(ctx, org)
			list := dataOf[member]{Data: make([]member, 0, len(members))}
			for _, m := range members {
				list.Data = append(list.Data, memberOf(m))
			}
			return list, err
		},
	},
	{
		Method: http.MethodDelete, Path: "/operator/orgs/{org}/members/{user}", status: http.StatusNoContent,
		handle: func(ctx context.Context, s *server, path gin.Params, _ any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			user, err := pb.ParseUserID(path.ByName("user"))
			if err != nil {
				return nil, errNoUser
			}
			return nil, s.cfg.Operator.RemoveMember(ctx, org, user)
		},
	},
	{
		Method: http.MethodPost, Path: "/operator/orgs/{org}/keys", status: http.StatusCreated,
		Body: reflect.TypeFor[operatorKeyBody](),
		handle: func(ctx context.Context, s *server, path gin.Params, body any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			in := body.(*operatorKeyBody)
			user, err := pb.ParseUserID(in.UserID)
			if err != nil {
				return nil, errNoUser
			}
			key, err := s.cfg.Operator.CreateKey(ctx, account.NewKey{Org: org, User: user, Scopes: in.Scopes, Label: in.Label})
			return createdKey{key.APIKey, key.Key.String(), key.Label}, err
		},
	},
	{
		Method: http.MethodPost, Path: "/operator/orgs/{org}/restore", status: http.StatusOK, Raw: true,
		handle: func(ctx context.Context, s *server, path gin.Params, body any) (any, error) {
			org, err := orgParam(path)
			if err != nil {
				return nil, err
			}
			return s.cfg.Operator.Restore(ctx, org, body.([]byte))
		},
	},
	{
		Method: http.MethodGet, Path: "/operator/doctor", status: http.StatusOK,
		handle: func(ctx context.Context, s *server, _ gin.Params, _ any) (any, error) {
			var d Doctor
			if s.cfg.Doctor != nil {
				d = s.cfg.Doctor(ctx)
			}
			return doctorReport(d), nil
		},
	},
}

// problemError lets a handler answer a problem of the catalogue.
type problemError struct{ problem *pb.Problem }

func (e problemError) Error() string        { return e.problem.GetCode() }
func (e problemError) Problem() *pb.Problem { return e.problem }

type health struct {
	Status string `json:"status"`
}

// newOrgBody leaves the values to actors, which refuses what it cannot take;
// here only the types are settled.
type newOrgBody struct {
	Name       string `json:"name" blank:"false" maxLength:"200"`
	OwnerEmail string `json:"ownerEmail" blank:"false" maxLength:"320"`
	Personal   bool   `json:"personal,omitempty"`
	Plan       string `json:"plan,omitempty" enum:"free,standard,scale,unlimited"`
}

type planBody struct {
	Plan string `json:"plan" enum:"free,standard,scale,unlimited"`
}

type memberBody struct {
	Email string `json:"email" blank:"false" maxLength:"320"`
	Role  string `json:"role" enum:"owner,admin,member"`
}

type operatorKeyBody struct {
	UserID string   `json:"userId"`
	Scopes []string `json:"scopes" minItems:"1" maxItems:"16" enum:"read,write,admin,graph:write,memory:forget,subjects:provision,usage:read"`
	Label  string   `json:"label" blank:"false" maxLength:"200"`
}

type createdOrg struct {
	OrgID  string `json:"orgId"`
	Slug   string `json:"slug"`
	UserID string `json:"userId"`
	APIKey string `json:"apiKey"`
	KeyID  string `json:"keyId"`
}

type createdKey struct {
	APIKey string `json:"apiKey"`
	ID     string `json:"id"`
	Label  string `json:"label"`
}

type dataOf[T any] struct {
	Data []T `json:"data"`
}

// defaultOrgPage is what a page of organizations holds when nobody names a size.
const defaultOrgPage = 100

// orgList is a page of organizations; what is in them, the operator asks one by
// one.
type orgList struct {
	dataOf[orgEntry]
	NextCursor string `json:"nextCursor,omitempty"`
}

type orgEntry struct {
	OrgID     string         `json:"orgId"`
	Name      string         `json:"name"`
	Slug      string         `json:"slug"`
	CreatedAt wire.Timestamp `json:"createdAt"`
	// OutOfService says what of it is damaged on this node.
	OutOfService string `json:"outOfService,omitempty"`
}

type orgInfo struct {
	OrgID     string         `json:"orgId"`
	Name      string         `json:"name"`
	Slug      string         `json:"slug"`
	Personal  bool           `json:"personal"`
	Plan      string         `json:"plan"`
	CreatedAt wire.Timestamp `json:"createdAt"`
	Members   int            `json:"members"`
	Subjects  int            `json:"subjects"`
	// OutOfService says what of it is damaged; plan, members and subjects are not known
	// then.
	OutOfService string `json:"outOfService,omitempty"`
}

func orgInfoOf(o account.OrgInfo) orgInfo {
	return orgInfo{
		OrgID: o.Org.String(), Name: o.Name, Slug: o.Slug, Personal: o.Personal, Plan: o.Plan,
		CreatedAt: wire.Timestamp(clock.Millis(o.Created)), Members: o.Members, Subjects: o.Subjects,
		OutOfService: o.OutOfService,
	}
}

type member struct {
	UserID    string         `json:"userId"`
	Email     string         `json:"email"`
	Role      string         `json:"role"`
	CreatedAt wire.Timestamp `json:"createdAt"`
}

func memberOf(m tenant.MemberInfo) member {
	return member{m.User.String(), m.Email, m.Role, wire.Timestamp(clock.Millis(m.Created))}
}

type doctorJSON struct {
	Version string        `json:"version"`
	Config  []settingJSON `json:"config"`
	Checks  []checkJSON   `json:"checks"`
}

type settingJSON struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Origin string `json:"origin"`
}

type checkJSON struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
}

func doctorReport(d Doctor) doctorJSON {
	out := doctorJSON{Version: d.Version}
	for _, s := range d.Config {
		out.Config = append(out.Config, settingJSON(s))
	}
	for _, c := range d.Checks {
		out.Checks = append(out.Checks, checkJSON(c))
	}
	return out
}
