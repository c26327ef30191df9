package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"orgmem/api/problems"
	"orgmem/api/web"
	"orgmem/api/wire"
	pb "orgmem/proto"
	"orgmem/proto/tracing"
)

var importRoutes = []web.Route{
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/import", ID: "importFile", Memory: tracing.OperationUpsert, Tag: tagImports,
		Summary: "Import a file",
		Description: "A multipart form. Plain text in any common encoding, Markdown, HTML, PDF, RTF, DOCX, PPTX, XLSX, " +
			"OpenDocument, EPUB, CSV, JSON and JSONL of items as ingest takes them, " +
			"mails and mailboxes, calendars, VTT and SRT, exports of Slack, Notion, ChatGPT, Claude, mem0, Zep and this " +
			"service, " +
			"and ZIP and tar archives of those; what a file is, its content decides. One job for all documents of the file. A " +
			"file that cannot be read is refused at once, " +
			"and nothing of it is kept; of an archive or a mailbox the parts that cannot be read are failed items of the job, " +
			"each with its reason. " + importSizes,
		Scope: pb.ScopeWrite, Family: pb.FamilyIngest, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusAccepted,
	}, func(env *pb.Envelope, in *importInput, _ *problems.Violations) {
		linkImport(env, &in.Form, false)
	}, answerAccepted),
	web.On(web.Route{
		Method: http.MethodPost, Path: "/v1/import/transcript", ID: "importTranscript", Tag: tagImports,
		Memory:  tracing.OperationUpsert,
		Summary: "Import a transcript",
		Description: "A multipart form with the part file or transcript: VTT, SRT, JSON of speaker and text, or lines of " +
			"the form Name: text. " + importSizes,
		Scope: pb.ScopeWrite, Family: pb.FamilyIngest, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusAccepted,
	}, func(env *pb.Envelope, in *transcriptInput, _ *problems.Violations) {
		linkImport(env, &in.Form, true)
	}, answerAccepted),
	web.On(web.Route{
		Method: http.MethodGet, Path: "/v1/import", ID: "listImports", Tag: tagImports,
		Summary:     "List the imports",
		Description: "The 20 most recent of the subject, newest first; it does not paginate.",
		Scope:       pb.ScopeRead, Family: pb.FamilyReads, Subject: pb.SubjectMode_SUBJECT_AWARE, Status: http.StatusOK,
	}, func(env *pb.Envelope, _ *web.Empty, _ *problems.Violations) {
		linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_ListImports{ListImports: &pb.ListImports{}}})
	}, func(reply *pb.Reply) (web.PageOf[importEntry], bool) {
		list := reply.GetLink().GetImports()
		out := web.NewPage[importEntry](len(list.GetImports()), "")
		for _, e := range list.GetImports() {
			id, err := uuid.FromBytes(e.GetId())
			if err != nil {
				return out, false
			}
			one := importEntry{
				ID: id.String(), JobID: id.String(), Filename: e.GetFilename(), Format: importFormat(e.GetFormat()),
				Bytes:     e.GetBytes(),
				Status:    e.GetStatus(),
				CreatedAt: wire.Timestamp(e.GetCreatedMs()), FinishedAt: wire.NotBefore(e.GetFinishedMs(), e.GetCreatedMs()),
				Error: wire.OrNull(e.GetError()),
			}
			if e.GetFinishedMs() != 0 {
				nodes, domains := e.GetNodes(), e.GetDomains()
				one.NodesCreated, one.DomainsDetected = &nodes, &domains
			}
			out.Data = append(out.Data, one)
		}
		return out, list != nil
	}),
}

// importSizes says what 413 means: one import is one write.
const importSizes = "The form may be 64 MiB large, and what is made of its file 16 MiB: text, titles and metadata, " +
	"with the form's own for each document. " +
	"Above either, and for a document of JSON that is longer than a content may be, the answer is 413; a longer plain " +
	"text is cut into several documents."

type importInput struct{ Form web.UploadForm }

// FormParts implements web.Uploads.
func (in *importInput) FormParts() (*web.UploadForm, []string) { return &in.Form, []string{"file"} }

type transcriptInput struct{ Form web.UploadForm }

// FormParts implements web.Uploads: the file may be called by either name.
func (in *transcriptInput) FormParts() (*web.UploadForm, []string) {
	return &in.Form, []string{"file", "transcript"}
}

func linkImport(env *pb.Envelope, f *web.UploadForm, transcript bool) {
	linkOp(env, &pb.LinkOp{Op: &pb.LinkOp_ImportFile{ImportFile: &pb.ImportFile{
		Filename: f.Filename, Content: f.Content, Transcript: transcript, Title: f.Title, OccurredMs: f.OccurredMs,
		Metadata: f.Metadata,
		MaxRunes: uint32(f.MaxContent),
	}}})
}

type importEntry struct {
	ID              string         `json:"id" format:"uuid"`
	JobID           string         `json:"jobId" format:"uuid"`
	Filename        string         `json:"filename" doc:"Empty once what came with the file was forgotten."`
	Format          importFormat   `json:"format"`
	Bytes           uint64         `json:"bytes"`
	Status          string         `json:"status" enum:"queued,running,succeeded,failed,cancelled"`
	NodesCreated    *uint64        `json:"nodesCreated" nullable:"true" doc:"Null until the job has ended."`
	DomainsDetected *uint64        `json:"domainsDetected" nullable:"true" doc:"@importEntry.domainsDetected"`
	CreatedAt       wire.Timestamp `json:"createdAt"`
	FinishedAt      wire.Timestamp `json:"finishedAt" nullable:"true"`
	Error           wire.OrNull    `json:"error"`
}

// importFormat is how the file of an import was read.
type importFormat string

// Schema implements huma.SchemaProvider.
func (importFormat) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Enum: []any{
		"text", "markdown", "json", "jsonl", "vtt", "srt", "lines", "html", "csv", "eml", "mbox", "zip", "tar", "docx",
		"pptx", "xlsx", "odt", "ods", "odp", "epub", "rtf", "ics", "pdf", "slack", "chatgpt", "claude",
		"mem0", "zep", "orgmem-export",
	}}
}
