package api

import "orgmem/api/problems"

// The problem codes that routes name. Package problems has the catalogue of all.
const (
	codeMalformed          = problems.CodeMalformed
	codeInvalidCursor      = problems.CodeInvalidCursor
	codeAuthentication     = problems.CodeAuthentication
	codePermission         = problems.CodePermission
	codeSubjectRefused     = problems.CodeSubjectRefused
	codeNotProvisioned     = problems.CodeNotProvisioned
	codeNotFound           = problems.CodeNotFound
	codeKeyNotFound        = problems.CodeKeyNotFound
	codeSubjectNotFound    = problems.CodeSubjectNotFound
	codeJobNotFound        = problems.CodeJobNotFound
	codeNodeNotFound       = problems.CodeNodeNotFound
	codeEdgeNotFound       = problems.CodeEdgeNotFound
	codeDomainNotFound     = problems.CodeDomainNotFound
	codeUserNotFound       = problems.CodeUserNotFound
	codeOrgNotFound        = problems.CodeOrgNotFound
	codeMethod             = problems.CodeMethod
	codeRequestTimeout     = problems.CodeRequestTimeout
	codeLastOwner          = problems.CodeLastOwner
	codeNotCancellable     = problems.CodeNotCancellable
	codeAlreadySuperseded  = problems.CodeAlreadySuperseded
	codePreconditionFailed = problems.CodePreconditionFailed
	codeUndeletePassed     = problems.CodeUndeletePassed
	codeNodeNotForgotten   = problems.CodeNodeNotForgotten
	codeIdemInProgress     = problems.CodeIdemInProgress
	codeConflict           = problems.CodeConflict
	codeTooLarge           = problems.CodeTooLarge
	codeMediaType          = problems.CodeMediaType
	codeValidation         = problems.CodeValidation
	codeIdemReused         = problems.CodeIdemReused
	codeRateLimit          = problems.CodeRateLimit
	codeTooManyStreams     = problems.CodeTooManyStreams
	codeWebhookNotFound    = problems.CodeWebhookNotFound
	codeWebhookLimit       = problems.CodeWebhookLimit
	codeConnectorLimit     = problems.CodeConnectorLimit
	codeConnectorNotFound  = problems.CodeConnectorNotFound
	codeSessionNotFound    = problems.CodeSessionNotFound
	codeExportNotFound     = problems.CodeExportNotFound
	codeExportNotReady     = problems.CodeExportNotReady
	codeRange              = problems.CodeRange
	codePurgeChanged       = problems.CodePurgeChanged
	codeConfirmToken       = problems.CodeConfirmToken
	codeHeadersTooLarge    = problems.CodeHeadersTooLarge
	codeInternal           = problems.CodeInternal
	codeDegraded           = problems.CodeDegraded
	codeDraining           = problems.CodeDraining
)

// The codes of what is derived.
const (
	codePaginationUnsupported = problems.CodePaginationUnsupported
	codeRecallTypeNotFound    = problems.CodeRecallTypeNotFound
	codeProposalNotFound      = problems.CodeProposalNotFound
	codeProposalDecided       = problems.CodeProposalDecided
	codeBrainNotTrained       = problems.CodeBrainNotTrained
	codeBrainNotReady         = problems.CodeBrainNotReady
	codeTrainInProgress       = problems.CodeTrainInProgress
)
