package api

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"lottery/api/accept"
	"lottery/api/deflate"
)

// minCompressed is the size above which an answer is compressed: a smaller one fits into a packet anyway.
const minCompressed = 1 << 10

// encoder is a content coding with its pool of writers.
type encoder struct {
	name  []string // the Content-Encoding value
	pool  sync.Pool
	short func(dst, text []byte) []byte // appends the coded form of a text of at most deflate.MaxShort bytes, quickly
}

type resetWriter interface {
	io.WriteCloser
	Reset(w io.Writer)
}

var (
	gzipEncoder = &encoder{name: []string{"gzip"}, pool: sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}, short: deflate.AppendShort}
	zstdEncoder = &encoder{name: []string{"zstd"}, pool: sync.Pool{New: func() any { return newZstd() }}, short: appendShortZstd}
	shortZstd   = sync.Pool{New: func() any { return newZstd(zstd.WithNoEntropyCompression(true)) }}
)

func newZstd(options ...zstd.EOption) *zstd.Encoder {
	w, err := zstd.NewWriter(io.Discard, append(options,
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10))...)
	if err != nil {
		panic(err) // only invalid options fail: a programming error
	}
	return w
}

// appendShortZstd skips zstd's entropy coding, which builds codes for each text; see deflate.AppendShort.
func appendShortZstd(dst, text []byte) []byte {
	w := shortZstd.Get().(*zstd.Encoder) //nolint:forcetypeassert // the pool makes nothing else
	defer shortZstd.Put(w)
	return w.EncodeAll(text, dst)
}

// compress appends body's coded form to dst.
func (e *encoder) compress(dst, body []byte) ([]byte, error) {
	if len(body) <= deflate.MaxShort {
		return e.short(dst, body), nil
	}
	w := e.pool.Get().(resetWriter) //nolint:forcetypeassert // the pool makes nothing else
	defer e.pool.Put(w)
	b := bytes.NewBuffer(dst)
	w.Reset(b)
	if _, err := w.Write(body); err != nil {
		return dst, err
	}
	err := w.Close()
	return b.Bytes(), err
}

// acceptedEncoder returns the coding that the client prefers; nil = none. Ties go to gzip, in which
// lists are compressed fastest.
func acceptedEncoder(header []string) *encoder {
	if len(header) == 0 {
		return nil
	}
	z, g := accept.Quality(header, "zstd", accept.Encoding), accept.Quality(header, "gzip", accept.Encoding)
	switch {
	case max(z, g) < accept.Quality(header, "identity", accept.Named):
		return nil
	case g > 0 && g >= z:
		return gzipEncoder
	case z > 0:
		return zstdEncoder
	default:
		return nil
	}
}
