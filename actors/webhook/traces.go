package webhook

import (
	"net/http"
	"strconv"

	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

// span begins an attempt in the trace of what caused the event, and has the receiver go on in it. Where the receiver is
// stays out of it: that is the tenant's.
func (c *client) span(e *pb.OutboxEvent, n uint32, header http.Header) tracing.Span {
	tracer := c.org.System.Config.Tracer
	if tracer == nil {
		return tracing.Span{}
	}
	s := tracer.Start(e.GetTrace(), tracing.StepDelivery)
	s.Headers(header, e.GetTrace())
	s.Word(tracing.AttributeMethod, http.MethodPost)
	s.Word(tracing.AttributeEvent, e.GetType())
	s.Org(c.org.ID)
	if n > 1 {
		s.Int(tracing.AttributeResend, int(n-1))
	}
	return s
}

// delivered ends an attempt with its outcome.
func delivered(s tracing.Span, d *pb.Delivery) {
	status := int(d.GetResponseStatus())
	if status > 0 {
		s.Int(tracing.AttributeStatus, status)
	}
	switch {
	case d.GetOk():
	case status > 0:
		s.Fail(strconv.Itoa(status))
	default:
		s.Fail(tracing.FailureOther)
	}
	s.End()
}
