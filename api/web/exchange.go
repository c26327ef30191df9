package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json"

	"orgmem/api/problems"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
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
	span      tracing.Span // of nobody: it is not traced
	course
	body
	outcome
}

// course is when a request of the table got where, for those that were slow.
type course struct {
	asked, told time.Time     // its organization was asked, and has answered
	waited      time.Duration // of that in the organization's mailbox
	server      string        // the other node that answered
}

// handler serves one row of the table.
func (e *Edge) handler(r *Route) gin.HandlerFunc {
	return func(c *gin.Context) {
		ex := e.Begin(c.Writer, c.Request, r, r.meter)
		defer ex.End()
		ex.traced()
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
	ex.asked = ex.edge.Cfg.Clock.Now()
	env.DeadlineMs = ex.asked.Add(ex.edge.Cfg.RequestTimeout).UnixMilli()
	env.Trace = ex.span.Context()
	ex.edge.Cfg.Tracer.Tell(env.GetTrace(), tracing.StepReceive, ex.start)
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
	ex.told = ex.edge.Cfg.Clock.Now()
	ex.waited, ex.server = time.Duration(reply.GetWaitedMs())*time.Millisecond, reply.GetServer()
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

// Budget bounds the bytes of all bodies under way on the node.
type Budget struct {
	limit int64
	used  atomic.Int64
}

// Take draws bytes, unless that would be more than the limit.
func (b *Budget) Take(n int64) bool {
	if b.used.Add(n) > b.limit {
		b.used.Add(-n)
		return false
	}
	return true
}

// Give gives bytes back.
func (b *Budget) Give(n int64) { b.used.Add(-n) }

// Held is how many bytes are drawn.
func (b *Budget) Held() int64 { return b.used.Load() }

var bodyBuffers = sync.Pool{New: func() any { return new([]byte) }}

// errOverBudget means that the node holds as many bytes of bodies as it may.
var errOverBudget = errors.New("too many bytes of bodies under way")

// errTooLarge means that a body is longer than its route takes.
var errTooLarge = errors.New("too large")

// body is the body of a request, while it is under way.
type body struct {
	Body   []byte  // once it was read
	pooled *[]byte // its buffer, if it came from the pool
	held   int64   // bytes drawn from the node's budgets
	cut    bool    // it was not read to its end
	upload bool    // it draws from the budget of uploads, too
}

// ReadBody reads the whole body into the exchange. The problem is the client's
// fault; errOverBudget is ours.
func (ex *Exchange) ReadBody(limit int64) (*pb.Problem, error) {
	r := ex.R
	if r.ContentLength > limit {
		return tooLarge(limit), nil
	}
	if r.ContentLength == 0 || r.Body == nil || r.Body == http.NoBody {
		return nil, nil
	}
	late := startIOTimer(ex.edge.Cfg.Clock, ex.edge.Cfg.BodyTimeout, http.NewResponseController(ex.W).SetReadDeadline)
	defer late.stop()
	defer func() {
		ex.bytesIn = len(ex.Body)
		ex.edge.metrics.bodyBytes.Add(float64(ex.bytesIn))
	}()
	switch err := ex.read(r, limit, ex.edge); {
	case err == nil:
		return nil, nil
	case errors.Is(err, errTooLarge):
		return tooLarge(limit), nil
	case errors.Is(err, errOverBudget):
		return nil, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		ex.cut = true
		ex.W.Header()["Connection"] = closeConnection
		return problems.New(pb.CodeRequestTimeout), nil
	default:
		ex.cut = true
		return problems.Newf(pb.CodeMalformed, "The body could not be read to its end."), nil
	}
}

func tooLarge(limit int64) *pb.Problem {
	return problems.Newf(pb.CodePayloadTooLarge, "The body is larger than the %d bytes that this route accepts.", limit)
}

// read reads the whole body. Its errors are errOverBudget, errTooLarge and those of the
// connection.
func (b *body) read(r *http.Request, limit int64, e *Edge) error {
	b.pooled = bodyBuffers.Get().(*[]byte)
	buf := (*b.pooled)[:0]
	defer func() { *b.pooled, b.Body = buf, buf }()
	step := int64(FirstBodyStep)
	for {
		if int64(len(buf)) == b.held {
			more := step
			if r.ContentLength > 0 {
				more = min(more, r.ContentLength-b.held)
			}
			if !b.draw(more, e) {
				return errOverBudget
			}
			step = min(2*step, bodyStep)
		}
		if int64(cap(buf)) < b.held {
			size := max(b.held, min(2*int64(cap(buf)), limit+1))
			if all := r.ContentLength; int64(len(buf)) >= all/trustedPart {
				size = max(size, all)
			}
			grown := make([]byte, len(buf), size)
			copy(grown, buf)
			buf = grown
		}
		n, err := r.Body.Read(buf[len(buf):min(b.held, int64(cap(buf)))])
		buf = buf[:len(buf)+n]
		switch {
		case int64(len(buf)) > limit:
			return errTooLarge
		case err == io.EOF, r.ContentLength > 0 && int64(len(buf)) == r.ContentLength:
			return nil
		case err != nil:
			return err // ReadBody tells it apart
		}
	}
}

// draw takes bytes from the budgets that the body belongs to.
func (b *body) draw(n int64, e *Edge) bool {
	if b.upload && !e.Uploads.Take(n) {
		return false
	}
	if !e.Bodies.Take(n) {
		if b.upload {
			e.Uploads.Give(n)
		}
		return false
	}
	b.held += n
	return true
}

// release gives the body's bytes back. Nothing of the request points into
// them: decoding copies. The file of a form may, of a body that is too large to be
// used again.
func (b *body) release(e *Edge) {
	e.Bodies.Give(b.held)
	if b.upload {
		e.Uploads.Give(b.held)
	}
	if b.pooled == nil {
		return
	}
	if cap(*b.pooled) <= maxPooledBuffer {
		bodyBuffers.Put(b.pooled)
	}
	b.pooled, b.Body, b.held = nil, nil, 0
}

// ioTimer makes a read or a write fail once the injected clock says that time is
// up: it puts the connection's own deadline into the past.
type ioTimer struct {
	timer    clock.Timer
	deadline func(time.Time) error

	mu    sync.Mutex
	ended bool // guarded by mu: a timer that fires late must not touch what comes next
	fired bool // guarded by mu
}

func startIOTimer(c clock.Clock, after time.Duration, deadline func(time.Time) error) *ioTimer {
	t := &ioTimer{deadline: deadline}
	t.timer = c.AfterFunc(after, t.fire)
	return t
}

func (t *ioTimer) fire() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended {
		t.fired = true
		_ = t.deadline(time.Unix(1, 0)) // not supported: the server's own time-outs hold
	}
}

func (t *ioTimer) stop() {
	t.timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ended = true
	if t.fired {
		_ = t.deadline(time.Time{})
	}
}

var closeConnection = []string{"close"}

// Header values that never change are shared: net/http copies what it keeps.
var (
	ContentJSON    = []string{"application/json"}
	contentProblem = []string{"application/problem+json"}
	headerTrue     = []string{"true"}
	headerBearer   = []string{`Bearer realm="orgmem"`}
	noStore        = []string{"no-store"} // every answer is about somebody's memory
	noSniff        = []string{"nosniff"}
)

// ErrUnexpectedReply means that an actor answered another operation's result,
// or a status that the route's row does not list.
var ErrUnexpectedReply = errors.New("the actor's reply does not fit the route")

// autoLength is the longest body whose Content-Length net/http sets by itself.
const autoLength = 2048

var outBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// WriteJSON encodes an answer before its first byte is sent, so that what
// cannot be encoded is a clean 500.
func (ex *Exchange) WriteJSON(status int, contentType []string, value any) {
	out := outBuffers.Get().(*bytes.Buffer)
	defer func() {
		if out.Cap() <= maxPooledBuffer {
			out.Reset()
			outBuffers.Put(out)
		}
	}()
	if err := wire.Encode(out, value); err != nil {
		ex.Err = err
		if contentType[0] == contentProblem[0] {
			ex.Write(http.StatusInternalServerError, contentType, nil) // a problem is plain text: this cannot happen
			return
		}
		out.Reset()
		e, body := ex.edge.problemJSON(problems.New(pb.CodeInternal), ex.requestID)
		ex.code, status, contentType = e.Code, e.Status, contentProblem
		if err := json.MarshalWrite(out, body, wire.Options); err != nil {
			ex.Err = errors.Join(ex.Err, err)
		}
	}
	ex.Write(status, contentType, out.Bytes())
}

// Write sends the answer. A client that does not take it has left, and nobody
// else waits for it.
func (ex *Exchange) Write(status int, contentType []string, body []byte) {
	h := ex.W.Header()
	ex.commonHeaders(h)
	if contentType != nil {
		h["Content-Type"] = contentType
	}
	if len(body) > autoLength {
		h["Content-Length"] = []string{strconv.Itoa(len(body))}
	}
	ex.sent(status, len(body))
	ex.W.WriteHeader(status)
	if len(body) > 0 {
		_, _ = ex.W.Write(body)
	}
}

// commonHeaders stand on every answer.
func (ex *Exchange) commonHeaders(h http.Header) {
	h[HeaderRequestID] = []string{ex.requestID}
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = noSniff
}

// End closes an exchange: it turns a panic into a 500, gives back what was
// held, and counts and logs the request. The function that began the exchange defers it
// first.
func (ex *Exchange) End() {
	if p := recover(); p != nil {
		if p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
			ex.finish()
			panic(p) //nolint:forbidigo // net/http's own way to cut a connection is passed on
		}
		ex.Err, ex.stack = panicError{p}, debug.Stack()
		if !ex.answered {
			ex.Refuse(problems.New(pb.CodeInternal), nil)
		}
	}
	ex.finish()
}

func (ex *Exchange) finish() {
	ex.release(ex.edge)
	ex.edge.metrics.inFlight.Dec()
	took := ex.edge.Cfg.Clock.Now().Sub(ex.start)
	trace := ex.endSpan()
	ex.meter.observe(ex.status, took, trace)
	ex.log(took, trace)
	ex.remember(took, trace)
}
