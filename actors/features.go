package actors

// modulesOf is the table of an organization's features, in the order in which they resume. The exports
// come before the jobs: an export that is written while its partition is erased must not write its job again.
func modulesOf(o *orgActor) []module {
	return []module{
		&accountModule{orgActor: o},
		newExportModule(o),
		&jobModule{orgActor: o},
		&intakeModule{orgActor: o},
		&graphModule{orgActor: o},
		&cognitionModule{orgActor: o},
		&recallModule{orgActor: o},
		&usageModule{orgActor: o},
		&purgeModule{orgActor: o},
		&trainingModule{orgActor: o},
		newWebhookModule(o),
		&connectorModule{orgActor: o},
	}
}
