package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"

	"lottery/models"
	"lottery/models/catalog"
)

// manyDraws makes a catalog whose answers are long enough to be compressed. Each of its numbers contains version.
func manyDraws(t testing.TB, version int) *catalog.Catalog {
	t.Helper()
	b := catalog.NewBuilder(models.DataVersion{Number: int64(version), Token: fmt.Sprint("version", version)})
	for n := range 3 {
		g := b.Game(models.Game{ID: fmt.Sprintf("many-%d", n), Name: "Many", Digits: 4, Jurisdiction: "XX", Timezone: "UTC"})
		for i := range 2000 {
			if err := g.Add(models.NewDate(2010, 1, 1)+models.Date(i/2), models.Tod(2+3*(i%2)), 1, fmt.Appendf(nil, "%d%03d", version, (i*7+n)%1000)); err != nil {
				t.Fatal(err)
			}
		}
	}
	cat, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return cat
}

// somePath returns one of a few thousand requests, so that some come twice.
func somePath(rng *rand.Rand) string {
	game := fmt.Sprintf("game=many-%d", rng.IntN(3))
	format := []string{"", "&format=csv", "&format=ndjson", "&format=json"}[rng.IntN(4)]
	return []string{
		fmt.Sprintf("/v1/draws/recent?%s&count=%d%s", game, 100+rng.IntN(100), format), // half are long enough to be cached
		fmt.Sprintf("/v1/draws/by-sum?%s&sum=%d&limit=%d%s", game, 5+rng.IntN(20), 100+rng.IntN(100), format),
		fmt.Sprintf("/v1/draws/%%72ecent?%s&count=%d%s", game, 100+rng.IntN(100), format), // links repeat the spelling
		fmt.Sprintf("/v1/draws/date/2010-01-%02d?order=asc%s", 1+rng.IntN(20), format),
		fmt.Sprintf("/v1/stats?%s&from=2010-02-%02d", game, 1+rng.IntN(20)),
		"/v1/games",
	}[rng.IntN(6)]
}

// A cached answer equals the original: its body and headers are those of a server that has cached nothing,
// in every form and coding.
func TestCachedAnswersAreTheAnswers(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	forgetful := *s
	forgetful.live = &catalog.Live{}
	fresh := forgetful.restarted()
	cat, other := manyDraws(t, 1), manyDraws(t, 2)
	s.live.Swap(cat)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		headers := map[string]string{
			"Accept-Encoding": []string{"", "gzip", "zstd", "gzip, zstd;q=0.1", "br"}[rng.IntN(5)],
			"X-Request-Id":    "same",
		}
		path := somePath(rng)
		fresh.live.Swap(other) // an answer of another version makes it drop everything cached
		fresh.get(t, "/v1/draws/recent?game=many-0&count=200", map[string]string{"Accept-Encoding": "gzip"})
		fresh.live.Swap(cat)
		got, want := s.get(t, path, headers), fresh.get(t, path, headers)
		if got.Code != want.Code || !reflect.DeepEqual(got.Header(), want.Header()) || !bytes.Equal(got.Body.Bytes(), want.Body.Bytes()) {
			t.Fatalf("%s %v:\n%d %v\n%d %v", path, headers, got.Code, got.Header(), want.Code, want.Header())
		}
	}
}

// While versions are swapped, no answer mixes them: tag, records and total are of the same one.
func TestCachedAnswersAreOfOneVersion(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	versions := []*catalog.Catalog{manyDraws(t, 1), manyDraws(t, 2)}
	s.live.Swap(versions[0])
	var asking, swapping sync.WaitGroup
	done := make(chan struct{})
	swapping.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				s.live.Swap(versions[i%2])
			}
		}
	})
	var tags sync.Map // tag → version
	for n := range 4 {
		asking.Go(func() {
			rng := rand.New(rand.NewPCG(3, uint64(n)))
			for range 500 {
				path := fmt.Sprintf("/v1/draws/recent?game=many-%d&count=%d", rng.IntN(3), 160+rng.IntN(3))
				res := s.get(t, path, map[string]string{"Accept-Encoding": "gzip"})
				body := unzipped(t, res)
				ones, twos := strings.Count(body, `"numbers":["1"`), strings.Count(body, `"numbers":["2"`)
				if (ones == 0) == (twos == 0) {
					t.Errorf("%s: %d draws of one version, %d of the other", path, ones, twos)
					return
				}
				if was, known := tags.LoadOrStore(path+res.Header().Get("Etag"), ones > 0); known && was != (ones > 0) {
					t.Errorf("%s: the tag of one version with the draws of the other", path)
					return
				}
			}
		})
	}
	asking.Wait()
	close(done)
	swapping.Wait()
}

// unzipped returns an answer's body as the standard library decodes it.
func unzipped(t *testing.T, res *httptest.ResponseRecorder) string {
	t.Helper()
	z, err := gzip.NewReader(res.Body)
	if err != nil {
		t.Fatalf("%d %v: %v", res.Code, res.Header(), err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
