package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"lottery/api/middleware"
	"lottery/models"
)

// tracing exports spans by OTLP. A nil one traces nothing and costs nothing. Attribute names are OpenTelemetry's:
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/. No span contains a URL's query, a key or an email
// address.
type tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	carrier  propagation.TraceContext
	trusted  []netip.Prefix // proxies whose traces are continued
}

// tracingVariables are OpenTelemetry's own; setting one of them turns tracing on. The exporter and the sampler read
// their other variables (OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, …) themselves.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
var tracingVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// tracingTimeout is how long shutting down waits for the last spans to be sent.
const tracingTimeout = 3 * time.Second

// newTracing returns the tracing that the environment asks for; nil if none.
func newTracing(ctx context.Context, getenv func(string) string, log *slog.Logger) (*tracing, error) {
	on := false
	for _, name := range tracingVariables {
		endpoint := getenv(name)
		if on = on || endpoint != ""; endpoint == "" {
			continue
		}
		// The exporter would fall back to its default, https://localhost:4318. The URL is not logged: it may hold a
		// password.
		if u, err := url.Parse(endpoint); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return nil, models.Errorf(models.CodeInvalid, "%s: must be an http:// or https:// address, such as http://127.0.0.1:4318", name)
		}
	}
	if !on || getenv("OTEL_SDK_DISABLED") == "true" {
		return nil, nil //nolint:nilnil // nothing is traced
	}
	if p := getenv("OTEL_EXPORTER_OTLP_PROTOCOL"); p != "" && p != "http/protobuf" {
		return nil, models.Errorf(models.CodeInvalid, "OTEL_EXPORTER_OTLP_PROTOCOL: only http/protobuf is spoken, not %q", p)
	}
	otel.SetLogger(logr.FromSlogHandler(causes{log.Handler()}))
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, models.Errorf(models.CodeInvalid, "traces cannot be exported: %v; see OTEL_EXPORTER_OTLP_ENDPOINT", err)
	}
	about, err := resource.New(ctx, resource.WithAttributes(
		attribute.String("service.name", "lottery"), attribute.String("service.version", models.BuildVersion().Version),
	), resource.WithHost(), resource.WithFromEnv()) // the environment takes precedence
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	t := &tracing{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}
	t.tracer = t.provider.Tracer("lottery")
	var logged atomic.Int64
	began := time.Now()
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // called for each batch: log once a minute
		now := 1 + int64(time.Since(began)) // not by the wall clock, which may be set back
		if last := logged.Load(); (last == 0 || now-last >= int64(time.Minute)) && logged.CompareAndSwap(last, now) {
			log.Warn("traces cannot be sent", "error", err)
		}
	}))
	return t, nil
}

// causes reduces OpenTelemetry's own log lines to their cause: they also repeat what they read, headers with a token
// included.
type causes struct{ slog.Handler }

// Handle writes a line.
func (h causes) Handle(ctx context.Context, r slog.Record) error {
	short := slog.NewRecord(r.Time, r.Level, "traces: "+r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" { // logr's name for it
			short.AddAttrs(slog.Any("error", a.Value))
		}
		return true
	})
	return h.Handler.Handle(ctx, short)
}

// close sends the remaining spans.
func (t *tracing) close(ctx context.Context, log *slog.Logger) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), tracingTimeout)
	defer cancel()
	if err := t.provider.Shutdown(ctx); err != nil {
		log.Warn("the last traces could not be sent", "error", err)
	}
}

// server returns the tracer for the request middleware, which continues the traces of trusted proxies; nil if nothing is
// traced.
func (t *tracing) server(trusted []netip.Prefix) middleware.Tracer {
	if t == nil {
		return nil
	}
	t.trusted = trusted
	return t
}

// Begin starts the span of a request. If a trusted proxy sent it with a traceparent, the span is a child of the proxy's.
// A stranger's traceparent is ignored: it also says whether the request is traced, which the operator decides.
func (t *tracing) Begin(r *http.Request) middleware.Span {
	ctx := r.Context()
	if middleware.FromProxy(r, t.trusted) {
		ctx = t.carrier.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := t.tracer.Start(ctx, r.Method, trace.WithSpanKind(trace.SpanKindServer))   //nolint:spancheck // End is called when the request is answered
	return middleware.Span{Request: r.WithContext(ctx), End: func(a middleware.Answered) { //nolint:spancheck // the same
		span.SetName(a.Method + " " + a.Route)
		span.SetAttributes(attribute.String("http.request.method", a.Method), attribute.String("http.route", a.Route),
			attribute.Int("http.response.status_code", a.Status), attribute.String("lottery.plan", a.Plan), attribute.String("lottery.request_id", a.ID))
		if a.Status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}}
}

// client traces requests to a named service through next. A span gives only the URL's host: other services' paths and
// queries may contain customers' names.
func (t *tracing) client(service string, next http.RoundTripper) http.RoundTripper {
	if t == nil {
		return next
	}
	if next == nil {
		next = http.DefaultTransport
	}
	return &tracedClient{t, service, next}
}

type tracedClient struct {
	tracing *tracing
	service string
	next    http.RoundTripper
}

// RoundTrip sends r in a span.
func (c *tracedClient) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, span := c.tracing.tracer.Start(r.Context(), c.service+" "+r.Method, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("http.request.method", r.Method), attribute.String("server.address", r.URL.Hostname()), attribute.String("peer.service", c.service)))
	defer span.End()
	res, err := c.next.RoundTrip(r.WithContext(ctx))
	if err != nil {
		span.SetStatus(codes.Error, "no answer") // the error's text contains the URL
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", res.StatusCode))
	if res.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return res, nil
}
