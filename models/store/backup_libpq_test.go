package store

import "testing"

func TestLibpqURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ in, address, password string }{
		{"postgres://lottery@db/lottery", "postgres://lottery@db/lottery", ""},
		{"postgres://lottery:p%40ss%2F@db:5433/lottery?sslmode=require", "postgres://lottery@db:5433/lottery?sslmode=require", "p@ss/"},
		{"postgres://lottery@/lottery?host=/run/pg+x&password=hunter2", "postgres://lottery@/lottery?host=%2Frun%2Fpg%20x", "hunter2"},
		{"postgres://db/lottery?pool_max_conns=3&default_query_exec_mode=exec&sslmode=disable", "postgres://db/lottery?sslmode=disable", ""},
	} {
		address, password, err := libpqURL(c.in)
		if err != nil || address != c.address || password != c.password {
			t.Errorf("%s: %s %s %v", c.in, address, password, err)
		}
	}
}
