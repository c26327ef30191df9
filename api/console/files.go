package console

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/gin-gonic/gin"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

// Path is where the console is, on either interface.
const Path = "/console"

// policy lets the pages load and ask their own origin, and nothing else. No
// script or style that stands in a page runs: what somebody wrote into a memory cannot
// become either.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// assetsFolder has the files whose names say what is in them.
const assetsFolder = "assets/"

// file is one built file as it is sent.
type file struct {
	header, packed http.Header // packed: of the compressed file
	plain          []byte
	gzipped        func() []byte // nil where it is not smaller; made when it is first asked for
	tag            string        // the entity tag
}

// serve adds built files to an interface. page answers every address below the console's
// that is no file: its script decides what to show there.
func serve(e *web.Edge, engine *gin.Engine, files fs.FS, page string) error {
	known := map[string]*file{}
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		known[name] = newFile(name, data)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the console's files: %w", err)
	}
	if known[page] == nil {
		return fmt.Errorf("the console has no page %s", page)
	}
	meter := e.Meter(http.MethodGet, Path+"/{path}")
	answer := func(c *gin.Context) {
		ex := e.Begin(c.Writer, c.Request, nil, meter)
		defer ex.End()
		name := strings.TrimPrefix(c.Param("path"), "/")
		found := known[name]
		if strings.HasSuffix(name, ".html") {
			found = nil // a page of the other interface, or this one by another address
		}
		if found == nil && strings.HasPrefix(name, assetsFolder) {
			ex.Refuse(problems.New(pb.CodeNotFound), nil)
			return
		}
		if found == nil {
			found = known[page]
		}
		found.send(ex)
	}
	engine.GET(Path, answer)
	engine.GET(Path+"/*path", answer)
	return nil
}

func newFile(name string, data []byte) *file {
	kind := mime.TypeByExtension(path.Ext(name))
	// Go's table, which a machine's own may override.
	switch path.Ext(name) {
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".html":
		kind = "text/html; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	}
	hash := sha256.Sum256(data)
	tag := `"` + hex.EncodeToString(hash[:12]) + `"`
	f := &file{plain: data, tag: tag, header: http.Header{
		"Content-Type":               {kind},
		"Content-Security-Policy":    {policy},
		"Cross-Origin-Opener-Policy": {"same-origin"},
		"Referrer-Policy":            {"no-referrer"},
		"X-Content-Type-Options":     {"nosniff"},
		"Etag":                       {tag},
		"Vary":                       {"Accept-Encoding"},
		"Cache-Control":              {"no-cache"}, // asked again each time, by its tag
	}}
	if strings.HasPrefix(name, assetsFolder) {
		f.header["Cache-Control"] = []string{"public, max-age=31536000, immutable"}
	}
	f.packed = maps.Clone(f.header)
	f.packed["Content-Encoding"] = []string{"gzip"}
	f.gzipped = sync.OnceValue(func() []byte {
		var out bytes.Buffer
		w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one of those it has
		_, _ = w.Write(data)                                    // a buffer takes everything
		_ = w.Close()
		if out.Len() >= len(data) {
			return nil
		}
		return bytes.Clone(out.Bytes())
	})
	return f
}

// send answers with the file, or says that the caller has it.
func (f *file) send(ex *web.Exchange) {
	if slices.Contains(listed(ex.R.Header["If-None-Match"]), f.tag) {
		ex.WriteFixed(http.StatusNotModified, f.header, nil)
		return
	}
	body, header := f.plain, f.header
	if slices.Contains(listed(ex.R.Header["Accept-Encoding"]), "gzip") {
		if smaller := f.gzipped(); smaller != nil {
			body, header = smaller, f.packed
		}
	}
	ex.WriteFixed(http.StatusOK, header, body)
}

// listed are the elements of a header that is a list, as they stand: "gzip;q=0" is not "gzip".
func listed(values []string) []string {
	var all []string
	for _, value := range values {
		for one := range strings.SplitSeq(value, ",") {
			all = append(all, strings.TrimSpace(one))
		}
	}
	return all
}
