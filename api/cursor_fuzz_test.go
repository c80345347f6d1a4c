package api_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// FuzzCursor sends arbitrary bytes as a cursor, also with a valid checksum: the answer is 200 or 400, and a page
// holds only draws of the game.
func FuzzCursor(f *testing.F) {
	s := newServer(f)
	const path = "/v1/draws/recent?game=ny-numbers&count=1"
	first := s.get(f, path, nil)
	var page struct {
		NextCursor string `json:"next_cursor"`
	}
	if err := json.Unmarshal(first.Body.Bytes(), &page); err != nil || page.NextCursor == "" {
		f.Fatalf("no cursor in %s: %v", first.Body, err)
	}
	own, err := base64.RawURLEncoding.DecodeString(page.NextCursor)
	if err != nil {
		f.Fatal(err)
	}
	identity := own[1:9]
	for _, seed := range []string{"", "\x01", string(own), string(own[:15]), string(own[9:]), strings.Repeat("\xff", 40), string(own[:9]) + "\xff\xff\xff\xff\xff\xff", string(own[:9]) + "\x80\x00\x00\x00\x00\x00ny-numbers"} {
		f.Add([]byte(seed), false)
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, mend bool) {
		if len(raw) > 4000 {
			return // too long for a URL
		}
		if mend { // add the version, this request's identity and a valid checksum, to get past the first checks
			raw = append(append([]byte{1}, identity...), raw...)
			raw = binary.BigEndian.AppendUint32(raw, crc32.ChecksumIEEE(raw))
		}
		for _, cursor := range []string{base64.RawURLEncoding.EncodeToString(raw), url.QueryEscape(string(raw))} {
			if len(cursor) > 8000 {
				continue
			}
			res := s.get(t, path+"&cursor="+cursor, nil)
			switch res.Code {
			case http.StatusBadRequest:
			case http.StatusOK:
				var got struct{ Draws []struct{ Game string } }
				if err := json.Unmarshal(res.Body.Bytes(), &got); err != nil {
					t.Fatalf("%q: %v %s", cursor, err, res.Body)
				}
				for _, d := range got.Draws {
					if d.Game != "ny-numbers" {
						t.Errorf("%q gives a draw of %s", cursor, d.Game)
					}
				}
			default:
				t.Errorf("%q: %d %s", cursor, res.Code, res.Body)
			}
		}
	})
}
