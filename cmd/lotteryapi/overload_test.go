package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lottery/models/store/storetest"
)

// strangers opens n connections from malicious clients: they send text and wait for no response. leave closes them.
func strangers(t *testing.T, p *process, n int, prepare func(*net.TCPConn), text string) (leave func()) {
	t.Helper()
	var all []net.Conn
	for range n {
		c, err := net.Dial("tcp", strings.TrimPrefix(p.base, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		all = append(all, c)
		if prepare != nil {
			prepare(c.(*net.TCPConn))
		}
		_, _ = io.WriteString(c, text) // the server may have closed it already
	}
	return func() {
		for _, c := range all {
			c.Close()
		}
	}
}

// memory returns the process's memory in MiB.
func (p *process) memory(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if runtime.GOOS != "linux" {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := bytes.Cut(text, []byte("VmRSS:"))
	kb, err := strconv.Atoi(string(bytes.Fields(after)[0]))
	if err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}

// healthy requests /healthz, on new connections, until stop is called, which returns how many requests were sent. Any
// result but a 200 fails the test.
func healthy(t *testing.T, p *process) (stop func() int) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 30 * time.Second}
	var asked atomic.Int64
	var wg sync.WaitGroup
	end := make(chan struct{})
	wg.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(5 * time.Millisecond): // more often than any supervisor would
			}
			res, err := client.Get(p.base + "/healthz")
			if err != nil {
				t.Errorf("/healthz: %v", err)
				return
			}
			res.Body.Close()
			if res.StatusCode != http.StatusOK {
				t.Errorf("/healthz: %d", res.StatusCode)
			}
			asked.Add(1)
		}
	})
	return func() int {
		close(end)
		wg.Wait()
		return int(asked.Load())
	}
}

// thousandDraws returns an import file with the draws of more than a year.
func thousandDraws() string {
	var b strings.Builder
	b.WriteString("game,date,tod,number\n")
	for i := range 1200 {
		day := time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC).AddDate(0, 0, i/2)
		fmt.Fprintf(&b, "ny-win-4,%s,%s,%04d\n", day.Format(time.DateOnly), [2]string{"Midday", "Evening"}[i%2], i*37%10000)
	}
	return b.String()
}

// A thousand clients that never finish their headers, and hundreds that never send the body they announced, more than
// the server has places for, cannot keep it from serving others.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	p := start(t, t.TempDir(), serveArgs(url, "--max-connections", "200", "--max-in-flight", "32")...)
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	stop := healthy(t, p)
	strangers(t, p, 1000, nil, "GET /v1/games HTTP/1.1\r\nHost: x\r\nX-Half: ")
	strangers(t, p, 100, nil, "POST /sign-in/link HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntoken=")
	for _, path := range []string{"/v1/games", "/", "/nothing"} {
		strangers(t, p, 200, nil, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
	}
	for range 50 {
		if status, body := p.get(t, "/v1/games", key); status != http.StatusOK {
			t.Fatalf("among slow clients: %d %s", status, body)
		}
	}
	if asked := stop(); asked == 0 {
		t.Error("/healthz was never asked")
	}
	if mib := p.memory(t); mib > 300 {
		t.Errorf("%d MiB resident", mib)
	}
}

// If the system allows the server fewer open files than connections, it says so, and clients that never finish their
// headers still keep nobody out.
func TestFewFiles(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	few := append([]string{"-c", `ulimit -n 200 && exec "$0" "$@"`, binary(t, "lotteryapi")}, serveArgs(url, "--max-connections", "150")...)
	p := ready(t, launchCommand(t, t.TempDir(), nil, exec.Command("sh", few...)))
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	stop := healthy(t, p)
	strangers(t, p, 400, nil, "GET /v1/games HTTP/1.1\r\nHost: x\r\nX-Half: ")
	for range 50 {
		if status, body := p.get(t, "/v1/games", key); status != http.StatusOK {
			t.Fatalf("among slow clients: %d %s", status, body)
		}
	}
	if stop() == 0 || !strings.Contains(p.stderr.String(), "raise the limit of open files") ||
		!strings.Contains(p.stderr.String(), `"max_connections":150,"open_files":200,"held":100}`) {
		t.Errorf("%s", p.stderr)
	}
}

// A client that requests long responses and does not read them loses its place when others want it.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	p := start(t, t.TempDir(), serveArgs(url, "--max-in-flight", "16", "--ops-listen", "127.0.0.1:0")...)
	if out, code := admin(t, url, "draws", "import", "--feed", "csv", writeFile(t, thousandDraws())); code != 0 {
		t.Fatalf("import: %d %s", code, out)
	}
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	const long = "/v1/draws/recent?game=ny-win-4&count=1000"
	storetest.Until(t, "the draws", func() bool { return total(t, p, key, long) == 1200 })
	stop := healthy(t, p)
	// They send requests until the buffers are full. A client that is refused a place asks again: in the end none is
	// free. It pauses, since refusals, which it does not read either, would soon fill its buffers.
	asks := strings.Repeat("GET "+long+" HTTP/1.1\r\nHost: x\r\nX-Api-Key: "+key+"\r\n\r\n", 10)
	strangers(t, p, 32, func(c *net.TCPConn) {
		_ = c.SetReadBuffer(4 << 10)
		go func() {
			for {
				if _, err := io.WriteString(c, asks); err != nil {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
		}()
	}, "")
	storetest.Until(t, "a slow reader to be cut off", func() bool {
		_, _ = p.get(t, "/v1/games", key) // only a refused request makes the server check the others
		return p.metrics(t)[`lottery_http_connections_closed_total{reason="stalled"}`] > 0
	})
	storetest.Until(t, "a place among slow readers, time and again", func() bool {
		for range 20 {
			if status, _ := p.get(t, "/v1/games", key); status != http.StatusOK {
				return false
			}
		}
		return true
	})
	if stop() == 0 {
		t.Error("/healthz was never asked")
	}
	if mib := p.memory(t); mib > 400 {
		t.Errorf("%d MiB resident", mib)
	}
}

// Requests beyond the allowed number in flight are refused immediately, say so, and are not counted; afterwards all is
// as before.
func TestOverload(t *testing.T) {
	t.Parallel()
	url := storetest.EmptyURL(t)
	p := start(t, t.TempDir(), serveArgs(url, "--max-in-flight", "1")...)
	key := newKey(t, url, "dev@example.com", "--plan", "pro")
	const path = "/v1/games"
	if status, body := p.get(t, path, key); status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	stop := healthy(t, p)
	// A form that does not end holds the only place until it times out. It is sent again if it was refused because the
	// previous request was not quite over.
	leave := func() {}
	storetest.Until(t, "the place to be taken", func() bool {
		leave()
		leave = strangers(t, p, 1, nil, "POST /sign-in/link HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntoken=")
		time.Sleep(100 * time.Millisecond) // there is no signal that it has arrived
		status, _ := p.get(t, path, key)
		return status == http.StatusServiceUnavailable
	})
	before := usedToday(t, url, "dev@example.com")
	var served, refused atomic.Int64
	var wg sync.WaitGroup
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for range 64 {
		wg.Go(func() {
			for range 5 {
				res, body, err := ask(client, p.base+path, key)
				switch {
				case err != nil:
					t.Errorf("a request got no whole answer: %v", err)
				case res.StatusCode == http.StatusOK: // the form's time was over
					served.Add(1)
				case res.StatusCode == http.StatusServiceUnavailable && res.Header.Get("Retry-After") == "1" && isProblem(body, "unavailable"):
					refused.Add(1)
				default:
					t.Errorf("%d %s", res.StatusCode, body)
				}
			}
		})
	}
	wg.Wait()
	if refused.Load() == 0 || stop() == 0 {
		t.Errorf("%d refused", refused.Load())
	}
	leave()
	storetest.Until(t, "service as before", func() bool {
		status, _ := p.get(t, path, key)
		if status == http.StatusOK {
			served.Add(1)
		}
		return status == http.StatusOK
	})
	if code := p.stop(t); code != 0 { // it writes what it counted
		t.Fatalf("exit code %d\n%s", code, p.stderr)
	}
	if got := usedToday(t, url, "dev@example.com") - before; got < int(served.Load()) || got > int(served.Load())+1 {
		t.Errorf("%d requests counted, %d served: those that were refused count for nobody", got, served.Load())
	}
}

func ask(client *http.Client, url, key string) (*http.Response, []byte, error) {
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("X-API-Key", key)
	res, err := client.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return res, body, err
}

func isProblem(body []byte, code string) bool {
	var p struct{ Code string }
	return json.Unmarshal(body, &p) == nil && p.Code == code
}
