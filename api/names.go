package api

import (
	"orgmem/api/operator"
	"orgmem/api/web"
)

type (
	// Asker carries an envelope to its organization's actor and waits for the answer.
	Asker = web.Asker
	// TLSFiles names a PEM certificate chain and its key.
	TLSFiles = web.TLSFiles
	// AccessLog says which requests get a line in the log.
	AccessLog = web.AccessLog

	// Doctor is what GET /operator/doctor reports.
	Doctor = operator.Doctor
	// Setting is one effective configuration value; secrets come masked.
	Setting = operator.Setting
	// Check is the outcome of one self-examination.
	Check = operator.Check
	// Cluster is what the operator does with the cluster that a node belongs to.
	Cluster = operator.Cluster
	// JoinToken lets one machine join.
	JoinToken = operator.JoinToken
	// Rotation is how far a rotation of the certificate authority is.
	Rotation = operator.Rotation
)

const (
	// LogProblems (the default) logs answers of status 400 and above and those
	// slower than Config.SlowRequest.
	LogProblems = web.LogProblems
	// LogAll logs every request.
	LogAll = web.LogAll
)
