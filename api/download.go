package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

// ExportPieces reads the documents of exports. actors.Service implements it.
type ExportPieces interface {
	// ExportPiece returns one piece of an export's document, at most 1 MiB; all
	// but the last have the same length. The export is what an actor has answered
	// to a download: whether its caller may have it is decided. It is an error
	// when the document is not there any more.
	ExportPiece(ctx context.Context, export *pb.Export, piece uint32) ([]byte, error)
	// ExportPieceBytes is the length of a piece.
	ExportPieceBytes() int64
}

// sends counts the exports that are being sent. The zero value has none.
type sends struct {
	mu  sync.Mutex
	all int              // guarded by mu
	of  map[pb.OrgID]int // guarded by mu
}

// begin counts one more, unless that would be too many; then it says whose.
func (s *sends) begin(org pb.OrgID) (full string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[org] >= maxDownloadsPerOrg:
		return "The organization"
	case s.all >= maxDownloads:
		return "The node"
	case s.of == nil:
		s.of = map[pb.OrgID]int{}
	}
	s.all++
	s.of[org]++
	return ""
}

func (s *sends) end(org pb.OrgID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[org]--; s.of[org] == 0 {
		delete(s.of, org)
	}
}

// span is the part of a document that is sent: [from, to).
type span struct {
	from, to int64
	part     bool // by request: 206
}

// serveDownload sends a document piece by piece. An export that ends meanwhile,
// because something in it was forgotten, cuts the connection: the client sees a
// length that does not fit, never a document that looks whole.
func (s *Server) serveDownload(ex *web.Exchange, reply *pb.Reply) *pb.Problem {
	doc := reply.GetData().GetDownload()
	id, err := pb.ExportIDFrom(doc.GetId())
	if err != nil || s.cfg.Exports == nil {
		ex.Err = web.ErrUnexpectedReply
		return problems.New(pb.CodeInternal)
	}
	org := pb.OrgID(doc.GetOrg())
	if who := s.downloads.begin(org); who != "" {
		return problems.Newf(pb.CodeServiceDegraded, "%s has as many downloads under way as it may.", who)
	}
	defer s.downloads.end(org)
	size, tag := int64(doc.GetBytes()), `"`+doc.GetSha256()+`"`
	h := ex.W.Header()
	describe := func() {
		h["Etag"] = []string{tag}
		h["Accept-Ranges"] = []string{"bytes"}
	}
	if etagListed(ex.R.Header.Values("If-None-Match"), tag) {
		describe()
		ex.Write(http.StatusNotModified, nil, nil)
		return nil
	}
	sent, ok := requestedSpan(ex.R.Header, size, tag)
	if !ok {
		describe() // the problem is about what there is
		h["Content-Range"] = []string{"bytes */" + strconv.FormatInt(size, 10)}
		return problems.New(pb.CodeRange)
	}
	// The first piece is read before anything is sent, so that what has just gone
	// is still a problem.
	pieces, unit := s.cfg.Exports, s.cfg.Exports.ExportPieceBytes()
	n := uint32(sent.from / unit)
	piece, err := pieces.ExportPiece(ex.R.Context(), doc, n)
	if err != nil {
		return problems.New(pb.CodeExportNotReady)
	}
	describe()
	h["Content-Disposition"] = []string{`attachment; filename="export-` + id.String() + `.json"`}
	h["Content-Length"] = []string{strconv.FormatInt(sent.to-sent.from, 10)}
	status := http.StatusOK
	if sent.part {
		status = http.StatusPartialContent
		h["Content-Range"] = []string{
			"bytes " + strconv.FormatInt(sent.from, 10) + "-" + strconv.FormatInt(sent.to-1, 10) + "/" +
				strconv.FormatInt(size, 10),
		}
	}
	out := ex.StartStream(status, web.ContentJSON[0])
	for {
		begin := int64(n) * unit
		lo, hi := max(sent.from-begin, 0), min(sent.to-begin, int64(len(piece)))
		if lo >= hi {
			ex.Err = errShortDocument
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to cut a connection
		}
		if _, err := out.Write(piece[lo:hi]); err != nil {
			return nil // the client has left; there is nobody to answer
		}
		if begin+hi >= sent.to {
			return nil
		}
		n++
		if piece, err = pieces.ExportPiece(ex.R.Context(), doc, n); err != nil {
			ex.Err = err
			panic(http.ErrAbortHandler) //nolint:forbidigo // net/http's way to cut a connection
		}
	}
}

// requestedSpan reads Range. A range that is not understood, or that asks for
// several parts, is answered with the whole, as RFC 9110 allows; false means
// that there is nothing in it.
func requestedSpan(h http.Header, size int64, tag string) (span, bool) {
	whole := span{0, size, false}
	text, ok := web.SingleHeader(h, "Range")
	if !ok || text == "" {
		return whole, true
	}
	if condition, once := web.SingleHeader(h, "If-Range"); !once || condition != "" && condition != tag {
		return whole, true // of another document
	}
	text, ok = strings.CutPrefix(text, "bytes=")
	first, last, dash := strings.Cut(strings.Trim(text, " \t"), "-")
	if !ok || !dash {
		return whole, true
	}
	from, fromOK := digits(first)
	to, toOK := digits(last)
	switch {
	case first == "" && toOK: // the last so many bytes
		if to == 0 {
			return span{}, false
		}
		return span{max(size-to, 0), size, true}, true
	case !fromOK, last != "" && !toOK, last != "" && to < from:
		return whole, true
	case from >= size:
		return span{}, false
	case last == "":
		return span{from, size, true}, true
	}
	return span{from, min(to, size-1) + 1, true}, true
}

// digits reads a whole number; what is beyond 18 digits is above every length.
func digits(text string) (int64, bool) {
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	if text = strings.TrimLeft(text, "0"); len(text) > 18 {
		text = strings.Repeat("9", 18)
	}
	n, err := strconv.ParseInt("0"+text, 10, 64)
	return n, err == nil
}

// etagListed reports whether If-None-Match names the document.
func etagListed(values []string, tag string) bool {
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			one = strings.TrimPrefix(strings.Trim(one, " \t"), "W/")
			if one == tag || one == "*" {
				return true
			}
		}
	}
	return false
}

// errShortDocument means that an export's pieces end before its length.
var errShortDocument = errors.New("the document is shorter than its description")
