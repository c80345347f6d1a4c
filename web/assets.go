package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	"lottery/api/accept"
)

//go:embed static
var staticFiles embed.FS

// assets are the embedded files. Each is served under a path that contains its hash, so browsers may cache it forever.
type assets struct {
	address map[string]string // file name → hashed path
	byPath  map[string]*asset
}

// hashedName is the name of a file in a hashed path.
var hashedName = regexp.MustCompile(`^(.+)\.[0-9a-f]{10}(\.[0-9a-z]+)$`)

type asset struct {
	contentType string
	plain, gzip []byte
}

func loadAssets() (*assets, error) {
	a := &assets{address: map[string]string{}, byPath: map[string]*asset{}}
	list, err := fs.ReadDir(staticFiles, "static")
	if err != nil {
		return nil, err
	}
	read := func(name string) ([]byte, error) { return staticFiles.ReadFile("static/" + name) }
	add := func(name string, text []byte) {
		sum := sha256.Sum256(text)
		ext := path.Ext(name)
		address := "/static/" + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:5]) + ext
		kind := mime.TypeByExtension(ext)
		switch ext { // mime's table depends on the machine
		case ".woff2":
			kind = "font/woff2"
		case ".js":
			kind = "text/javascript; charset=utf-8"
		case ".svg":
			kind = "image/svg+xml"
		}
		file := &asset{contentType: kind, plain: text}
		if ext != ".woff2" {
			file.gzip = zip(text)
		}
		a.address[name], a.byPath[address] = address, file
	}
	for _, f := range list {
		if path.Ext(f.Name()) == ".css" {
			continue // added last, because it refers to the others by their hashed paths
		}
		text, err := read(f.Name())
		if err != nil {
			return nil, err
		}
		add(f.Name(), text)
	}
	css, err := read("style.css")
	if err != nil {
		return nil, err
	}
	for name, address := range a.address {
		css = bytes.ReplaceAll(css, []byte(`url("`+name+`")`), []byte(`url("`+address+`")`))
	}
	add("style.css", css)
	return a, nil
}

// of returns the hashed path of an embedded file; templates call it as "asset".
func (a *assets) of(name string) (string, error) {
	if address, ok := a.address[name]; ok {
		return address, nil
	}
	return "", fmt.Errorf("there is no static file %q", name)
}

// serve serves a file under its hashed path. During an upgrade, nodes of two releases share the requests of one page, so
// it may be asked for the hash of another release: it serves its own file, which nobody keeps, since without a style
// sheet the page would be unusable.
func (a *assets) serve(w http.ResponseWriter, r *http.Request) error {
	keep := "public, max-age=31536000, immutable"
	file, ok := a.byPath[r.URL.Path]
	if !ok {
		keep = "no-store"
		name := hashedName.FindStringSubmatch(r.PathValue("file"))
		if name == nil {
			return errNotFound()
		}
		if file, ok = a.byPath[a.address[name[1]+name[2]]]; !ok {
			return errNotFound()
		}
	}
	w.Header().Set("Cache-Control", keep)
	file.write(w, r)
	return nil
}

// serveAs serves a file under a path without a hash, such as /favicon.ico. Browsers may cache it for a day.
func (a *assets) serveAs(name string) handler {
	file := a.byPath[a.address[name]]
	return func(w http.ResponseWriter, r *http.Request) error {
		w.Header().Set("Cache-Control", "public, max-age=86400")
		file.write(w, r)
		return nil
	}
}

func (f *asset) write(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	text := f.plain
	if f.gzip != nil {
		header.Add("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			text = f.gzip
		}
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// acceptsGzip reports whether the client likes gzip at least as much as an uncompressed response. It returns false for
// range requests, whose offsets refer to the uncompressed bytes.
func acceptsGzip(r *http.Request) bool {
	header := r.Header["Accept-Encoding"]
	q := accept.Quality(header, "gzip", accept.Encoding)
	return q > 0 && q >= accept.Quality(header, "identity", accept.Named) && r.Header.Get("Range") == ""
}

func zip(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // a valid level
	_, _ = z.Write(text)                                  // to memory: cannot fail
	_ = z.Close()
	return b.Bytes()
}
