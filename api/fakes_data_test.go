package api

import (
	"context"
	"errors"

	pb "orgmem/proto"
)

// dataSamples holds a valid body for each of the routes of proto/data.proto that
// want one.
var dataSamples = map[string]string{
	"createExport": `{"scope":"user","format":"json"}`,
	"purge":        `{"scope":"subject","subjectId":"ann"}`,
}

// fakeData answers an operation of proto/data.proto with a full record.
func fakeData(op *pb.DataOp) *pb.Reply {
	ms := testNow.UnixMilli()
	answer := func(r *pb.DataResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Data{Data: r}} }
	switch op := op.GetOp().(type) {
	case *pb.DataOp_GetUsage:
		return answer(&pb.DataResult{Result: &pb.DataResult_Usage{Usage: &pb.UsageReport{Buckets: []*pb.UsageBucket{{
			StartMs: ms, EndMs: ms + 1, Groups: []*pb.UsageGroup{
				{Subject: "ann", Capability: "search", ReadUnits: 3, EmbedTokens: 4},
			},
		}}}}})
	case *pb.DataOp_CreateExport:
		r := answer(&pb.DataResult{
			Result: &pb.DataResult_Export{
				Export: &pb.Export{Id: testJob.Bytes(), Status: "queued", Scope: "user", Format: "json", CreatedMs: ms},
			},
		})
		r.Status = 202
		return r
	case *pb.DataOp_ListExports:
		return answer(&pb.DataResult{
			Result: &pb.DataResult_Exports{Exports: &pb.ExportList{NextCursor: "next", Exports: []*pb.Export{fakeExport()}}},
		})
	case *pb.DataOp_GetExport:
		return answer(&pb.DataResult{Result: &pb.DataResult_Export{Export: fakeExport()}})
	case *pb.DataOp_DownloadExport:
		return answer(&pb.DataResult{Result: &pb.DataResult_Download{Download: fakeExport()}})
	case *pb.DataOp_Purge:
		return answer(&pb.DataResult{Result: &pb.DataResult_Purge{Purge: &pb.PurgeReport{
			Request: "r", Scope: op.Purge.GetScope(), Subject: op.Purge.GetSubject(), DryRun: true,
			Counts: map[string]uint64{"vault_nodes": 2},
			Total:  2, ConfirmToken: "t", ExpiresMs: ms,
		}}})
	}
	return fakeProblem(pb.CodeInternal)
}

// fakeDocument is what fakePieces hands out, in pieces of four bytes.
const fakeDocument = `{"format":"orgmem"}`

func fakeExport() *pb.Export {
	return &pb.Export{
		Id: testJob.Bytes(), Status: "succeeded", Scope: "org", Format: "json",
		Bytes: uint64(len(fakeDocument)), Sha256: "abc",
		CreatedMs: testNow.UnixMilli(), FinishedMs: testNow.UnixMilli(), ExpiresMs: testNow.UnixMilli(), Org: testOrg.Bytes(),
	}
}

// fakePieces fails from the piece with its number on; 0 never.
type fakePieces uint32

func (fakePieces) ExportPieceBytes() int64 { return 4 }

func (f fakePieces) ExportPiece(_ context.Context, _ *pb.Export, n uint32) ([]byte, error) {
	if f > 0 && n+1 >= uint32(f) {
		return nil, errors.New("gone")
	}
	return []byte(fakeDocument[4*n : min(4*n+4, uint32(len(fakeDocument)))]), nil
}
