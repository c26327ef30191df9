package web

import (
	"net/http"
	"strconv"

	"orgmem/proto/tracing"
)

// traced begins the span of a request under the span of its caller.
func (ex *Exchange) traced() {
	ex.span = ex.edge.Cfg.Tracer.Server(ex.R.Header, ex.start, ex.meter.method, ex.meter.pattern)
}

// InTrace has a request that is made for this one go on in its trace.
func (ex *Exchange) InTrace(h http.Header) { ex.span.Headers(h, nil) }

// endSpan ends the request's span and returns the trace's id; "": nobody records it.
func (ex *Exchange) endSpan() string {
	s := ex.span
	defer s.End()
	if !s.Recorded() {
		return ""
	}
	s.Word(tracing.AttributeMethod, ex.meter.method)
	s.Word(tracing.AttributeRoute, ex.meter.pattern)
	s.Int(tracing.AttributeStatus, ex.status)
	s.Int(tracing.AttributeBytesIn, ex.bytesIn)
	s.Int(tracing.AttributeBytesOut, ex.bytesOut)
	if ex.route != nil {
		s.Word(tracing.AttributeOperation, ex.route.Memory)
	}
	if org, known := ex.org(); known {
		s.Org(org)
	}
	// What a caller has done wrong is no failure of ours, and the code tells it all the same.
	if ex.status >= http.StatusInternalServerError {
		kind := ex.code
		if kind == "" {
			kind = strconv.Itoa(ex.status)
		}
		s.Fail(kind)
	} else {
		s.Word(tracing.AttributeError, ex.code)
	}
	return s.TraceID()
}
