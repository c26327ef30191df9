package api

import (
	"net/http"
	"unicode"

	"github.com/danielgtaylor/huma/v2"

	pb "orgmem/proto"
)

var subjectRoutes = []Route{
	on(Route{
		Method: http.MethodGet, Path: "/v1/subjects", ID: "listSubjects", Tag: tagSubjects,
		Summary:     "List the provisioned subjects",
		Description: "In the order of their ids, bytewise: an order that no write changes.",
		Scope:       scopeRead, Family: familyReads, Status: http.StatusOK,
	}, func(env *pb.Envelope, in *listSubjectsInput, _ *violations) {
		env.Op = &pb.Envelope_ListSubjects{ListSubjects: &pb.ListSubjects{Page: in.proto()}}
	}, func(reply *pb.Reply) (pageOf[subject], bool) {
		list := reply.GetSubjects()
		return pageFrom(list != nil, list.GetSubjects(), list.GetNextCursor(), always(subjectOf))
	}),
	on(Route{
		Method: http.MethodGet, Path: "/v1/subjects/{subject_id}", ID: "getSubject", Tag: tagSubjects,
		Summary: "Get a subject",
		Scope:   scopeRead, Family: familyReads, Status: http.StatusOK,
		Problems: []string{codeSubjectNotFound},
	}, func(env *pb.Envelope, in *subjectInput, _ *violations) {
		env.Op = &pb.Envelope_GetSubject_{GetSubject_: &pb.GetSubject{Id: string(in.ID)}}
	}, answerSubject),
	on(Route{
		Method: http.MethodPut, Path: "/v1/subjects/{subject_id}", ID: "putSubject", Tag: tagSubjects,
		Summary:     "Provision a subject",
		Description: "201 the first time, 200 after. An erased subject that is provisioned again starts empty.",
		Scope:       scopeProvision, Family: familyDefault, Status: http.StatusOK, Statuses: []int{http.StatusCreated},
	}, func(env *pb.Envelope, in *subjectInput, errs *violations) {
		if !validSubject(string(in.ID)) {
			errs.add("subject_id", "expected 1 to 256 bytes without control characters")
		}
		env.Op = &pb.Envelope_PutSubject{PutSubject: &pb.PutSubject{Id: string(in.ID)}}
	}, answerSubject),
	on(Route{
		Method: http.MethodDelete, Path: "/v1/subjects/{subject_id}", ID: "eraseSubject", Tag: tagSubjects,
		Summary:     "Erase a subject",
		Description: "The subject refuses use at once; when the job has succeeded, nothing of it is left.",
		Scope:       scopeProvision, Family: familyDefault, Status: http.StatusAccepted,
		Problems: []string{codeSubjectNotFound},
	}, func(env *pb.Envelope, in *subjectInput, _ *violations) {
		env.Op = &pb.Envelope_EraseSubject{EraseSubject: &pb.EraseSubject{Id: string(in.ID)}}
	}, answerAccepted),
}

type listSubjectsInput struct{ page }

type subjectInput struct {
	ID subjectName `path:"subject_id" doc:"The client's own id of the subject, percent-encoded: 1 to 256 bytes of UTF-8 without control characters."`
}

// subjectName is the id of a subject. Each row says what it thinks of one that no subject
// can have.
type subjectName string

func (n *subjectName) fromText(text string) *pb.Problem {
	*n = subjectName(text)
	return nil
}

// Schema implements huma.SchemaProvider.
func (subjectName) Schema(huma.Registry) *huma.Schema {
	one, most := 1, maxSubjectBytes
	return &huma.Schema{Type: huma.TypeString, MinLength: &one, MaxLength: &most, Pattern: plainName}
}

// validSubject reports whether a subject may be called so (decisions.md,
// section 4). That it is UTF-8 has been checked with its escapes.
func validSubject(id string) bool {
	if id == "" || len(id) > maxSubjectBytes {
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
	return subject{s.GetId(), timestamp(s.GetCreatedMs())}
}

type subject struct {
	ID        string    `json:"id" doc:"The client's own id."`
	CreatedAt timestamp `json:"createdAt"`
}
