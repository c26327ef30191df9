package client_test

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"orgmem/cmd/orgmem/internal/client"
)

// A download that breaks off goes on where it stopped; one that is refused ends.
func TestDownloadGoesOn(t *testing.T) {
	document := strings.Repeat("0123456789", 1000)
	var ranges []string
	c, _ := served(t, func(w http.ResponseWriter, r *http.Request) {
		at := 0
		span := r.Header.Get("Range")
		ranges = append(ranges, span)
		if span != "" {
			if r.Header.Get("If-Range") != `"sum"` {
				t.Errorf("If-Range %q", r.Header.Get("If-Range"))
			}
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(span, "bytes="), "-"))
			if err != nil {
				t.Error(err)
			}
			at = n
			w.WriteHeader(http.StatusPartialContent)
		}
		end := min(len(document), at+4000)
		w.Write([]byte(document[at:end]))
	})
	var got bytes.Buffer
	err := c.Download(t.Context(), client.Export{ID: "e", Bytes: int64(len(document)), SHA256: "sum"}, &got)
	if err != nil || got.String() != document || strings.Join(ranges, ",") != ",bytes=4000-,bytes=8000-" {
		t.Errorf("%d bytes, %v, ranges %v", got.Len(), err, ranges)
	}
	c, _ = served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusConflict)
		w.Write([]byte(`{"code":"export_not_ready","detail":"it has expired"}`))
	})
	if err := c.Download(t.Context(), client.Export{ID: "e", Bytes: 10}, &got); !client.IsCode(err, "export_not_ready") {
		t.Error(err)
	}
	c, _ = served(t, func(http.ResponseWriter, *http.Request) {}) // a server that always sends nothing
	if err := c.Download(t.Context(), client.Export{ID: "e", Bytes: 10}, &got); err == nil {
		t.Error("it waits for ever")
	}
}

// An export is waited for, and one that failed says why.
func TestMakeExport(t *testing.T) {
	asked := 0
	c, clock := served(t, func(w http.ResponseWriter, r *http.Request) {
		if asked++; r.Method == http.MethodPost {
			w.WriteHeader(http.StatusAccepted)
		}
		status := map[bool]string{true: "running", false: "succeeded"}[asked < 4]
		w.Write([]byte(`{"exportId":"e","status":"` + status + `","bytes":7,"sha256":"s"}`))
	})
	e, err := c.MakeExport(t.Context(), "user", "key")
	if err != nil || e.Bytes != 7 || asked != 4 || clock.waited > time.Minute {
		t.Errorf("%+v, %v after %d", e, err, asked)
	}
	c, _ = served(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte(`{"exportId":"e","status":"failed","error":"the disk is full"}`))
	})
	_, err = c.MakeExport(t.Context(), "user", "key")
	if err == nil || !strings.Contains(err.Error(), "the disk is full") {
		t.Error(err)
	}
}
