package admin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"time"

	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/secret"
)

const (
	fetchTimeout  = 30 * time.Second // to connect; to get the headers; between two pieces of the body
	maxFetched    = 256 << 20        // the most bytes of one URL
	mostRedirects = 10
)

// addressForm matches the beginning of a URL (RFC 3986, 3.1), whatever its scheme. A file with such a name can be given
// as ./NAME.
var addressForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// sources opens the files to import: paths, http(s) URLs, and - for stdin, at most once.
func (c *call) sources(args []string) ([]importer.Source, error) {
	var list []importer.Source
	stdin := false
	for _, arg := range args {
		switch {
		case arg == "-" && stdin:
			return nil, models.Errorf(models.CodeInvalid, "stdin (-) can only be read once")
		case arg == "-":
			stdin = true
			list = append(list, importer.Source{Name: "-", Size: -1, Open: func(context.Context) (io.ReadCloser, error) {
				return io.NopCloser(&untilEnd{Reader: c.stdin}), nil
			}})
		case addressForm.MatchString(arg):
			u, err := url.Parse(arg)
			if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
				return nil, models.Errorf(models.CodeInvalid, "%q is not a URL that can be fetched: it must be http:// or https:// and a host", arg)
			}
			list = append(list, importer.Source{Name: secret.Parameters(u.Redacted()), Size: -1, Open: func(ctx context.Context) (io.ReadCloser, error) {
				return c.fetch(ctx, arg)
			}})
		default:
			list = append(list, fileSource(arg))
		}
	}
	return list, nil
}

// untilEnd makes an end of input final. A terminal reports one at Ctrl-D, but waits for more if it is read again, as
// bufio does.
type untilEnd struct {
	io.Reader
	err error
}

func (u *untilEnd) Read(p []byte) (n int, err error) {
	if u.err == nil {
		n, u.err = u.Reader.Read(p)
	}
	return n, u.err
}

func fileSource(path string) importer.Source {
	size := int64(-1)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	return importer.Source{Name: path, Size: size, Open: func(context.Context) (io.ReadCloser, error) {
		f, err := os.Open(path)
		if fault, ok := errors.AsType[*os.PathError](err); ok {
			return nil, fault.Err // the message names the file already
		}
		return f, err
	}}
}

// fetch opens a URL. It gives up if the server is silent for fetchTimeout.
func (c *call) fetch(ctx context.Context, address string) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("fetch: %w", err)
	}
	request.Header.Set("User-Agent", "lotteryadmin/"+models.BuildVersion().Version)
	client := c.env.HTTP
	if client == nil {
		client = newHTTPClient()
	}
	response, err := client.Do(request)
	if err != nil {
		cancel(nil)
		if fault, ok := errors.AsType[*url.Error](err); ok {
			err = fault.Err // the message names the URL already
		}
		return nil, fmt.Errorf("fetch: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		cancel(nil)
		return nil, errors.Join(fmt.Errorf("the server responded with %s", response.Status), response.Body.Close())
	}
	stall := time.AfterFunc(fetchTimeout, func() { cancel(fmt.Errorf("the server sent nothing for %s", fetchTimeout)) })
	return &fetched{ctx: ctx, body: response.Body, left: maxFetched, stall: stall, cancel: cancel}, nil
}

func newHTTPClient() *http.Client {
	dialer := &net.Dialer{Timeout: fetchTimeout}
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: fetchTimeout,
			ResponseHeaderTimeout: fetchTimeout, ForceAttemptHTTP2: true, DisableKeepAlives: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			r.Header.Del("Referer") // the original URL may contain a token
			if len(via) > mostRedirects {
				return fmt.Errorf("it redirects more than %d times", mostRedirects)
			}
			return nil
		},
	}
}

// fetched is a response body with limits on its size and on the pause between two pieces.
type fetched struct {
	ctx    context.Context
	body   io.ReadCloser
	left   int64       // bytes still allowed
	stall  *time.Timer // cancels ctx if no Read returns for fetchTimeout
	cancel context.CancelCauseFunc
}

func (f *fetched) Read(p []byte) (int, error) {
	n, err := f.body.Read(p)
	f.stall.Reset(fetchTimeout)
	if f.left -= int64(n); f.left < 0 {
		return 0, fmt.Errorf("the response is larger than %d MiB: download it to a file and import that", maxFetched>>20)
	}
	switch cause := context.Cause(f.ctx); {
	case cause != nil && err != nil:
		err = cause
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("the response is incomplete: fetch it again")
	}
	return n, err
}

func (f *fetched) Close() error {
	f.stall.Stop()
	f.cancel(nil)
	return f.body.Close()
}
