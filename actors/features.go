package actors

// featuresOf is the table of a node's features, in the order in which they resume. The exports
// come before the jobs: an export that is written while its partition is erased must not write its job again.
func featuresOf(s *System) ([]feature, error) {
	cfg := &s.cfg
	webhooks, err := newWebhookFeature(cfg)
	if err != nil {
		return nil, err
	}
	return []feature{
		plainFeature(func(o *orgActor) module { return newAccountModule(o) }),
		newExportFeature(cfg),
		plainFeature(func(o *orgActor) module { return &jobModule{orgActor: o} }),
		plainFeature(func(o *orgActor) module { return &intakeModule{orgActor: o} }),
		plainFeature(func(o *orgActor) module { return &graphModule{orgActor: o} }),
		plainFeature(func(o *orgActor) module { return &upkeepModule{orgActor: o} }),
		plainFeature(func(o *orgActor) module { return &cognitionModule{orgActor: o} }),
		newSearchNode(s),
		plainFeature(func(o *orgActor) module { return &usageModule{orgActor: o} }),
		plainFeature(func(o *orgActor) module { return &purgeModule{orgActor: o} }),
		plainFeature(func(o *orgActor) module { return &trainingModule{orgActor: o} }),
		webhooks,
		newConnectorFeature(),
	}, nil
}
