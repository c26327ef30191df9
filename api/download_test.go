package api

import (
	"net/http"
	"strings"
	"testing"

	pb "orgmem/proto"
)

// interface: Endpoints/Exports
func TestDownload(t *testing.T) {
	h := newHarness(t)
	path := "/v1/exports/" + testJob.String() + "/download"
	size := len(fakeDocument)
	for _, c := range []struct {
		name    string
		headers []string
		status  int
		body    string
		span    string // Content-Range
	}{
		{"whole", nil, 200, fakeDocument, ""},
		{"from the second piece on", []string{"Range", "bytes=5-"}, 206, fakeDocument[5:], "bytes 5-18/19"},
		{"inside one piece", []string{"Range", "bytes=1-2"}, 206, fakeDocument[1:3], "bytes 1-2/19"},
		{"over three pieces", []string{"Range", "bytes=3-9"}, 206, fakeDocument[3:10], "bytes 3-9/19"},
		{"the last byte", []string{"Range", "bytes=18-18"}, 206, fakeDocument[18:], "bytes 18-18/19"},
		{
			"an end beyond the end",
			[]string{"Range", "bytes=10-99999999999999999999"},
			206, fakeDocument[10:],
			"bytes 10-18/19",
		},
		{"the last six", []string{"Range", "bytes=-6"}, 206, fakeDocument[size-6:], "bytes 13-18/19"},
		{"more than the last", []string{"Range", "bytes=-100"}, 206, fakeDocument, "bytes 0-18/19"},
		{"behind the end", []string{"Range", "bytes=19-"}, 416, "", "bytes */19"},
		{"nothing", []string{"Range", "bytes=-0"}, 416, "", "bytes */19"},
		{"several parts", []string{"Range", "bytes=0-1,3-4"}, 200, fakeDocument, ""},
		{"another unit", []string{"Range", "lines=1-2"}, 200, fakeDocument, ""},
		{"no range", []string{"Range", "bytes=b-a"}, 200, fakeDocument, ""},
		{"backwards", []string{"Range", "bytes=4-2"}, 200, fakeDocument, ""},
		{"of this document", []string{"Range", "bytes=5-", "If-Range", `"abc"`}, 206, fakeDocument[5:], "bytes 5-18/19"},
		{"of another document", []string{"Range", "bytes=5-", "If-Range", `"abd"`}, 200, fakeDocument, ""},
		{"known", []string{"If-None-Match", `"x", "abc"`}, 304, "", ""},
		{"not known", []string{"If-None-Match", `"x"`}, 200, fakeDocument, ""},
	} {
		res := h.do(http.MethodGet, path, "", c.headers...)
		if res.StatusCode != c.status || c.status != 416 && string(res.body) != c.body ||
			res.Header.Get("Content-Range") != c.span {
			t.Errorf("%s: %d %q %q", c.name, res.StatusCode, res.body, res.Header.Get("Content-Range"))
		}
		if c.status == 416 {
			if res.code(t) != pb.CodeRange {
				t.Errorf("%s: %s", c.name, res.body)
			}
			continue
		}
		if res.Header.Get("Etag") != `"abc"` {
			t.Errorf("%s: ETag %q", c.name, res.Header.Get("Etag"))
		}
		if c.status < 300 && (res.Header.Get("Accept-Ranges") != "bytes" ||
			!strings.Contains(res.Header.Get("Content-Disposition"), testJob.String())) {
			t.Errorf("%s: headers %v", c.name, res.Header)
		}
	}
}

// TestDownloadsAreShared: no organization takes the places of the others.
func TestDownloadsAreShared(t *testing.T) {
	h := newHarness(t)
	path := "/v1/exports/" + testJob.String() + "/download"
	other := pb.OrgID{9}
	for range maxDownloadsPerOrg {
		h.s.downloads.begin(testOrg)
	}
	if res := h.do(http.MethodGet, path, ""); res.code(t) != pb.CodeServiceDegraded ||
		res.Header.Get("Retry-After") == "" {
		t.Errorf("one more than its share: %d %s", res.StatusCode, res.body)
	}
	if full := h.s.downloads.begin(other); full != "" {
		t.Errorf("another's: %s", full)
	}
	h.s.downloads.end(testOrg)
	for range 2 { // the place is given back
		if res := h.do(http.MethodGet, path, ""); res.StatusCode != http.StatusOK {
			t.Errorf("%d %s", res.StatusCode, res.body)
		}
	}
	for i := range byte(maxDownloads - maxDownloadsPerOrg) {
		h.s.downloads.begin(pb.OrgID{10, i})
	}
	if full := h.s.downloads.begin(other); full != "The node" {
		t.Errorf("more than the node may send: %q", full)
	}
}

// An export that has just ended is a problem; one that ends while it is sent cuts
// the connection, so that nobody takes a part for the whole.
func TestDownloadOfWhatEnds(t *testing.T) {
	path := "/v1/exports/" + testJob.String() + "/download"
	h := newHarness(t, func(c *Config) { c.Exports = fakePieces(1) })
	if res := h.do(http.MethodGet, path, ""); res.code(t) != pb.CodeExportNotReady {
		t.Errorf("an export without its first piece: %d %s", res.StatusCode, res.body)
	}
	h = newHarness(t, func(c *Config) { c.Exports = fakePieces(3) })
	defer func() {
		if r := recover(); r != http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
			t.Errorf("an export that ends after two pieces: %v", r)
		}
	}()
	h.do(http.MethodGet, path, "")
}
