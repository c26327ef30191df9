package actors

import (
	"orgmem/actors/account"
	"orgmem/actors/cognition"
	"orgmem/actors/connector"
	"orgmem/actors/export"
	"orgmem/actors/graph"
	"orgmem/actors/moving"
	"orgmem/actors/quality"
	"orgmem/actors/search"
	"orgmem/actors/subject"
	"orgmem/actors/tenant"
	"orgmem/actors/training"
	"orgmem/actors/webhook"
)

// featuresOf is the table of a node's features, in the order in which they resume. The exports
// come before the jobs: an export that is written while its partition is erased must not write its job again.
func featuresOf(s *tenant.System) ([]tenant.Feature, error) {
	cfg := &s.Config
	webhooks, err := webhook.New(cfg)
	if err != nil {
		return nil, err
	}
	return []tenant.Feature{
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return account.NewKeys(o) }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &account.Members{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &account.Profile{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &account.Trail{Org: o} }),
		export.New(cfg),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &tenant.JobModule{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &subject.Intake{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &graph.Module{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &subject.Upkeep{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &cognition.Module{Org: o} }),
		search.New(s),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &account.Usage{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &account.Purges{Org: o} }),
		tenant.PlainFeature(func(o *tenant.Org) tenant.Module { return &training.Module{Org: o} }),
		webhooks,
		connector.New(),
		moving.New(s),
		quality.New(cfg),
	}, nil
}
