package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
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

// tracing sends spans by OTLP. A nil one traces nothing, and costs nothing. Names of attributes are OpenTelemetry's:
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/. No span holds an address's query, a key or an e-mail.
type tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	carrier  propagation.TraceContext
}

// tracingVariables are OpenTelemetry's own: one of them turns tracing on. The exporter and the sampler read theirs
// (OTEL_EXPORTER_OTLP_HEADERS, OTEL_TRACES_SAMPLER, …) by themselves.
// https://opentelemetry.io/docs/specs/otel/protocol/exporter/
var tracingVariables = []string{"OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"}

// tracingTimeout is how long a stop waits for the last spans to be sent.
const tracingTimeout = 3 * time.Second

// newTracing is what the environment asks for; nil if it asks for nothing.
func newTracing(ctx context.Context, getenv func(string) string, log *slog.Logger) (*tracing, error) {
	on := false
	for _, name := range tracingVariables {
		endpoint := getenv(name)
		if on = on || endpoint != ""; endpoint == "" {
			continue
		}
		// The exporter would go on with its default, https://localhost:4318. A password in it must not come to a log.
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
	), resource.WithHost(), resource.WithFromEnv()) // what the environment says is stronger
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	t := &tracing{provider: sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(about))}
	t.tracer = t.provider.Tracer("lottery")
	var logged atomic.Int64
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { // for each batch: once a minute is enough
		now := time.Now().Unix()
		if last := logged.Load(); now-last >= 60 && logged.CompareAndSwap(last, now) {
			log.Warn("traces cannot be sent", "error", err)
		}
	}))
	return t, nil
}

// causes writes OpenTelemetry's own lines with their cause alone: besides, they repeat what they read, headers with a
// token too.
type causes struct{ slog.Handler }

// Handle writes a line.
func (h causes) Handle(ctx context.Context, r slog.Record) error {
	short := slog.NewRecord(r.Time, r.Level, "traces: "+r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "err" { // so logr calls it
			short.AddAttrs(slog.Any("error", a.Value))
		}
		return true
	})
	return h.Handler.Handle(ctx, short)
}

// close sends what is not sent yet.
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

// server is what the requests' counters want; nil if nothing is traced.
func (t *tracing) server() middleware.Tracer {
	if t == nil {
		return nil
	}
	return t
}

// Begin begins the span of a request, as a part of the client's if it says so (traceparent).
func (t *tracing) Begin(r *http.Request) middleware.Span {
	ctx := t.carrier.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
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

// client traces requests to a named service through next. Of the address only the host is told: paths and queries of
// others may hold names of customers.
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
		span.SetStatus(codes.Error, "no answer") // the error's text holds the address
		return nil, err
	}
	span.SetAttributes(attribute.Int("http.response.status_code", res.StatusCode))
	if res.StatusCode >= http.StatusBadRequest {
		span.SetStatus(codes.Error, "")
	}
	return res, nil
}
