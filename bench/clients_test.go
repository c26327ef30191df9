package main

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"orgmem/cmd/orgmem/process"
)

// A client that cannot run is a promise that was not kept, and no footnote.
func TestAClientThatIsNotInstalled(t *testing.T) {
	b := &bench{report: &report{}}
	found := b.able(t.Context(), []driver{
		{"Cobol", []string{"/nowhere/cobol"}},
		{"Shell", []string{"sh", "-c", "echo 'driver search N | adds N CONCURRENCY | events FILE' >&2; exit 1"}},
		{"Broken", []string{"sh", "-c", "echo no such module >&2; exit 1"}},
	})
	for _, d := range found {
		if d.language == "Cobol" || d.language == "Broken" {
			t.Errorf("%s was found", d.language)
		}
	}
	err := b.report.missed()
	if err == nil || !strings.Contains(err.Error(), "Cobol") || !strings.Contains(err.Error(), "no such module") {
		t.Errorf("missed: %v", err)
	}
}

// A wait for what a driver does ends when the driver is dead.
func TestADriverThatDies(t *testing.T) {
	metrics := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, acceptedMetric+" 7\n")
	}))
	defer metrics.Close()
	s := &service{Process: &process.Process{Greeting: process.Greeting{OperatorURL: metrics.URL}}}
	p, err := driver{"Shell", []string{"sh", "-c", "echo '{}'; echo my last words >&2; exit 3"}}.start(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	defer p.kill()
	if err := s.accepts(t.Context(), 8, p); !errors.Is(err, errEarly) || !strings.Contains(err.Error(), "my last words") {
		t.Errorf("it died, and %v", err)
	}
	if err := s.accepts(t.Context(), 7, p); err != nil {
		t.Errorf("it had done its work, and %v", err)
	}
	var line struct{}
	if err := p.line(&line); err != nil {
		t.Errorf("what it printed before is lost: %v", err)
	}
	if err := p.line(&line); !errors.Is(err, errEarly) {
		t.Errorf("a second line: %v", err)
	}
	good, err := driver{"Shell", []string{"true"}}.start(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	<-good.done
	if err := good.end(); err != nil {
		t.Errorf("one that has ended by itself: %v", err)
	}
	lives, err := driver{"Shell", []string{"sleep", "3600"}}.start(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	lives.kill()
	if !lives.ended() || lives.wait() == nil {
		t.Error("it was not killed")
	}
}
