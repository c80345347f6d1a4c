package admin_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The record of an import contains its URL, with the values of parameters that may be secrets masked.
func TestAddressIsKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "gameId=1050&$$app_token=hunter2" {
			w.WriteHeader(http.StatusForbidden)
		}
		_, _ = io.WriteString(w, "game,date,tod,number\nva-pick-3,2020-05-04,Day,007\n")
	}))
	t.Cleanup(server.Close)
	d := newDesk(t)
	d.object("draws", "import", "--feed", "csv", server.URL+"/x.csv?gameId=1050&$$app_token=hunter2")
	runs, err := d.open().NewestImports(t.Context())
	if want := server.URL + "/x.csv?gameId=1050&$$app_token=xxxxx"; err != nil || len(runs) != 1 || runs[0].Source != want {
		t.Errorf("%+v, %v, want %s", runs, err, want)
	}
}

// A truncated response is reported as such, whatever its format, and nothing of it is imported.
func TestFetchBreaksOff(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		if r.URL.Path == "/csv" {
			_, _ = io.WriteString(w, "game,date,tod,number\nva-pick-3,2020-05-04,Day,007\n")
		} else {
			_, _ = io.WriteString(w, `[{"draw_date":"2020-05-04T00:00:00.000","midday_daily":"123"},`)
		}
	}))
	t.Cleanup(server.Close)
	d := newDesk(t)
	for _, feed := range []string{"csv", "ny-open-data"} {
		_, messages := d.run(1, "draws", "import", "--feed", feed, server.URL+"/"+feed)
		if want := "/" + feed + ": the response is incomplete\n"; !strings.HasSuffix(messages, want) {
			t.Errorf("%q, want …%q", messages, want)
		}
	}
	if out, _ := d.run(0, "draws", "export"); out != "game,date,tod,sequence,number\n" {
		t.Error(out)
	}
}
