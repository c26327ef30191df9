package web

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"orgmem/api/problems"
	pb "orgmem/proto"
)

// emptySchema is what a route without a body accepts: nothing, or {}.
var emptySchema = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false}

// Exchange is one request and its answer. What it learns on the way becomes the
// request's one line in the log.
type Exchange struct {
	W http.ResponseWriter
	R *http.Request

	edge      *Edge
	route     *Route // nil outside the table
	meter     *routeMeter
	start     time.Time
	requestID string
	body
	outcome
}

// handler serves one row of the table.
func (e *Edge) handler(r *Route) gin.HandlerFunc {
	return func(c *gin.Context) {
		ex := e.Begin(c.Writer, c.Request, r, r.meter)
		defer ex.End()
		ex.serve(c.Params)
	}
}

// Begin begins an exchange. Its End must be deferred before anything else. route is
// nil for what is not in the table.
func (e *Edge) Begin(w http.ResponseWriter, r *http.Request, route *Route, meter *routeMeter) *Exchange {
	ex := &Exchange{edge: e, W: w, R: r, route: route, meter: meter, start: e.Cfg.Clock.Now()}
	ex.upload = route != nil && route.Upload != nil
	e.metrics.inFlight.Inc()
	ex.requestID = e.RequestID(r.Header)
	return ex
}

// serve decides a request as far as it can without the organization. What it finds
// wrong once the credential has the right shape travels to the organization's actor all
// the same, as a Rejected operation, so that 401, 429 and 403 come first and a refused
// caller still pays.
func (ex *Exchange) serve(path gin.Params) {
	if ex.edge.IsDraining() {
		ex.Refuse(problems.New(pb.CodeServiceDraining), nil)
		return
	}
	key, ok := credential(ex.R.Header)
	if !ok {
		ex.Refuse(problems.New(pb.CodeAuthentication), nil)
		return
	}
	ex.key = key
	r := ex.route
	env := &pb.Envelope{
		KeyHash:     key[:],
		Route:       r.ID,
		Family:      r.Family,
		Scope:       r.Scope,
		SubjectMode: r.Subject,
		Capability:  r.Capability,
		RequestId:   ex.requestID,
		Method:      r.Method,
		Path:        ex.R.URL.EscapedPath(),
	}
	problem, overload := ex.compose(env, path)
	if overload != nil {
		// Shedding must cost nothing, and no actor is to hear of it: it comes
		// before the credential is known to be good.
		ex.edge.metrics.shed.Inc()
		ex.Refuse(problems.Newf(pb.CodeServiceDegraded, "The node has as many bodies under way as it may."), nil)
		return
	}
	if problem != nil {
		env.Op = &pb.Envelope_Rejected{Rejected: &pb.Rejected{Problem: problem}}
	}
	// From here: a body has a time of its own, and may have taken all of it.
	env.DeadlineMs = ex.edge.Cfg.Clock.Now().Add(ex.edge.Cfg.RequestTimeout).UnixMilli()
	ex.ask(env)
}

// compose reads everything that the request says into the envelope. It returns
// the first problem: of the selector, the body, the parameters or the operation.
// errOverBudget is the only error.
func (ex *Exchange) compose(env *pb.Envelope, path gin.Params) (*pb.Problem, error) {
	r := ex.route
	subject, present, problem := subjectSelector(ex.R.Header)
	switch {
	case r.NoSubject:
	case present && r.Subject == pb.SubjectMode_SUBJECT_REFUSED:
		env.HasSubject = true // refused whatever it says
	case problem != nil:
		// A fault of the selector is found before the scope is looked at.
		env.Scope = ""
		return problem, nil
	default:
		env.HasSubject, env.Subject = present, subject
	}

	var errs problems.Violations
	input := r.NewInput()
	if problem, err := ex.receive(env, input, &errs); problem != nil || err != nil {
		return problem, err
	}
	if problem := r.FillParams(path, ex.R.Header, ex.R.URL.RawQuery, input.Elem(), &errs); problem != nil {
		return problem, nil
	}
	if r.body != nil && (len(ex.Body) > 0 || r.WantsBody()) {
		if problem := r.Decode(ex.Body, input, &errs); problem != nil {
			return problem, nil
		}
	}
	if !errs.Any() || r.ScopeByBody {
		r.fill(env, input.Interface(), &errs)
	}
	return errs.Refusal(), nil
}

// receive reads the body as the route takes it, if it takes one.
func (ex *Exchange) receive(env *pb.Envelope, input reflect.Value, errs *problems.Violations) (*pb.Problem, error) {
	switch {
	case ex.route.body != nil:
		return ex.receiveJSON(env, errs)
	case ex.route.Upload != nil:
		return ex.receiveForm(input.Interface().(Uploads), errs)
	}
	return nil, nil
}

// receiveJSON reads the body and, where the route replays, the idempotency key.
// They go together: without the whole body there is no hash to compare.
func (ex *Exchange) receiveJSON(env *pb.Envelope, errs *problems.Violations) (*pb.Problem, error) {
	r := ex.route
	hasBody := ex.R.ContentLength != 0
	if hasBody && !JSONContent(ex.R.Header) {
		return problems.New(pb.CodeUnsupportedMediaType), nil
	}
	if problem, err := ex.ReadBody(ex.edge.BodyLimit(r)); problem != nil || err != nil {
		return problem, err
	}
	if r.Idempotent {
		if env.IdempotencyKey = idempotencyKey(ex.R.Header, errs); env.IdempotencyKey != "" {
			sum := sha256.Sum256(ex.Body)
			env.BodyHash = sum[:]
		}
	}
	return nil, nil
}

// receiveForm reads a multipart form into a route's input.
func (ex *Exchange) receiveForm(input Uploads, errs *problems.Violations) (*pb.Problem, error) {
	boundary, ok := formBoundary(ex.R.Header)
	if !ok {
		return problems.New(pb.CodeUnsupportedMediaType), nil
	}
	if problem, err := ex.ReadBody(ex.edge.BodyLimit(ex.route)); problem != nil || err != nil {
		return problem, err
	}
	form, fileParts := input.FormParts()
	form.MaxContent = ex.edge.Cfg.MaxContent
	return readForm(ex.Body, boundary, form, fileParts, errs), nil
}

// StatusClientLeft stands in metrics and the log for a client that closed the
// connection before it was answered; nginx uses the same number.
const StatusClientLeft = 499

// ask makes the one hop and answers.
func (ex *Exchange) ask(env *pb.Envelope) {
	ctx := ex.R.Context()
	if ex.cut { // net/http takes the client for gone, who may well wait for the answer
		ctx = context.WithoutCancel(ctx)
	}
	reply, err := ex.edge.Cfg.Asker.Ask(ctx, env)
	if err != nil && ctx.Err() != nil {
		ex.sent(StatusClientLeft, 0)
		// To one who has closed only his own side, net/http would say 200 and nothing.
		panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to cut a connection
	}
	if err != nil {
		ex.RefuseError(err, AskProblem)
		return
	}
	ex.reply(reply)
}

// reply writes what the actor answered.
func (ex *Exchange) reply(reply *pb.Reply) {
	if problem := reply.GetProblem(); problem != nil {
		if reply.GetReplayed() {
			ex.W.Header()["Idempotent-Replayed"] = headerTrue
		}
		ex.Refuse(problem, reply.GetRate())
		return
	}
	r := ex.route
	if r.serve != nil {
		ex.rateHeaders(ex.W.Header(), reply.GetRate())
		if problem := r.serve(ex, reply); problem != nil {
			ex.Refuse(problem, nil)
		}
		return
	}
	output, ok := r.answer(reply)
	status := int(reply.GetStatus())
	if status == 0 {
		status = r.Status
	}
	if !ok || !r.SucceedsWith(status) {
		ex.Err = ErrUnexpectedReply
		ex.Refuse(problems.New(pb.CodeInternal), reply.GetRate())
		return
	}
	h := ex.W.Header()
	if reply.GetReplayed() {
		h["Idempotent-Replayed"] = headerTrue
	}
	if t, ok := output.(Tagged); ok && t.EntityTag() != "" {
		h["Etag"] = []string{t.EntityTag()}
	}
	ex.rateHeaders(h, reply.GetRate())
	if status == http.StatusNoContent {
		ex.Write(status, nil, nil)
		return
	}
	ex.WriteJSON(status, ContentJSON, output)
}

// Tagged is implemented by outputs that have a version.
type Tagged interface {
	// EntityTag is the quoted ETag, empty for none.
	EntityTag() string
}

// Refuse writes a problem.
func (ex *Exchange) Refuse(p *pb.Problem, rate *pb.RateLimit) {
	e, body := ex.edge.problemJSON(p, ex.requestID)
	if e.Code == pb.CodeRateLimit && p.GetDetail() == "" && ex.route != nil {
		body.Detail = "The API key has spent its budget for the family " + ex.route.Family + "."
	}
	ex.code = e.Code
	h := ex.W.Header()
	ex.rateHeaders(h, rate)
	if seconds := problems.RetryAfter(e, p, rate); seconds > 0 {
		h["Retry-After"] = []string{itoa(seconds)}
	}
	if e.Status == http.StatusUnauthorized {
		h["Www-Authenticate"] = headerBearer
	}
	ex.WriteJSON(e.Status, contentProblem, body)
}

// problemer is an error that knows its own problem; actors return one when they
// can say more than that nobody answered.
type problemer interface{ Problem() *pb.Problem }

// RefuseError writes the problem that an error is; one that is internal goes to the log.
func (ex *Exchange) RefuseError(err error, problemOf func(error) (p *pb.Problem, internal bool)) {
	problem, internal := problemOf(err)
	if internal {
		ex.Err = err
	}
	ex.Refuse(problem, nil)
}

// AskProblem says what it means that no actor answered. Every such outcome is a
// 503 that may be retried, save what the code does not recognise.
func AskProblem(err error) (p *pb.Problem, internal bool) {
	var known problemer
	switch {
	case errors.As(err, &known):
		return known.Problem(), false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return problems.Newf(pb.CodeServiceDegraded, "The request was not answered in time; its outcome is not known."), false
	}
	return problems.New(pb.CodeInternal), true
}

// problemJSON renders a problem with the addresses of this node's pages.
func (e *Edge) problemJSON(p *pb.Problem, requestID string) (problems.Entry, problems.Problem) {
	return problems.Render(e.docsURL, p, requestID)
}

// rateHeaders shows the caller's bucket in the interface's own form, which
// differs from the IETF draft's.
func (ex *Exchange) rateHeaders(h http.Header, rate *pb.RateLimit) {
	if rate == nil {
		return
	}
	var buf [128]byte
	b := append(buf[:0], "default;r="...)
	b = strconv.AppendUint(b, uint64(rate.GetRemaining()), 10)
	b = append(b, ";t="...)
	b = strconv.AppendUint(b, uint64(rate.GetResetS()), 10)
	split := len(b)
	b = append(b, "default;q="...)
	b = strconv.AppendUint(b, uint64(rate.GetQuota()), 10)
	b = append(b, ";w=60;pk="...)
	b = append(b, rate.GetPartition()...)
	both := string(b)
	values := []string{both[:split], both[split:]}
	h[HeaderRate] = values[0:1:1]
	h[HeaderRatePolicy] = values[1:2:2]
}

// SucceedsWith reports whether the row lists the status.
func (r *Route) SucceedsWith(status int) bool {
	return status == r.Status || slices.Contains(r.Statuses, status)
}

func itoa[T uint32 | int](n T) string { return strconv.FormatInt(int64(n), 10) }
