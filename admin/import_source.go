package admin

import (
	"context"
	"errors"
	"io"
	"net/url"
	"os"
	"regexp"

	"lottery/jobs/feed"
	"lottery/jobs/importer"
	"lottery/models"
	"lottery/models/secret"
)

// addressForm matches the beginning of a URL (RFC 3986, 3.1), whatever its scheme. A file with such a name can be given
// as ./NAME.
var addressForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9+.-]*://`)

// sources opens the files to import: paths, http(s) URLs, and - for stdin, at most once.
func (c *call) sources(args []string) ([]importer.Source, error) {
	var list []importer.Source
	stdin := false
	// The operator has typed these URLs: unlike those of a sync, they may be in a private network.
	fetcher := feed.NewFetcher(feed.FetchOptions{Contact: c.cfg.PublicURL.String(), AllowPrivate: true})
	for _, arg := range args {
		switch {
		case arg == "":
			return nil, models.Errorf(models.CodeInvalid, "the name of a file is empty")
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
				return fetch(ctx, fetcher, arg)
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

func fetch(ctx context.Context, fetcher *feed.Fetcher, address string) (io.ReadCloser, error) {
	got, err := fetcher.Fetch(ctx, address, feed.Known{}, nil)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{got.Open(), got}, nil
}
