package problems

import (
	"net/http"
	"sort"

	pb "orgmem/proto"
)

// Entry is what the catalogue knows about a code. From it come the problem
// bodies, the pages under /docs/errors, the OpenAPI document and the tests.
type Entry struct {
	Code        string
	Status      int
	Title       string
	Explanation string // the page's text, and the detail where nobody gave one
	Action      string // suggestedAction; empty: the explanation says it all
	Section     string // the section of /docs that documentationUrl names
	RetryAfter  uint32 // seconds, where the answerer gave none; 0: no header
	// Fixed answers the explanation whatever the answerer said, so that a
	// credential that is unknown, revoked, expired or misshapen reads the same.
	Fixed bool
}

// The sections of /docs that documentationUrl may name.
const (
	sectionAuth        = "authentication"
	sectionSubjects    = "subjects"
	sectionRates       = "rate-limits"
	sectionIdempotency = "idempotency"
	sectionPages       = "pagination"
	sectionBodies      = "bodies"
)

// Catalogue is every problem that the service answers, on both interfaces.
var Catalogue = indexCatalogue([]Entry{
	{
		Code: pb.CodeMalformed, Status: http.StatusBadRequest, Title: "Malformed request", Section: sectionBodies,
		Explanation: "The request cannot be read: its JSON is malformed, empty, not UTF-8 or names a field twice, or a " +
			"path, query or header holds a malformed escape.",
		Action: "Correct the request; sending it again unchanged will fail again.",
	},
	{
		Code: pb.CodeSubjectNotSupported, Status: http.StatusBadRequest, Title: "Subject not supported",
		Section:     sectionSubjects,
		Explanation: "This route acts for the key's owner and does not accept the X-Svc-Subject header.",
		Action:      "Send the request without X-Svc-Subject.",
	},
	{
		Code: pb.CodePaginationUnsupported, Status: http.StatusBadRequest, Title: "Pagination not supported",
		Section:     sectionPages,
		Explanation: "The recall views identity and graph are answered whole; they accept neither cursor nor pageSize.",
		Action:      "Send the request without cursor and pageSize.",
	},
	{
		Code: pb.CodeInvalidCursor, Status: http.StatusBadRequest, Title: "Invalid cursor", Section: sectionPages,
		Explanation: "The cursor was changed, or belongs to another list, filter, partition or organization.",
		Action:      "Start again without a cursor.",
	},
	{
		Code: pb.CodeAuthentication, Status: http.StatusUnauthorized, Title: "Authentication failed",
		Section: sectionAuth, Fixed: true,
		Explanation: "The credential is missing or not valid.",
		Action:      "Send a valid API key in X-Svc-API-Key, or as a bearer token in Authorization.",
	},
	{
		Code: pb.CodePermissionDenied, Status: http.StatusForbidden, Title: "Permission denied", Section: sectionAuth,
		Explanation: "The API key does not hold the scope that this request needs, or may not act for the subject it names.",
	},
	{
		Code: pb.CodeSubjectNotProvisioned, Status: http.StatusForbidden, Title: "Subject not provisioned",
		Section:     sectionSubjects,
		Explanation: "X-Svc-Subject names a subject that was never provisioned, or has been erased.",
		Action:      "Provision the subject first: PUT /v1/subjects/{subject_id}.",
	},
	{
		Code: pb.CodeNotFound, Status: http.StatusNotFound, Title: "Not found",
		Explanation: "There is nothing at this address.",
	},
	{
		Code: pb.CodeKeyNotFound, Status: http.StatusNotFound, Title: "Key not found",
		Explanation: "The caller has no API key with this id.",
	},
	{
		Code: pb.CodeSubjectNotFound, Status: http.StatusNotFound, Title: "Subject not found", Section: sectionSubjects,
		Explanation: "The organization has no provisioned subject with this id.",
	},
	{
		Code: pb.CodeJobNotFound, Status: http.StatusNotFound, Title: "Job not found",
		Explanation: "The caller has no job with this id.",
	},
	{
		Code: pb.CodeNodeNotFound, Status: http.StatusNotFound, Title: "Node not found",
		Explanation: "The effective subject has no live node with this id.",
	},
	{
		Code: pb.CodeEdgeNotFound, Status: http.StatusNotFound, Title: "Edge not found",
		Explanation: "The effective subject has no live edge with this id.",
	},
	{
		Code: pb.CodeDomainNotFound, Status: http.StatusNotFound, Title: "Domain not found",
		Explanation: "The effective subject has no domain with this id.",
	},
	{
		Code: pb.CodeProposalNotFound, Status: http.StatusNotFound, Title: "Proposal not found",
		Explanation: "The effective subject has no proposal with this id.",
	},
	{
		Code: pb.CodeRecallTypeNotFound, Status: http.StatusNotFound, Title: "Recall view not found",
		Explanation: "There are the recall views identity, graph, insights and temporal.",
	},
	{
		Code: pb.CodeBrainNotTrained, Status: http.StatusNotFound, Title: "Brain not trained",
		Explanation: "The organization's brain has not been trained yet.",
		Action:      "Start a training: POST /v1/brain/train.",
	},
	{
		Code: pb.CodeWebhookNotFound, Status: http.StatusNotFound, Title: "Webhook not found",
		Explanation: "The organization has no webhook endpoint with this id.",
	},
	{
		Code: pb.CodeDeliveryNotFound, Status: http.StatusNotFound, Title: "Delivery not found",
		Explanation: "The endpoint's last 50 attempts to deliver have none with this id.",
		Action:      "GET /v1/webhooks/{webhook_id} lists them.",
	},
	{
		Code: pb.CodeExportNotFound, Status: http.StatusNotFound, Title: "Export not found",
		Explanation: "The caller has no export with this id.",
	},
	{
		Code: pb.CodeConnectorNotFound, Status: http.StatusNotFound, Title: "Connector not found",
		Explanation: "The organization has no connector with this id.",
	},
	{
		Code: pb.CodeSessionNotFound, Status: http.StatusNotFound, Title: "Session not found",
		Explanation: "The effective subject has no coding session with this id.",
	},
	{
		Code: pb.CodeUserNotFound, Status: http.StatusNotFound, Title: "User not found",
		Explanation: "The organization has no member with this id.",
	},
	{
		Code: pb.CodeOrganizationNotFound, Status: http.StatusNotFound, Title: "Organization not found",
		Explanation: "No organization has this id. Only the operator interface answers this.",
	},
	{
		Code: pb.CodeMethodNotAllowed, Status: http.StatusMethodNotAllowed, Title: "Method not allowed",
		Explanation: "This address exists, but not for this method; the Allow header lists those it has.",
	},
	{
		Code: pb.CodeRequestTimeout, Status: http.StatusRequestTimeout, Title: "Request timed out", Section: sectionBodies,
		Explanation: "The body did not arrive in time.",
		Action:      "Send the request again; split it if the connection is slow.",
	},
	{
		Code: pb.CodePurgeImpactChanged, Status: http.StatusConflict, Title: "Purge impact changed",
		Explanation: "What the purge would delete has changed since the dry run; nothing was deleted.",
		Action:      "Run the dry run again and confirm what it shows.",
	},
	{
		Code: pb.CodeExportNotReady, Status: http.StatusConflict, Title: "Export not ready",
		Explanation: "An export can be downloaded while its status is succeeded: when it has been written, and before it " +
			"expires.",
	},
	{
		Code: pb.CodeWebhookLimit, Status: http.StatusConflict, Title: "Webhook limit reached",
		Explanation: "An organization has at most 20 webhook endpoints.",
	},
	{
		Code: pb.CodeConnectorLimit, Status: http.StatusConflict, Title: "Connector limit reached",
		Explanation: "A person has at most 50 connectors.",
	},
	{
		Code: pb.CodeKeyLimitReached, Status: http.StatusConflict, Title: "Key limit reached",
		Explanation: "A member has at most 1,000 keys, and a sandbox too. One that is revoked makes way for a new one, the " +
			"oldest first.",
	},
	{
		Code: pb.CodeProposalDecided, Status: http.StatusConflict, Title: "Proposal already decided",
		Explanation: "The proposal was decided the other way before; an edge that was accepted is taken back by " +
			"forgetting it.",
	},
	{
		Code: pb.CodeTrainInProgress, Status: http.StatusConflict, Title: "Training in progress", RetryAfter: 30,
		Explanation: "A training is queued or running already.",
	},
	{
		Code: pb.CodeBrainNotReady, Status: http.StatusConflict, Title: "Brain not ready", RetryAfter: 1,
		Explanation: "A brain was published a moment ago and is being loaded.",
	},
	{
		Code: pb.CodeConfirmTokenInvalid, Status: http.StatusConflict, Title: "Confirm token invalid",
		Explanation: "The confirm token is spent, expired, or belongs to another purge; this request deleted nothing.",
		Action:      "Run the dry run again.",
	},
	{
		Code: pb.CodeUndeleteWindowPassed, Status: http.StatusConflict, Title: "Undelete window passed",
		Explanation: "A forgotten node can be restored for 30 days.",
	},
	{
		Code: pb.CodeNodeNotForgotten, Status: http.StatusConflict, Title: "Node not forgotten",
		Explanation: "Only a forgotten node can be restored; this one is there.",
	},
	{
		Code: pb.CodeJobNotCancellable, Status: http.StatusConflict, Title: "Job not cancellable",
		Explanation: "The job has ended already.",
	},
	{
		Code: pb.CodeIdempotencyInProgress, Status: http.StatusConflict, Title: "Request in progress",
		Section: sectionIdempotency, RetryAfter: 1,
		Explanation: "The first request with this Idempotency-Key is still under way.",
		Action:      "Send the request again after the time in Retry-After.",
	},
	{
		Code: pb.CodeLastOwner, Status: http.StatusConflict, Title: "Last owner",
		Explanation: "The only owner of an organization cannot be removed.",
		Action:      "Make another member an owner first.",
	},
	{
		Code: pb.CodeAlreadySuperseded, Status: http.StatusConflict, Title: "Already superseded",
		Explanation: "The node has been superseded already; its supersededBy names the successor.",
	},
	{
		Code: pb.CodeConflict, Status: http.StatusConflict, Title: "Conflict",
		Explanation: "The present state forbids the change. Only the operator interface answers this.",
	},
	{
		Code: pb.CodePreconditionFailed, Status: http.StatusPreconditionFailed, Title: "Precondition failed",
		Explanation: "The record has changed since the version that If-Match names.",
		Action:      "Read the record again and repeat the edit on what it says now.",
	},
	{
		Code: pb.CodePayloadTooLarge, Status: http.StatusRequestEntityTooLarge, Title: "Payload too large",
		Section:     sectionBodies,
		Explanation: "The body is larger than this route accepts.",
		Action:      "Split the request.",
	},
	{
		Code: pb.CodeUnsupportedMediaType, Status: http.StatusUnsupportedMediaType, Title: "Unsupported media type",
		Section: sectionBodies,
		Explanation: "This route takes application/json in UTF-8, the import routes multipart/form-data, without content " +
			"encoding.",
	},
	{
		Code: pb.CodeRange, Status: http.StatusRequestedRangeNotSatisfiable, Title: "Range not satisfiable",
		Explanation: "The Range header asks for a part behind the end of the document; Content-Range tells its length.",
	},
	{
		Code: pb.CodeValidation, Status: http.StatusUnprocessableEntity, Title: "Validation failed", Section: sectionBodies,
		Explanation: "Some fields of the request are not valid; errors lists them.",
	},
	{
		Code: pb.CodeIdempotencyKeyReused, Status: http.StatusUnprocessableEntity, Title: "Idempotency key reused",
		Section:     sectionIdempotency,
		Explanation: "This Idempotency-Key was sent before with another body.",
		Action:      "Use one key per intent, and the same body with it.",
	},
	{
		Code: pb.CodeRateLimit, Status: http.StatusTooManyRequests, Title: "Rate limit exceeded", Section: sectionRates,
		Explanation: "The API key has spent its budget for this family of routes.",
		Action:      "Send the request again after the time in Retry-After.",
	},
	{
		Code: pb.CodeTooManyStreams, Status: http.StatusTooManyRequests, Title: "Too many streams", RetryAfter: 15,
		Explanation: "An organization has at most 5 concurrent event streams.",
	},
	{
		Code: pb.CodeHeadersTooLarge, Status: http.StatusRequestHeaderFieldsTooLarge, Title: "Headers too large",
		Explanation: "The request line and headers exceed 32 KiB.",
	},
	{
		Code: pb.CodeInternal, Status: http.StatusInternalServerError, Title: "Internal error", Fixed: true,
		Explanation: "Something went wrong inside the service; it has been recorded under the request id.",
		Action: "Send the request again, with its Idempotency-Key if it has one; if it keeps failing, report the " +
			"request id.",
	},
	{
		Code: pb.CodeServiceDegraded, Status: http.StatusServiceUnavailable, Title: "Service degraded",
		RetryAfter:  retryBusySeconds,
		Explanation: "The service cannot do this at the moment.",
		Action:      "Send the request again after the time in Retry-After, with its Idempotency-Key if it has one.",
	},
	{
		Code: pb.CodeServiceDraining, Status: http.StatusServiceUnavailable, Title: "Service draining",
		RetryAfter:  retryDrainSeconds,
		Explanation: "This node is shutting down.",
		Action:      "Send the request again after the time in Retry-After.",
	},
})

func indexCatalogue(entries []Entry) map[string]Entry {
	m := make(map[string]Entry, len(entries))
	for _, e := range entries {
		if _, twice := m[e.Code]; twice {
			//nolint:forbidigo // the table is constant: an entry said twice is met by the first test
			panic("catalogue: two entries for " + e.Code)
		}
		m[e.Code] = e
	}
	return m
}

// Sorted lists the entries by status, then by code; nobody changes the
// list.
func Sorted() []Entry { return byStatusAndCode }

var byStatusAndCode = sortCatalogue()

func sortCatalogue() []Entry {
	list := make([]Entry, 0, len(Catalogue))
	for _, e := range Catalogue {
		list = append(list, e)
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Status != list[j].Status {
			return list[i].Status < list[j].Status
		}
		return list[i].Code < list[j].Code
	})
	return list
}
