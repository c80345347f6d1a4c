package quota_test

import (
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"lottery/api/quota"
	"lottery/models/store/storetest"
)

// A contact with Redis is given up after 2 seconds, and its connection with it. If a new connection took longer than
// that to a distant Redis, no contact would ever succeed, and each node would count for itself.
func TestRoundTripsToANewRedis(t *testing.T) {
	t.Parallel()
	redis := storetest.NewRedis(t)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	var trips atomic.Int64
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("unix", strings.TrimPrefix(redis.URL(), "unix://"))
			if err != nil {
				client.Close()
				continue
			}
			var asked atomic.Bool
			pass := func(to, from net.Conn, note func()) {
				defer to.Close()
				b := make([]byte, 64<<10)
				for {
					n, err := from.Read(b)
					if n > 0 {
						note()
					}
					if _, failed := to.Write(b[:n]); err != nil || failed != nil {
						return
					}
				}
			}
			go pass(client, server, func() { asked.Store(false) })
			go pass(server, client, func() {
				if !asked.Swap(true) {
					trips.Add(1)
				}
			})
		}
	}()
	r, err := quota.OpenRedis("redis://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, _, err := r.ApplyQuota(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if n := trips.Load(); n > 4 { // HELLO, INFO, and the script, by its hash and then in full
		t.Errorf("the first contact took %d round trips", n)
	}
}
