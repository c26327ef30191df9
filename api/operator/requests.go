package operator

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

// requestRoutes tell of the requests that this node was asked.
var requestRoutes = []Route{{
	Method: http.MethodGet, Path: "/operator/requests/slow", status: http.StatusOK,
	handle: func(_ context.Context, s *server, _ gin.Params, _ any) (any, error) {
		remembered, total := s.edge.SlowRequests()
		out := slowList{
			Node: s.cfg.Node.ID, NodeName: s.cfg.Node.Name, Total: total,
			ThresholdMs: s.edge.Cfg.SlowRequest.Milliseconds(), Data: make([]slowRequest, 0, len(remembered)),
		}
		for _, r := range remembered {
			one := slowRequest{
				At: wire.Timestamp(clock.Millis(r.Begun)), RequestID: r.RequestID, TraceID: r.TraceID,
				Method: r.Method, Route: r.Route, Status: r.Status, Code: r.Code, Node: r.Server, DurationMs: r.Took.Milliseconds(),
				ReceiveMs: r.Received.Milliseconds(), WaitMs: r.Waited.Milliseconds(), WorkMs: r.Worked.Milliseconds(),
				BytesIn: r.BytesIn, BytesOut: r.BytesOut,
			}
			one.SendMs = max(one.DurationMs-one.ReceiveMs-one.WaitMs-one.WorkMs, 0)
			if r.Org != (pb.OrgID{}) {
				one.OrgID = r.Org.String()
			}
			out.Data = append(out.Data, one)
		}
		return out, nil
	},
}}

// slowList is what this node remembers of slow requests, latest first. Each node tells of
// those that it was asked, whichever node answered them.
type slowList struct {
	Node        string        `json:"node"` // its id; empty: it is alone
	NodeName    string        `json:"nodeName"`
	ThresholdMs int64         `json:"thresholdMs"`
	Total       uint64        `json:"total"` // since the start, also those that are forgotten
	Data        []slowRequest `json:"data"`
}

// slowRequest is one of them. Large because each field is one of the answer's.
type slowRequest struct {
	At         wire.Timestamp `json:"at"` // it came
	RequestID  string         `json:"requestId"`
	TraceID    string         `json:"traceId,omitempty"` // where it was recorded
	Method     string         `json:"method"`
	Route      string         `json:"route"`
	Status     int            `json:"status"`
	Code       string         `json:"code,omitempty"`
	OrgID      string         `json:"orgId,omitempty"`
	Node       string         `json:"node,omitempty"` // the other node that answered it
	DurationMs int64          `json:"durationMs"`
	// The parts of the duration: the body came and was checked, it waited in the
	// organization's mailbox, it was worked on, its answer was sent.
	ReceiveMs int64 `json:"receiveMs"`
	WaitMs    int64 `json:"waitMs"`
	WorkMs    int64 `json:"workMs"`
	SendMs    int64 `json:"sendMs"`
	BytesIn   int   `json:"bytesIn"`
	BytesOut  int   `json:"bytesOut"`
}
