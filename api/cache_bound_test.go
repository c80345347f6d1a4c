package api

import (
	"fmt"
	"testing"
)

// However many answers are requested, no more than maxCached bytes are cached, and an answer that is requested often stays.
func TestCachedAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const answers, size = 4000, 10 << 10
	var c answerCache
	favourite := cacheKey{target: "/favourite"}
	c.put("1", favourite, &answer{body: make([]byte, size)})
	for i := range answers {
		c.put("1", cacheKey{target: fmt.Sprint("/", i)}, &answer{body: make([]byte, size)})
		if c.get("1", favourite) == nil {
			t.Fatalf("the favourite was forgotten after %d others", i)
		}
		held := 0
		for _, generation := range []map[cacheKey]*answer{c.young, c.old} {
			for key, a := range generation {
				held += a.size(&key)
			}
		}
		if held > maxCached+2*size {
			t.Fatalf("%d bytes are cached after %d answers", held, i)
		}
	}
	if c.get("2", favourite) != nil {
		t.Error("an answer outlives its version")
	}
	c.put("2", cacheKey{target: "/"}, &answer{})
	if len(c.young) != 1 || len(c.old) != 0 {
		t.Error("the answers of an old version are still held")
	}
}
