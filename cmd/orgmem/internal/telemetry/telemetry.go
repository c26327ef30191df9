package telemetry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/proto/clock"
	"orgmem/proto/tracing"
)

const (
	// exportTimeout bounds the sending of a batch, tries again included.
	exportTimeout = 10 * time.Second
	// firstRetry and mostRetry are the waits between tries of a batch that a collector has put off.
	firstRetry = 500 * time.Millisecond
	mostRetry  = 4 * time.Second
	// closeWait bounds the wait for the collector at the node's stop.
	closeWait = 3 * time.Second
	// pathOfTraces is where collectors take traces, where the address of one names no path.
	pathOfTraces = "/v1/traces"
	// MaxHeaders bounds the headers that go with each batch, and maxHeader each of them in bytes.
	MaxHeaders = 16
	maxHeader  = 4096
)

// Config says where spans go, and which.
type Config struct {
	config.Server // what of it is about traces

	Version string
	Node    string // what tells this node apart
	Clock   clock.Clock
	Random  io.Reader
	Logger  *slog.Logger
}

// Telemetry is a node's tracer, with what sends its spans. nil is that of a node that traces nothing.
type Telemetry struct {
	*Queue

	tracer   *tracing.Tracer
	provider *sdk.TracerProvider
	log      *slog.Logger
}

// Tracer is what the parts of the node trace by; nil: they trace nothing.
func (t *Telemetry) Tracer() *tracing.Tracer {
	if t == nil {
		return nil
	}
	return t.tracer
}

// Start begins to send, where the configuration names a collector; else it returns nil.
func Start(ctx context.Context, c Config) (*Telemetry, error) {
	if c.TracesEndpoint == "" {
		return nil, nil //nolint:nilnil // nil is a Telemetry
	}
	at, err := url.Parse(c.TracesEndpoint)
	if err != nil {
		return nil, fmt.Errorf("traces-endpoint: %w", err)
	}
	headers, err := readHeaders(c.TracesHeadersFile)
	if err != nil {
		return nil, fmt.Errorf("traces-headers-file: %w", err)
	}
	if strings.Trim(at.Path, "/") == "" {
		at.Path = pathOfTraces
	}
	exporter, err := otlptracehttp.New(ctx,
		otlptracehttp.WithEndpointURL(at.String()), otlptracehttp.WithHeaders(headers),
		otlptracehttp.WithCompression(otlptracehttp.GzipCompression),
		otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
			Enabled: true, InitialInterval: firstRetry, MaxInterval: mostRetry, MaxElapsedTime: exportTimeout,
		}),
		otlptracehttp.WithHTTPClient(&http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
	)
	if err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return start(c, exporter), nil //nolint:contextcheck // what sends outlives the start
}

func start(c Config, exporter sdk.SpanExporter) *Telemetry {
	queue := newQueue(exporter, c.Clock, c.Logger)
	provider := sdk.NewTracerProvider(
		sdk.WithSpanProcessor(queue),
		sdk.WithIDGenerator(ids{c.Random}),
		sdk.WithSampler(sdk.ParentBased(sdk.TraceIDRatioBased(c.TracesRatio))),
		sdk.WithRawSpanLimits(sdk.SpanLimits{
			AttributeValueLengthLimit: tracing.MaxValue, AttributeCountLimit: tracing.MaxAttributes,
		}),
		sdk.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "orgmem"), attribute.String("service.version", c.Version),
			attribute.String("service.instance.id", c.Node),
		)),
	)
	return &Telemetry{
		Queue: queue, tracer: tracing.New(provider.Tracer("orgmem"), c.Clock, c.TracesOrganizations), provider: provider,
		log: c.Logger,
	}
}

// Close sends what is queued, for closeWait at most, and stops. That a collector does not take it is no failure of the
// node's stop.
func (t *Telemetry) Close() {
	if t == nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer t.clock.AfterFunc(closeWait, cancel).Stop()
	if err := t.provider.Shutdown(ctx); err != nil {
		t.log.Warn("the last spans could not be sent", "err", err)
	}
}

// readHeaders reads the file of the headers; none where there is no file.
func readHeaders(file string) (map[string]string, error) {
	if file == "" {
		return map[string]string{}, nil
	}
	text, err := config.ReadSmall(file)
	if err != nil {
		return nil, err
	}
	return ParseHeaders(string(text))
}

// ParseHeaders reads the headers that a collector wants, a line each: "Name: value".
func ParseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		switch {
		case !ok || !isToken(name):
			return nil, fmt.Errorf("line %d is no header of the form Name: value", n)
		case len(line) > maxHeader:
			return nil, fmt.Errorf("line %d is longer than %d bytes", n, maxHeader)
		case len(headers) == MaxHeaders:
			return nil, fmt.Errorf("there are more than %d headers", MaxHeaders)
		}
		headers[name] = strings.TrimSpace(value)
	}
	if len(headers) == 0 {
		return nil, errors.New("there is no header in it")
	}
	return headers, nil
}

// isToken reports whether a name can be that of a header.
func isToken(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}
