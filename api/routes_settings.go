package api

import (
	"net/http"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

const settingsText = "qualityMode: fast ranks by the index alone, without the brain, and extracts no relations; " +
	"balanced, the default, ranks the leading passages anew by their exact vectors, or by the brain; " +
	"thorough looks at more candidates, ranks more of them exactly, reads the first as answers to a question in " +
	"English and runs every pass: what the brain begins at is ranked exactly, too. " +
	"learnModeDefault false keeps what is taken in from then on searchable, but out of the recalled graph, cognition " +
	"and the brain, until the same content is sent again with it true."

var settingsRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/settings", ID: "getSettings", Tag: tagSettings,
		Summary:     "Get the settings",
		Description: "Those of the effective subject; the server's defaults where it wrote none. " + settingsText,
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_GetSettings{GetSettings: &pb.GetSettings{}}})
	}, answerSettings),
	web.On(web.Route{
		Method: http.MethodPatch, Path: "/v1/settings", ID: "patchSettings", Tag: tagSettings,
		Summary:     "Change settings",
		Description: "Fields that are not named stay as they are. " + settingsText,
		Scope:       pb.ScopeWrite, Family: pb.FamilyWrites, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *patchSettingsInput, _ *problems.Violations) {
		patch := &pb.Settings{LearnModeDefault: in.Body.LearnModeDefault}
		if in.Body.QualityMode != "" {
			patch.QualityMode = &in.Body.QualityMode
		}
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_PatchSettings{PatchSettings: &pb.PatchSettings{Settings: patch}}})
	}, answerSettings),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/settings/reset", ID: "resetSettings", Tag: tagSettings,
		Summary:     "Go back to the default settings",
		Description: "Answers the restored defaults.",
		Scope:       pb.ScopeWrite, Family: pb.FamilyWrites, Subject: pb.SubjectMode_SUBJECT_AWARE, Idempotent: true,
		Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Nothing, _ *problems.Violations) {
		accountOp(env, &pb.AccountOp{Op: &pb.AccountOp_ResetSettings{ResetSettings: &pb.ResetSettings{}}})
	}, answerSettings),
}

func answerSettings(reply *pb.Reply) (settings, bool) {
	s := reply.GetAccount().GetSettings()
	return settings{s.GetQualityMode(), s.GetLearnModeDefault()}, s != nil
}

type patchSettingsInput struct {
	Body settingsPatch
}

type settingsPatch struct {
	QualityMode      string `json:"qualityMode,omitempty" enum:"fast,balanced,thorough"`
	LearnModeDefault *bool  `json:"learnModeDefault,omitempty"`
}

type settings struct {
	QualityMode      string `json:"qualityMode" enum:"fast,balanced,thorough"`
	LearnModeDefault bool   `json:"learnModeDefault"`
}
