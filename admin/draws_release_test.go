package admin_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// A draw that was set in the wrong slot and removed again leaves the slot to its feed once it is released.
func TestReleaseLeavesTheSlotToItsFeed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.run(0, "db", "migrate")
	draws := func(command string, more ...string) []string {
		return append([]string{"draws", command, "--game", "va-pick-3", "--date", "2020-05-04", "--tod", "Day", "--reason", "wrong day"}, more...)
	}
	file := filepath.Join(d.dir, "draws.csv")
	write(t, file, "game,date,tod,number\nva-pick-3,2020-05-03,Day,111\nva-pick-3,2020-05-04,Day,222\n")
	if _, said := d.run(4, draws("release")...); !strings.Contains(said, "has no draw on 2020-05-04 Day") {
		t.Error(said)
	}
	d.run(0, draws("set", "--number", "111")...)
	d.run(0, draws("unset", "--yes")...)
	if out, _ := d.run(0, "draws", "import", "--feed", "csv", file, "-o", "json"); !strings.Contains(out, `"overruled": 1`) {
		t.Error(out)
	}
	if out, said := d.run(0, draws("release")...); !strings.Contains(said, "stays empty until") || !strings.Contains(said, "draws sync --whole") {
		t.Error(out, said)
	}
	if out, _ := d.run(0, "draws", "import", "--feed", "csv", file, "-o", "json"); !strings.Contains(out, `"overruled": 0`) || !strings.Contains(out, `"corrected": 1`) {
		t.Error(out)
	}
	if out, _ := d.run(0, "draws", "export"); !strings.Contains(out, "va-pick-3,2020-05-04,Day,1,222\n") {
		t.Error(out)
	}
	if _, said := d.run(5, draws("release")...); !strings.Contains(said, "was not set by an operator: it came from the feed csv") {
		t.Error(said)
	}
	d.run(0, draws("set", "--number", "333")...)
	if out, said := d.run(0, draws("release", "-o", "json")...); !strings.Contains(out, `"number": "222"`) || !strings.Contains(said, "can correct it again") || !strings.Contains(said, "draws sync --whole") {
		t.Error(out, said)
	}
	if log := d.list("audit", "list"); log[0]["action"] != "draws release" || log[0]["was"] != "333" || log[0]["became"] != "222" || log[0]["reason"] != "wrong day" {
		t.Errorf("%v", log[0])
	}
}
