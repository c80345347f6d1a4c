package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func TestWalkByCursor(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	whole := s.get(t, "/v1/draws/search?number=123&order=asc", nil)
	var all struct{ Draws []json.RawMessage }
	if err := json.Unmarshal(whole.Body.Bytes(), &all); err != nil {
		t.Fatal(err)
	}
	var walked []json.RawMessage
	path, pages := "/v1/draws/search?number=123&order=asc&limit=1", 0
	for path != "" {
		res := s.get(t, path, nil)
		var page struct {
			Draws      []json.RawMessage
			Total      int
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil || page.Total != len(all.Draws) || pages > 10 {
			t.Fatalf("%s: %v %s", path, err, res.Body)
		}
		walked = append(walked, page.Draws...)
		link := res.Header().Get("Link")
		if (link == "") != (page.NextCursor == "") {
			t.Errorf("Link %q, next_cursor %q", link, page.NextCursor)
		}
		path = strings.TrimSuffix(strings.TrimPrefix(link, "<http://localhost:8080"), `>; rel="next"`)
		if path != "" && !strings.Contains(path, page.NextCursor) {
			t.Errorf("Link %q does not hold %q", link, page.NextCursor)
		}
		pages++
	}
	if !slices.EqualFunc(walked, all.Draws, func(a, b json.RawMessage) bool { return string(a) == string(b) }) || pages != len(all.Draws) {
		t.Errorf("walked %s in %d pages\nwant %s", walked, pages, all.Draws)
	}
}

// However a client spells the cursor's name, the next address has one cursor; and each cursor has
// only one valid spelling.
func TestCursorsAsWritten(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	const path = "/v1/draws/search?number=123&order=asc&limit=1"
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(s.get(t, path, nil).Body.Bytes(), &page); err != nil || page.NextCursor == "" {
		t.Fatal(err, page)
	}
	res := s.get(t, path+"&%63ursor="+page.NextCursor, nil)
	next := strings.TrimSuffix(strings.TrimPrefix(res.Header().Get("Link"), "<http://localhost:8080"), `>; rel="next"`)
	if res.Code != http.StatusOK || next == "" || s.get(t, next, nil).Code != http.StatusOK {
		t.Errorf("%d, next %q", res.Code, next)
	}
	for _, cursor := range []string{page.NextCursor[:5] + "%0A" + page.NextCursor[5:], page.NextCursor + "%0D%0A", page.NextCursor + "="} {
		if res := s.get(t, path+"&cursor="+cursor, nil); res.Code != http.StatusBadRequest {
			t.Errorf("%q: %d", cursor, res.Code)
		}
	}
	if res := s.get(t, "/v1/draws/by-sum?game=ny-numbers&sum=-0", nil); res.Code != http.StatusBadRequest {
		t.Errorf("sum -0: %d", res.Code)
	}
}

func TestCursorBelongsToItsRequest(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	res := s.get(t, "/v1/draws/by-pair?pair=12&game=ny-numbers&limit=1", nil)
	if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil || page.NextCursor == "" {
		t.Fatalf("%v %s", err, res.Body)
	}
	cursor := "&cursor=" + page.NextCursor
	for path, want := range map[string]int{
		"/v1/draws/by-pair?pair=12&game=ny-numbers&limit=5" + cursor:                           200,
		"/v1/draws/by-pair?game=ny-numbers&pair=12&position=any&order=desc" + cursor:           200,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&order=asc" + cursor:                         400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&tod=Evening" + cursor:                       400,
		"/v1/draws/by-pair?pair=12&game=nc-pick-3" + cursor:                                    400,
		"/v1/draws/by-pair?pair=21&game=ny-numbers" + cursor:                                   400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&from=2000-01-01" + cursor:                   400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&format=csv" + cursor:                        400,
		"/v1/draws/recent?game=ny-numbers" + cursor:                                            400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers" + cursor[:len(cursor)-2]:                   400,
		"/v1/draws/by-pair?pair=12&game=ny-numbers&cursor=" + strings.Repeat("A", len(cursor)): 400,
	} {
		if res := s.get(t, path, nil); res.Code != want {
			t.Errorf("%s: %d, want %d", path, res.Code, want)
		}
	}
	// A cursor of which a bit has changed would continue somewhere else, and one of another version might.
	raw, err := base64.RawURLEncoding.DecodeString(page.NextCursor)
	if err != nil {
		t.Fatal(err)
	}
	var altered [][]byte
	for i := range raw {
		other := bytes.Clone(raw)
		other[i] ^= 1
		altered = append(altered, other)
	}
	of := bytes.Clone(raw[:len(raw)-4])
	of[0]++
	altered = append(altered, binary.BigEndian.AppendUint32(of, crc32.ChecksumIEEE(of)))
	for _, other := range altered {
		cursor := base64.RawURLEncoding.EncodeToString(other)
		if res := s.get(t, "/v1/draws/by-pair?pair=12&game=ny-numbers&cursor="+cursor, nil); res.Code != http.StatusBadRequest || !strings.Contains(res.Body.String(), "did not issue") {
			t.Errorf("%x instead of %x: %d %s", other, raw, res.Code, res.Body)
		}
	}
}
