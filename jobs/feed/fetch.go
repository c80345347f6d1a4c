package feed

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"mime"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"golang.org/x/net/http/httpproxy"

	"lottery/models"
)

// Limits of one fetch.
const (
	longestStall = 30 * time.Second
	// longestBody is enough for what lotteries publish, a few MB per URL. Even if every URL of every feed takes this
	// long, the sync job reaches the last one within its half hour.
	longestBody  = 2 * time.Minute
	mostRetries  = 3
	firstWait    = time.Second
	longestWait  = time.Minute // a server that asks for more is left until the next sync
	mostRedirect = 5
)

// MostFetched is how large a response may be, in bytes. It is kept in the temporary folder while it is imported.
const MostFetched = 256 << 20

// Fetcher downloads what lotteries publish. It refuses URLs that lead to this machine or a private network, web pages,
// and truncated responses.
type Fetcher struct {
	client    *retryablehttp.Client
	userAgent string
	stall     time.Duration
	away      sync.Map // hosts whose last fetch failed in spite of all retries
}

// tries counts the attempts of one fetch. Once a host is known to be away, each further URL on it is tried only once,
// so that other lotteries do not have to wait.
type tries struct {
	once   bool
	failed bool // the last attempt might succeed in a moment
}

type triesKey struct{}

// FetchOptions configures a Fetcher.
type FetchOptions struct {
	// Contact tells publishers who is fetching: the service's own address.
	Contact string
	// AllowPrivate permits addresses of this machine and of private networks.
	AllowPrivate bool
	// Proxy is the proxy configuration; nil = the environment's (HTTPS_PROXY, HTTP_PROXY, NO_PROXY).
	Proxy *httpproxy.Config
	// FirstWait is the pause before the first retry; 0 = a second.
	FirstWait time.Duration
	// Stall is how long a server may take to connect, to send its headers, and between two pieces of the body, and how
	// long a connection is kept for the next request; 0 = half a minute.
	Stall time.Duration
	// Through wraps the transport, so that requests can be observed; nil = no wrapping.
	Through func(http.RoundTripper) http.RoundTripper
}

// NewFetcher makes a Fetcher.
func NewFetcher(o FetchOptions) *Fetcher {
	stall := cmp.Or(o.Stall, longestStall)
	route := newRoute(o.Proxy, o.AllowPrivate, stall)
	client := retryablehttp.NewClient()
	client.Logger = nil
	client.RetryMax, client.RetryWaitMin, client.RetryWaitMax = mostRetries, cmp.Or(o.FirstWait, firstWait), longestWait
	client.Backoff, client.CheckRetry = backoff, retry
	client.ErrorHandler = retryablehttp.PassthroughErrorHandler
	client.HTTPClient = &http.Client{
		Transport: &http.Transport{
			Proxy: route.proxy, DialContext: route.dial, TLSHandshakeTimeout: stall, ResponseHeaderTimeout: stall, ForceAttemptHTTP2: true,
			IdleConnTimeout: stall, // nobody closes a Fetcher, and each sync makes one
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > mostRedirect {
				return lasting{fmt.Errorf("it redirects more than %d times", mostRedirect)}
			}
			if asked := via[0].URL; r.URL.Host != asked.Host || (asked.Scheme == "https" && r.URL.Scheme != "https") {
				maps.DeleteFunc(r.Header, func(name string, _ []string) bool { return !slices.Contains(forAll, name) })
			}
			return nil
		},
	}
	if o.Through != nil {
		client.HTTPClient.Transport = o.Through(client.HTTPClient.Transport)
	}
	return &Fetcher{client: client, userAgent: fmt.Sprintf("lottery/%s (+%s)", models.BuildVersion().Version, o.Contact), stall: stall}
}

// lasting is an error that retrying does not mend.
type lasting struct{ error }

// forAll lists the headers that may be sent to a server other than the one asked, or to that one without TLS. The
// caller's headers are for that server alone: an app token is a secret, and net/http drops only the sensitive headers
// that it knows.
var forAll = []string{"User-Agent", "If-None-Match", "If-Modified-Since"}

// backoff doubles the pause each time, with jitter; it obeys Retry-After.
func backoff(least, most time.Duration, attempt int, res *http.Response) time.Duration {
	if after, ok := retryAfter(res); ok {
		return after
	}
	d := min(least<<attempt, most)
	return d/2 + rand.N(d/2+1)
}

func retryAfter(res *http.Response) (time.Duration, bool) {
	if res == nil || (res.StatusCode != http.StatusTooManyRequests && res.StatusCode != http.StatusServiceUnavailable) {
		return 0, false
	}
	text := res.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second, true
	}
	at, err := http.ParseTime(text)
	return max(0, time.Until(at)), err == nil
}

// retry reports whether to try again.
func retry(ctx context.Context, res *http.Response, err error) (bool, error) {
	t := ctx.Value(triesKey{}).(*tries) //nolint:forcetypeassert // Fetch puts it there
	worth, err := worthRetrying(ctx, res, err)
	t.failed = worth
	return worth && !t.once, err
}

// worthRetrying reports whether the same request may succeed in a moment.
func worthRetrying(ctx context.Context, res *http.Response, err error) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if after, ok := retryAfter(res); ok && after > longestWait {
		return false, nil
	}
	if _, ok := errors.AsType[lasting](err); ok {
		return false, nil
	}
	if fault, ok := errors.AsType[*net.DNSError](err); ok && fault.IsNotFound {
		return false, nil
	}
	return retryablehttp.DefaultRetryPolicy(ctx, res, err)
}

// Known holds an earlier response's validators: with them, unchanged content is not sent again.
type Known struct {
	ETag         string
	LastModified string
}

// Fetched is a response, kept in a file that Close removes.
type Fetched struct {
	Known
	NotModified bool
	Size        int64
	file        *os.File
}

// Open returns a reader of the response, each time from its beginning.
func (f *Fetched) Open() io.ReadCloser { return OpenTempFile(f.file) }

// Close removes the file.
func (f *Fetched) Close() error { return CloseTempFile(f.file) }

// Fetch downloads a URL completely. A web page, an error status, and a body that breaks off or does not end in time are
// errors. header is sent only to the URL's own server, not to one that it redirects to.
func (f *Fetcher) Fetch(ctx context.Context, address string, known Known, header http.Header) (*Fetched, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t := new(tries)
	request, err := retryablehttp.NewRequestWithContext(context.WithValue(ctx, triesKey{}, t), http.MethodGet, address, nil)
	if err != nil {
		return nil, errors.New("it is not a URL that can be fetched")
	}
	_, t.once = f.away.Load(request.URL.Host)
	maps.Copy(request.Header, header)
	request.Header.Set("User-Agent", f.userAgent)
	if known.ETag != "" {
		request.Header.Set("If-None-Match", known.ETag)
	}
	if known.LastModified != "" {
		request.Header.Set("If-Modified-Since", known.LastModified)
	}
	res, err := f.client.Do(request)
	if t.failed {
		f.away.Store(request.URL.Host, true)
	} else {
		f.away.Delete(request.URL.Host)
	}
	if err != nil {
		if fault, ok := errors.AsType[*url.Error](err); ok {
			err = fault.Err // the caller names the URL
		}
		if errors.Is(err, io.EOF) {
			err = errors.New("the server closed the connection without a response")
		}
		return nil, err
	}
	defer res.Body.Close() //nolint:errcheck // as much was read as is wanted
	out := &Fetched{Known: Known{res.Header.Get("ETag"), res.Header.Get("Last-Modified")}}
	switch {
	case res.StatusCode == http.StatusNotModified && known != Known{}:
		out.Known, out.NotModified = known, true
		return out, nil
	case res.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the server responds with %s", res.Status)
	}
	if kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type")); err == nil && strings.HasSuffix(kind, "html") {
		return nil, errors.New("the server sent a web page, not data: it may be under maintenance")
	}
	watchdog := time.AfterFunc(f.stall, func() { cancel(fmt.Errorf("the server sent nothing for %s", f.stall)) })
	defer watchdog.Stop()
	deadline := time.AfterFunc(longestBody, func() { cancel(fmt.Errorf("the server had not sent all of it after %s", longestBody)) })
	defer deadline.Stop()
	return out, out.save(ctx, &watched{res.Body, watchdog, f.stall})
}

// save writes the body to a temporary file.
func (f *Fetched) save(ctx context.Context, body io.Reader) error {
	var err error
	if f.file, err = NewTempFile("lottery-feed-*"); err != nil {
		return fmt.Errorf("keep the answer: %w", err)
	}
	f.Size, err = io.Copy(f.file, io.LimitReader(body, MostFetched+1))
	switch {
	case context.Cause(ctx) != nil:
		err = context.Cause(ctx)
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the response is incomplete")
	case err == nil && f.Size > MostFetched:
		err = fmt.Errorf("the response is larger than %d MiB", MostFetched>>20)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

// watched is a reader that resets a timer with every piece.
type watched struct {
	io.Reader
	timer *time.Timer
	stall time.Duration
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.timer.Reset(w.stall)
	return n, err
}
