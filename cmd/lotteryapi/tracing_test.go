package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	spans "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"lottery/api/middleware"
	"lottery/billing/sandbox"
	"lottery/configs"
	"lottery/jobs/feed"
	"lottery/models"
	"lottery/models/store/storetest"
)

// receiver receives traces by OTLP over HTTP.
type receiver struct {
	url string

	mu   sync.Mutex
	list []*spans.Span
	raw  strings.Builder // all that came
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	rc := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var got collector.ExportTraceServiceRequest
		if err == nil {
			err = proto.Unmarshal(body, &got)
		}
		if err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		rc.mu.Lock()
		defer rc.mu.Unlock()
		rc.raw.WriteString(got.String())
		for _, of := range got.GetResourceSpans() {
			for _, in := range of.GetScopeSpans() {
				rc.list = append(rc.list, in.GetSpans()...)
			}
		}
	}))
	t.Cleanup(server.Close)
	rc.url = server.URL
	return rc
}

func attributes(s *spans.Span) map[string]string {
	m := map[string]string{}
	for _, a := range s.GetAttributes() {
		m[a.GetKey()] = a.GetValue().GetStringValue()
		if n, ok := a.GetValue().GetValue().(*common.AnyValue_IntValue); ok {
			m[a.GetKey()] = strconv.FormatInt(n.IntValue, 10)
		}
	}
	return m
}

// Requests arrive as spans if a collector is configured; no span names a customer or a key.
func TestTraces(t *testing.T) {
	t.Parallel()
	rc := newReceiver(t)
	database := storetest.EmptyURL(t)
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + rc.url, "OTEL_BSP_SCHEDULE_DELAY=100", "LOTTERY_TRUSTED_PROXIES=127.0.0.1"}, serveArgs(database)...)
	key := newKey(t, database, "ada.traced@example.com")
	const parent = "4bf92f3577b34da6a3ce929d0e0e4736"
	r, err := http.NewRequest(http.MethodGet, p.base+"/v1/draws/date/2024-02-29?game_type=pick3", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", key)
	r.Header.Set("X-Request-Id", "traced-1")
	r.Header.Set("Traceparent", "00-"+parent+"-00f067aa0ba902b7-01")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	p.get(t, "/docs?api_key="+key, "")
	p.get(t, "/v1/made/up/"+key, "")
	if code := p.stop(t); code != 0 { // the last spans are sent
		t.Fatalf("exit code %d\n%s", code, p.stderr)
	}
	rc.mu.Lock()
	defer rc.mu.Unlock()
	var names []string
	found := false
	for _, s := range rc.list {
		names = append(names, s.GetName())
		if a := attributes(s); a["lottery.request_id"] == "traced-1" {
			found = true
			if a["http.request.method"] != http.MethodGet || a["http.response.status_code"] != strconv.Itoa(res.StatusCode) {
				t.Errorf("%d: %v", res.StatusCode, a)
			}
			if got := hex.EncodeToString(s.GetTraceId()); got != parent || a["http.route"] != "/v1/draws/date/{date}" || a["lottery.plan"] != "free" || s.GetKind() != spans.Span_SPAN_KIND_SERVER {
				t.Errorf("%s %v", got, s)
			}
		}
	}
	if !found {
		t.Error("no span has the request's id")
	}
	for _, want := range []string{"GET /v1/draws/date/{date}", "GET /docs", "GET other"} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %q among %q", want, names)
		}
	}
	for _, secret := range []string{key, key[4:30], "ada.traced"} {
		if strings.Contains(rc.raw.String(), secret) {
			t.Errorf("a span holds %q", secret)
		}
	}
	if !strings.Contains(rc.raw.String(), `"lottery"`) {
		t.Error("the service has no name")
	}
}

// Strangers cannot have their requests traced: only a trusted proxy says whether a request is.
func TestStrangersDoNotDecideWhatIsTraced(t *testing.T) {
	t.Parallel()
	for proxies, want := range map[string]int{"10.0.0.0/8": 0, "127.0.0.1": 1} {
		t.Run(proxies, func(t *testing.T) {
			t.Parallel()
			rc := newReceiver(t)
			p := startWith(t, []string{
				"OTEL_EXPORTER_OTLP_ENDPOINT=" + rc.url, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0",
				"LOTTERY_TRUSTED_PROXIES=" + proxies,
			}, serveArgs(storetest.EmptyURL(t))...)
			r, err := http.NewRequest(http.MethodGet, p.base+"/v1/games", nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
			res, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			if code := p.stop(t); code != 0 { // the last spans are sent
				t.Fatalf("exit code %d\n%s", code, p.stderr)
			}
			rc.mu.Lock()
			defer rc.mu.Unlock()
			if len(rc.list) != want {
				t.Errorf("%d spans instead of %d", len(rc.list), want)
			}
		})
	}
}

// A response that is the server's fault makes a failed span; so does a refusal from another service, or none at all.
func TestSpansOfFailures(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	tr := &tracing{provider: provider, tracer: provider.Tracer("test")}
	failed := func() bool {
		ended := recorder.Ended()
		return ended[len(ended)-1].Status().Code == codes.Error
	}
	var status int
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
	defer server.Close()
	client := http.Client{Transport: tr.client("feed", nil)}
	for status = range map[int]bool{200: true, 399: true, 400: true, 499: true, 500: true, 503: true} {
		tr.Begin(httptest.NewRequest(http.MethodGet, "/v1/games", nil)).End(middleware.Answered{Method: http.MethodGet, Route: "/v1/games", Status: status})
		if failed() != (status >= 500) {
			t.Errorf("a request answered with %d: failed is %t", status, failed())
		}
		res, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if failed() != (status >= 400) {
			t.Errorf("a service's %d: failed is %t", status, failed())
		}
	}
	server.Close()
	if res, err := client.Get(server.URL); err == nil {
		res.Body.Close()
		t.Error("a closed server responded")
	}
	if !failed() {
		t.Error("no response is no failure")
	}
}

// Requests to Stripe and to lotteries are child spans, and contain no part of the URL but the host.
func TestTracesOfOthers(t *testing.T) {
	t.Parallel()
	recorder := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
	tr := &tracing{provider: provider, tracer: provider.Tracer("test")}
	var stripeAPI http.Handler
	stripe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stripeAPI.ServeHTTP(w, r) }))
	t.Cleanup(stripe.Close)
	made, err := sandbox.New(sandbox.Options{URL: stripe.URL})
	if err != nil {
		t.Fatal(err)
	}
	stripeAPI = made
	ctx, span := tr.tracer.Start(context.Background(), "parent")
	sells := newBilling(&configs.Config{
		Stripe:    configs.Stripe{SecretKey: sandbox.DefaultKey, WebhookSecrets: []string{"whsec_x"}, APIURL: stripe.URL},
		PublicURL: &url.URL{Scheme: "http", Host: "localhost"},
	}, storetest.Open(t), nil, tr.client("stripe", nil), slog.New(slog.DiscardHandler))
	if _, err := sells.Setup(ctx); err != nil {
		t.Fatal(err)
	}
	fetcher := feed.NewFetcher(feed.FetchOptions{AllowPrivate: true, Through: func(next http.RoundTripper) http.RoundTripper { return tr.client("feed", next) }})
	lottery := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(lottery.Close)
	if _, err := fetcher.Fetch(ctx, lottery.URL+"/file.csv?token=secret", feed.Known{}, nil); err == nil {
		t.Error("404 is no file")
	}
	span.End()
	var names []string
	for _, s := range recorder.Ended() {
		names = append(names, s.Name())
		for _, a := range s.Attributes() {
			if text := a.Value.String(); strings.ContainsAny(text, "/?@") || strings.Contains(text, "secret") {
				t.Errorf("%s: %s is %q", s.Name(), a.Key, text)
			}
		}
		if s.SpanContext().TraceID() != span.SpanContext().TraceID() {
			t.Errorf("%s stands alone", s.Name())
		}
	}
	for _, want := range []string{"stripe POST", "feed GET"} {
		if !slices.Contains(names, want) {
			t.Errorf("no span %q among %q", want, names)
		}
	}
}

// A collector that is away costs nothing but a log line.
func TestTracesWithoutCollector(t *testing.T) {
	t.Parallel()
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_TIMEOUT=100", "OTEL_BSP_SCHEDULE_DELAY=50"}, serveArgs(storetest.EmptyURL(t))...)
	const told = `"msg":"traces cannot be sent"`
	for range 2 {
		if status, _ := p.get(t, "/docs", ""); status != http.StatusOK {
			t.Errorf("/docs: %d", status)
		}
		storetest.Until(t, "the log line", func() bool { return strings.Contains(p.stderr.String(), told) })
	}
	if code := p.stop(t); code != 0 { // the second one's span cannot be sent either
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	if n := strings.Count(p.stderr.String(), told); n != 1 {
		t.Errorf("told %d times in a minute:\n%s", n, p.stderr)
	}
}

// An unsupported protocol is reported at the start.
func TestTracesByGRPC(t *testing.T) {
	t.Parallel()
	p := launchWith(t, t.TempDir(), []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, serveArgs(storetest.EmptyURL(t))...)
	<-p.exited
	if code := p.cmd.ProcessState.ExitCode(); code != exitUsage || !strings.Contains(p.stderr.String(), "OTEL_EXPORTER_OTLP_PROTOCOL") {
		t.Errorf("exit code %d: %s", code, p.stderr)
	}
}

// The address may be https, and the protocol that is spoken may be named.
func TestTracesBySafeHTTP(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}
	log := slog.New(slog.DiscardHandler)
	tr, err := newTracing(context.Background(), func(name string) string { return env[name] }, log)
	if err != nil || tr == nil {
		t.Fatalf("%v, %v", tr, err)
	}
	tr.close(context.Background(), log)
}

// A URL without a scheme is an error: the exporter would ignore it and send the traces to its default.
func TestTracesToNoAddress(t *testing.T) {
	t.Parallel()
	for _, name := range tracingVariables {
		for _, endpoint := range []string{"127.0.0.1:4318", "collector:4318", "grpc://collector:4317", "http://", "u:topsecret@h", "http://u:topsecret%zz@h"} {
			_, err := newTracing(context.Background(), func(asked string) string {
				return map[string]string{name: endpoint}[asked]
			}, slog.New(slog.DiscardHandler))
			if models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), name+": must be an http:// or https:// address") || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("%s=%s: %v", name, endpoint, err)
			}
		}
	}
}

// OpenTelemetry's own messages are logged like any others, without what it has read.
func TestTracesComplain(t *testing.T) {
	t.Parallel()
	p := startWith(t, []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + newReceiver(t).url, "OTEL_EXPORTER_OTLP_HEADERS=topsecret"}, serveArgs(storetest.EmptyURL(t))...)
	if code := p.stop(t); code != 0 {
		t.Errorf("exit code %d\n%s", code, p.stderr)
	}
	told := false
	for text := range strings.Lines(p.stderr.String()) {
		var line struct{ Msg, Error string }
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Errorf("%q: %v", text, err)
		}
		told = told || line.Msg == "traces: parse headers" && line.Error != ""
	}
	if !told || strings.Contains(p.stderr.String(), "topsecret") {
		t.Errorf("%s", p.stderr)
	}
}
