package api

// The problem codes that routes name. Package problems has the catalogue of all.
const (
	codeMalformed          = CodeMalformed
	codeInvalidCursor      = CodeInvalidCursor
	codeAuthentication     = CodeAuthentication
	codePermission         = CodePermission
	codeSubjectRefused     = CodeSubjectRefused
	codeNotProvisioned     = CodeNotProvisioned
	codeNotFound           = CodeNotFound
	codeKeyNotFound        = CodeKeyNotFound
	codeSubjectNotFound    = CodeSubjectNotFound
	codeJobNotFound        = CodeJobNotFound
	codeNodeNotFound       = CodeNodeNotFound
	codeEdgeNotFound       = CodeEdgeNotFound
	codeDomainNotFound     = CodeDomainNotFound
	codeUserNotFound       = CodeUserNotFound
	codeOrgNotFound        = CodeOrgNotFound
	codeMethod             = CodeMethod
	codeRequestTimeout     = CodeRequestTimeout
	codeLastOwner          = CodeLastOwner
	codeNotCancellable     = CodeNotCancellable
	codeAlreadySuperseded  = CodeAlreadySuperseded
	codePreconditionFailed = CodePreconditionFailed
	codeUndeletePassed     = CodeUndeletePassed
	codeNodeNotForgotten   = CodeNodeNotForgotten
	codeIdemInProgress     = CodeIdemInProgress
	codeConflict           = CodeConflict
	codeTooLarge           = CodeTooLarge
	codeMediaType          = CodeMediaType
	codeValidation         = CodeValidation
	codeIdemReused         = CodeIdemReused
	codeRateLimit          = CodeRateLimit
	codeTooManyStreams     = CodeTooManyStreams
	codeWebhookNotFound    = CodeWebhookNotFound
	codeWebhookLimit       = CodeWebhookLimit
	codeConnectorLimit     = CodeConnectorLimit
	codeConnectorNotFound  = CodeConnectorNotFound
	codeSessionNotFound    = CodeSessionNotFound
	codeExportNotFound     = CodeExportNotFound
	codeExportNotReady     = CodeExportNotReady
	codeRange              = CodeRange
	codePurgeChanged       = CodePurgeChanged
	codeConfirmToken       = CodeConfirmToken
	codeHeadersTooLarge    = CodeHeadersTooLarge
	codeInternal           = CodeInternal
	codeDegraded           = CodeDegraded
	codeDraining           = CodeDraining
)

// The codes of what is derived.
const (
	codePaginationUnsupported = CodePaginationUnsupported
	codeRecallTypeNotFound    = CodeRecallTypeNotFound
	codeProposalNotFound      = CodeProposalNotFound
	codeProposalDecided       = CodeProposalDecided
	codeBrainNotTrained       = CodeBrainNotTrained
	codeBrainNotReady         = CodeBrainNotReady
	codeTrainInProgress       = CodeTrainInProgress
)
