package api

import (
	"net/http"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
)

var subjectRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/subjects", ID: "listSubjects", Tag: tagSubjects,
		Summary:     "List the provisioned subjects",
		Description: "In the order of their ids, bytewise: an order that no write changes.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listSubjectsInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{Page: in.Proto()}}
	}, func(reply *pb.Reply) (web.PageOf[subject], bool) {
		list := reply.GetSubjects()
		return web.PageFrom(list != nil, list.GetSubjects(), list.GetNextCursor(), web.Always(subjectOf))
	}),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/subjects/{subject_id}", ID: "getSubject", Tag: tagSubjects,
		Summary: "Get a subject",
		Scope:   pb.ScopeRead, Family: pb.FamilyReads, Status: http.StatusOK,
		Problems: []string{pb.CodeSubjectNotFound},
	}, func(env *pb.Envelope, in *subjectInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_GetSubject_{GetSubject_: &pb.GetSubject{Id: string(in.ID)}}
	}, answerSubject),
	web.On(web.Route{
		Method: http.MethodPut, Path: "/v1/subjects/{subject_id}", ID: "putSubject", Tag: tagSubjects,
		Summary:     "Provision a subject",
		Description: "201 the first time, 200 after. An erased subject that is provisioned again starts empty.",
		Scope:       pb.ScopeProvision, Family: pb.FamilyDefault, Status: http.StatusOK, Statuses: []int{http.StatusCreated},
	}, func(env *pb.Envelope, in *subjectInput, errs *problems.Violations) {
		if !validSubject(string(in.ID)) {
			errs.Add("subject_id", "expected 1 to 256 bytes without control characters")
		}
		env.Op = &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: string(in.ID)}}
	}, answerSubject),
	web.On(web.Route{
		Method: http.MethodDelete, Path: "/v1/subjects/{subject_id}", ID: "eraseSubject", Tag: tagSubjects,
		Summary:     "Erase a subject",
		Description: "The subject refuses use at once; when the job has succeeded, nothing of it is left.",
		Scope:       pb.ScopeProvision, Family: pb.FamilyDefault, Status: http.StatusAccepted,
		Problems: []string{pb.CodeSubjectNotFound},
	}, func(env *pb.Envelope, in *subjectInput, _ *problems.Violations) {
		env.Op = &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: string(in.ID)}}
	}, answerAccepted),
}

type listSubjectsInput struct{ web.Page }

type subjectInput struct {
	ID subjectName `path:"subject_id" doc:"@subjectInput.subject_id"`
}

// subjectName is the id of a subject. Each row says what it thinks of one that no subject
// can have.
type subjectName string

// FromText implements web.FromText.
func (n *subjectName) FromText(text string) *pb.Problem {
	*n = subjectName(text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (subjectName) Schema(huma.Registry) *huma.Schema {
	one, most := 1, web.MaxSubjectBytes
	return &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: wire.PlainName}
}

// validSubject reports whether a subject may have this id: 1 to 256 bytes without control
// characters. That it is UTF-8 has been checked with its escapes.
func validSubject(id string) bool {
	if id == "" || len(id) > web.MaxSubjectBytes {
		return false
	}
	for _, r := range id {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}

func answerSubject(reply *pb.Reply) (subject, bool) {
	s := reply.GetSubject()
	return subjectOf(s), s != nil
}

func subjectOf(s *pb.SubjectInfo) subject {
	return subject{s.GetId(), wire.Timestamp(s.GetCreatedMs())}
}

type subject struct {
	ID        string         `json:"id" doc:"The client's own id."`
	CreatedAt wire.Timestamp `json:"createdAt"`
}
