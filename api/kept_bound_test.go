package api

import (
	"fmt"
	"testing"
)

// However many answers are requested, no more than maxKept bytes are kept, and an answer that is requested often stays.
func TestKeptAnswersAreBounded(t *testing.T) {
	t.Parallel()
	const answers, size = 4000, 10 << 10
	var k kept
	favourite := question{target: "/favourite"}
	k.put("1", favourite, &made{body: make([]byte, size)})
	for i := range answers {
		k.put("1", question{target: fmt.Sprint("/", i)}, &made{body: make([]byte, size)})
		if k.get("1", favourite) == nil {
			t.Fatalf("the favourite was forgotten after %d others", i)
		}
		held := 0
		for _, generation := range []map[question]*made{k.young, k.old} {
			for q, a := range generation {
				held += a.size(&q)
			}
		}
		if held > maxKept+2*size {
			t.Fatalf("%d bytes are kept after %d answers", held, i)
		}
	}
	if k.get("2", favourite) != nil {
		t.Error("an answer outlives its version")
	}
	k.put("2", question{target: "/"}, &made{})
	if len(k.young) != 1 || len(k.old) != 0 {
		t.Error("the answers of an old version are still held")
	}
}
