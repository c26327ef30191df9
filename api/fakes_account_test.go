package api

import pb "orgmem/proto"

// accountSamples holds a valid body for each of the routes of proto/account.proto that
// want one.
var accountSamples = map[string]string{
	"createSandboxKey": `{"label":"demo","ttlSeconds":3600}`,
	"patchSettings":    `{"qualityMode":"fast","learnModeDefault":false}`,
}

// fakeAccount answers an operation of proto/account.proto with a full record.
func fakeAccount(op *pb.AccountOp) *pb.Reply {
	ms := testNow.UnixMilli()
	hash := pb.HashKey(goodKey)
	answer := func(r *pb.AccountResult) *pb.Reply { return &pb.Reply{Result: &pb.Reply_Account{Account: r}} }
	switch op := op.GetOp().(type) {
	case *pb.AccountOp_DeleteMe, *pb.AccountOp_RevokeSandboxKey:
		return &pb.Reply{Status: 204, Result: &pb.Reply_Empty{Empty: &pb.Empty{}}}
	case *pb.AccountOp_GetTeam:
		return answer(&pb.AccountResult{Result: &pb.AccountResult_Team{Team: &pb.TeamInfo{
			Org: testOrg.Bytes(), Name: "Fig & Co", Slug: "fig-co", Members: 2, CreatedMs: ms,
		}}})
	case *pb.AccountOp_ListMembers:
		return answer(&pb.AccountResult{Result: &pb.AccountResult_Members{Members: &pb.MemberList{
			NextCursor: "next",
			Members: []*pb.Member{
				{User: testUser.Bytes(), Email: "ann@example.com", Role: "owner", CreatedMs: ms},
			},
		}}})
	case *pb.AccountOp_ListAudit:
		part := pb.PartitionID(testUser)
		return answer(&pb.AccountResult{Result: &pb.AccountResult_Audit{Audit: &pb.AuditList{
			NextCursor: "next",
			Entries: []*pb.AuditEntry{
				{Seq: 7, Actor: "key", Subject: "ann", Target: "n1", Audit: &pb.Audit{
					AtMs: ms, KeyHash: hash[:], User: testUser.Bytes(), Partition: part.Bytes(), Action: "node.forget", RequestId: "r",
				}},
				{Seq: 6, Actor: "operator", Audit: &pb.Audit{AtMs: ms, Action: "organization.create"}},
			},
		}}})
	case *pb.AccountOp_ListTeamKeys:
		return answer(&pb.AccountResult{Result: &pb.AccountResult_TeamKeys{TeamKeys: &pb.TeamKeyList{
			NextCursor: "next",
			Keys: []*pb.Key{
				{
					Hash: hash[:], User: testUser.Bytes(), Label: "demo", Status: "revoked", Scopes: []string{"read"}, CreatedMs: ms,
					LastUsedMs: ms + 1, RevokedMs: ms + 1,
				},
			},
		}}})
	case *pb.AccountOp_ListSandboxKeys:
		return answer(&pb.AccountResult{Result: &pb.AccountResult_SandboxKeys{SandboxKeys: &pb.SandboxKeyList{Keys: []*pb.Key{
			{
				Hash: hash[:], Label: "demo", Status: "active", Scopes: []string{"read", "write"}, CreatedMs: ms, ExpiresMs: ms + 1,
			},
		}}}})
	case *pb.AccountOp_CreateSandboxKey:
		key := &pb.NewSandboxKey{
			ApiKey: goodKey, Id: hash.String(), Label: op.CreateSandboxKey.GetLabel(), Scopes: []string{"read", "write"},
			Subject: "sandbox", ExpiresMs: ms,
		}
		return &pb.Reply{
			Status: 201,
			Result: &pb.Reply_Account{
				Account: &pb.AccountResult{Result: &pb.AccountResult_NewSandboxKey{NewSandboxKey: key}},
			},
		}
	case *pb.AccountOp_ResetSandbox:
		return answer(&pb.AccountResult{
			Result: &pb.AccountResult_SandboxReset{SandboxReset: &pb.SandboxReset{Subject: "sandbox", AtMs: ms}},
		})
	case *pb.AccountOp_GetSettings, *pb.AccountOp_PatchSettings, *pb.AccountOp_ResetSettings:
		return answer(&pb.AccountResult{
			Result: &pb.AccountResult_Settings{Settings: &pb.SettingsInfo{QualityMode: "balanced", LearnModeDefault: true}},
		})
	}
	return fakeProblem(pb.CodeInternal)
}
