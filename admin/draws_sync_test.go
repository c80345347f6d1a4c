package admin_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lottery/configs"
	"lottery/jobs"
	"lottery/models"
)

// feedAddresses returns the options with the feeds' addresses. A test sets them all, so as to ask no lottery's own
// server.
func feedAddresses() []configs.Option {
	return slices.DeleteFunc(configs.Options(), func(o configs.Option) bool {
		return !strings.HasPrefix(o.Key, "feeds_") || !strings.HasSuffix(o.Key, "_url")
	})
}

// feedURLs returns configuration with the address of every feed, and that of Virginia.
func feedURLs(every, virginia string) (text string) {
	for _, o := range feedAddresses() {
		address := every
		if o.Key == "feeds_va_lottery_url" {
			address = virginia
		}
		text += o.Key + ": " + address + "\n"
	}
	return text
}

// The result of a sync counts what became of every draw that the lottery published.
func TestSyncCountsDraws(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var body atomic.Value
	lottery := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("gameId") == "1040" {
			_, _ = w.Write([]byte("Results for Pick 4\n8/30/2015; Day: 4,4,0,7\n"))
			return
		}
		_, _ = w.Write([]byte(body.Load().(string)))
	}))
	t.Cleanup(lottery.Close)
	file := filepath.Join(d.dir, "lottery.yaml")
	write(t, file, "feeds_allow_private: true\nfeeds_va_lottery_url: "+lottery.URL+"\n")
	body.Store("Results for Pick 3\n9/1/2015; Day: 1,1,1\n8/31/2015; Day: 5,5,5\n8/30/2015; Day: 0,3,4\n8/29/2015; Day: 1,2,3\n8/28/2015; Day: 1,1,1\n")
	d.run(0, "draws", "sync", "--feed", models.FeedVirginia, "--config", file)
	d.run(0, "draws", "set", "--game", "va-pick-3", "--date", "2015-08-31", "--tod", "Day", "--number", "999", "--reason", "archive")
	body.Store("Results for Pick 3\n9/3/2015; Day: 0,3; Wild: 4\n9/3/2015\n9/2/2015; Day: 2,2,2\n9/2/2015; Day: 2,2,2\n9/1/2015; Day: 1,1,1\n8/31/2015; Day: 5,5,5\n8/30/2015; Day: 0,3,5\n8/28/2015; Day: 1,1,1\n")
	out, messages := d.run(3, "draws", "sync", "--feed", models.FeedVirginia, "--config", file, "--whole", "--accept-corrections", "-o", "json")
	out = strings.Join(strings.Fields(regexp.MustCompile(`"duration_ms": [0-9]+`).ReplaceAllString(out, `"duration_ms": N`)), "")
	const want = `[{"feed":"va-lottery","addresses":2,"not_modified":0,"lines":11,"draws":10,"inserted":1,"unchanged":3,"corrected":1,"duplicate":1,` +
		`"overruled":1,"rejected":3,"skipped":2,"rejections":{"bad_digits":1,"bad_tod":1,"malformed":1},"new_rejections":3,"errors":[],"duration_ms":N,"ignored_columns":[],` +
		`"withdrawn":1,"withdrawn_draws":[{"file":"SERVER?gameId=1050","game":"va-pick-3","date":"2015-08-29","tod":"Day","sequence":1,"number":"123"}]}]`
	if out != strings.ReplaceAll(want, "SERVER", lottery.URL) {
		t.Errorf("%s\nwant\n%s", out, want)
	}
	for _, said := range []string{
		lottery.URL + `?gameId=1050:2: Day: bad_digits "0,3": Virginia Pick 3 draws 3 digits`, lottery.URL + `?gameId=1050:3: malformed "9/3/2015": `, "does not have 1 stored draw any more", "3 of 10 draws rejected, 3 of them for the first time",
	} {
		if !strings.Contains(messages, said) {
			t.Errorf("%q is not said: %s", said, messages)
		}
	}

	// What cannot be fetched is in the result, feed by feed.
	write(t, file, feedURLs(lottery.URL, lottery.URL))
	out, _ = d.run(1, "draws", "sync", "--config", file, "-o", "json") // private addresses are refused
	if strings.Count(out, `"errors": [`) != len(jobs.SyncedFeeds()) || strings.Contains(out, `"errors": []`) {
		t.Error(out)
	}
	if entry := d.list("audit", "list", "--limit", "1")[0]; entry["action"] != "draws sync" || entry["object"] != "all feeds" || entry["result"] != "failed" {
		t.Errorf("%v", entry)
	}
}

// Rejected draws make every sync that reads them exit with code 3; only the first one names them.
func TestSyncExitCodes(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var body atomic.Value
	lottery := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := body.Load().(string)
		if r.URL.Query().Get("gameId") == "1040" {
			answer = "Results for Pick 4\n8/30/2015; Day: 4,4,0,7\n"
		}
		w.Header().Set("ETag", strconv.Quote(strconv.Itoa(len(answer))))
		http.ServeContent(w, r, "", time.Time{}, strings.NewReader(answer))
	}))
	t.Cleanup(lottery.Close)
	file := filepath.Join(d.dir, "lottery.yaml")
	write(t, file, "feeds_allow_private: true\nfeeds_va_lottery_url: "+lottery.URL+"\n")
	const good, damaged = "Results for Pick 3\n8/30/2015; Day: 0,3,4\n", "8/29/2015; Day: 0,3\n"
	for _, step := range []struct {
		body  string
		flags []string
		code  int
		says  string
	}{
		{good + damaged, nil, 3, "lotteryadmin: 1 of 3 draws rejected, 1 of them for the first time"},
		{good + damaged, nil, 0, ""}, // unchanged, so not read
		{good + damaged, []string{"--whole"}, 3, "lotteryadmin: 1 of 3 draws rejected, 0 of them for the first time"},
		{good, []string{"--whole", "--accept-shrink"}, 0, ""},
		{"<html>", []string{"--accept-shrink"}, 1, "web page"},
	} {
		body.Store(step.body)
		_, messages := d.run(step.code, append([]string{"draws", "sync", "--feed", models.FeedVirginia, "--config", file}, step.flags...)...)
		if named := strings.Contains(messages, "bad_digits"); !strings.Contains(messages, step.says) || named != strings.Contains(step.says, "1 of them") {
			t.Errorf("%v: %s", step, messages)
		}
	}
}
