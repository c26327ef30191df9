package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var usageRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/usage", ID: "getUsage", Tag: tagUsage,
		Summary: "What was used",
		Description: "Read units and embedding tokens of the whole organization, in buckets: UTC hours for a range of up " +
			"to 7 days, UTC days beyond. " +
			"A bucket that the range touches is answered whole; one in which nothing was used is left out. " +
			"All that was answered before this request is in it. The sandbox is not metered.",
		Scope: pb.ScopeUsage, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *usageInput, _ *problems.Violations) {
		// The organization judges the range: it knows what the time is.
		env.Op = dataOp(&pb.DataOp{
			Op: &pb.DataOp_GetUsage{GetUsage: &pb.GetUsage{StartMs: in.Start.Ms, EndMs: in.End.Ms, GroupBy: in.GroupBy}},
		})
	}, func(reply *pb.Reply) (usageReport, bool) {
		report := reply.GetData().GetUsage()
		out := usageReport{Buckets: make([]usageBucket, 0, len(report.GetBuckets()))}
		for _, b := range report.GetBuckets() {
			bucket := usageBucket{StartTime: wire.Timestamp(b.GetStartMs()), EndTime: wire.Timestamp(b.GetEndMs())}
			for _, g := range b.GetGroups() {
				bucket.Groups = append(bucket.Groups, usageGroup{
					Subject: g.GetSubject(), Capability: wire.OrNull(g.GetCapability()), Key: g.GetKey(),
					Units: usageUnits{g.GetReadUnits(), g.GetEmbedTokens()},
				})
			}
			out.Buckets = append(out.Buckets, bucket)
		}
		return out, report != nil
	}),
}

type usageInput struct {
	Start   moment `query:"startTime" doc:"Begin of the range; by default 7 days before its end."`
	End     moment `query:"endTime" doc:"End of the range, at most 92 days behind its begin; by default now."`
	GroupBy string `query:"groupBy" enum:"subject,capability,key" doc:"@usageInput.groupBy"`
}

// moment is an instant in a query.
type moment struct{ wire.Instant }

// FromText implements web.FromText.
func (m *moment) FromText(text string) *pb.Problem {
	if message := m.Parse(text); message != "" {
		return problems.Newf(pb.CodeValidation, "%s", message)
	}
	return nil
}

// Schema implements huma.SchemaProvider.
func (moment) Schema(r huma.Registry) *huma.Schema { return wire.Instant{}.Schema(r) }

type usageReport struct {
	Buckets []usageBucket `json:"buckets" doc:"The earliest first."`
}

type usageBucket struct {
	StartTime wire.Timestamp `json:"startTime"`
	EndTime   wire.Timestamp `json:"endTime"`
	Groups    []usageGroup   `json:"groups"`
}

type usageGroup struct {
	Subject    string      `json:"subject" doc:"@usageGroup.subject"`
	Capability wire.OrNull `json:"capability" doc:"@usageGroup.capability"`
	Key        string      `json:"key,omitempty" doc:"The id of the API key, when grouped by key."`
	Units      usageUnits  `json:"units"`
}

type usageUnits struct {
	ReadUnits   uint64 `json:"readUnits"`
	EmbedTokens uint64 `json:"embedTokens"`
}
