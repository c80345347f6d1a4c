package store_test

import (
	"fmt"
	"strings"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// A slot that an operator releases holds what a feed last said, which it can then correct as before.
func TestReleaseDraw(t *testing.T) {
	t.Parallel()
	// Steps: "csv 123" and "va 123" are imports that fill or correct, "set 123", "unset", and "release".
	const tail = `{"fireball":"4"}`
	for name, c := range map[string]struct{ steps, want string }{
		"corrected by an operator":           {"csv 123, set 321, release", "123 " + tail + " csv r3"},
		"removed by an operator":             {"va 123, unset, release", "123 " + tail + " va-lottery r3"},
		"confirmed":                          {"va 123, set 123, release", "123 " + tail + " csv r1"},
		"corrected by a feed, confirmed":     {"csv 123, va 321, set 321, release", "321 " + tail + " va-lottery r2"},
		"confirmed, then corrected":          {"csv 123, va 321, set 321, set 456, unset, release", "321 " + tail + " va-lottery r5"},
		"only ever an operator's":            {"set 123, release", "123  csv r1"},
		"in the wrong slot":                  {"set 123, unset, release", "void  csv r2"},
		"in the wrong slot, then imported":   {"set 123, unset, release, va 456", "456 " + tail + " va-lottery r3"},
		"an operator's, then imported":       {"set 123, release, va 456", "456 " + tail + " va-lottery r2"},
		"released twice":                     {"csv 123, set 321, release, set 321, release", "123 " + tail + " csv r5"},
		"released, then confirmed":           {"csv 123, set 321, release, set 123, release", "123 " + tail + " csv r3"},
		"in the wrong slot, released, set":   {"set 123, unset, release, set 456, release", "void  csv r4"},
		"released and corrected by the feed": {"va 123, set 321, release, va 456, unset, release", "456 " + tail + " va-lottery r6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, st *store.Store) {
				at := slotAt(t, "va-pick-3", "2020-05-04", models.Day)
				filled := false
				for step := range strings.SplitSeq(c.steps, ", ") {
					what, number, _ := strings.Cut(step, " ")
					var err error
					switch what {
					case "set":
						_, err = st.SetDraw(t.Context(), store.OperatorDraw{Slot: at, Number: number, Reason: "x"})
					case "unset":
						_, err = st.UnsetDraw(t.Context(), at, "x")
					case "release":
						_, err = st.ReleaseDraw(t.Context(), at, "x")
					default:
						merge := fireballMerge(at, number, filled)
						if what == "va" {
							merge.Run.Feed = models.FeedVirginia
						}
						mergeDraws(t, st, merge)
					}
					if err != nil {
						t.Fatalf("%s: %v", step, err)
					}
					filled = true
				}
				if got := heldIn(t, st, at); got != c.want {
					t.Errorf("%s\n%s, want\n%s", c.steps, got, c.want)
				}
			})
		})
	}
}

// heldIn describes what is stored in a slot.
func heldIn(t testing.TB, st *store.Store, at models.Slot) string {
	t.Helper()
	held := "nothing"
	err := st.StoredDraws(t.Context(), at.GameID, at.Date, at.Date, func(d *models.Draw) error {
		addons, err := d.Addons.Value()
		number := d.Number
		if d.Void {
			number += "void"
		}
		held = strings.TrimSpace(fmt.Sprintf("%s %v %s r%d %s", number, addons, d.Feed, d.Revision, d.Reason))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return held
}

// Only an operator's slot can be released. Readers know the version by its token, which moves only if they see another
// draw; an import that was planned before is compared again in any case.
func TestReleaseDrawRefusesAndMoves(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		at := slotAt(t, "va-pick-3", "2020-05-04", models.Day)
		refused := func(what string, slot models.Slot, reason string, want models.Code) {
			t.Helper()
			if _, err := st.ReleaseDraw(t.Context(), slot, reason); models.ErrorCode(err) != want {
				t.Errorf("%s: %v, want %q", what, err, want)
			}
		}
		refused("an empty slot", at, "x", models.CodeNotFound)
		wrong := slotAt(t, "va-pick-3", "2020-05-05", models.Day)
		if _, err := st.SetDraw(t.Context(), store.OperatorDraw{Slot: wrong, Number: "123", Reason: "x"}); err != nil {
			t.Fatal(err)
		}
		if _, err := st.UnsetDraw(t.Context(), wrong, "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := st.ReleaseDraw(t.Context(), wrong, "x"); err != nil {
			t.Fatal(err)
		}
		refused("an empty slot that was released", wrong, "x", models.CodeNotFound)
		// It can be unset anew, so that no feed fills it, and released anew.
		if d, err := st.UnsetDraw(t.Context(), wrong, "y"); err != nil || !d.Void || d.Feed != models.FeedOperator || d.Reason != "y" {
			t.Errorf("%+v, %v", d, err)
		}
		if d, err := st.ReleaseDraw(t.Context(), wrong, "x"); err != nil || !d.Void || d.Feed != models.FeedCSV {
			t.Errorf("%+v, %v", d, err)
		}
		refused("an unknown game", slotAt(t, "va-pick-9", "2020-05-04", models.Day), "x", models.CodeNotFound)
		importedDraw(t, st, at, "123")
		refused("a feed's draw", at, "x", models.CodeConflict)
		refused("no reason", at, " ", models.CodeInvalid)

		for _, step := range []struct {
			number string
			moves  bool
		}{{"321", true}, {"123", false}} {
			if _, err := st.SetDraw(t.Context(), store.OperatorDraw{Slot: at, Number: step.number, Reason: "x"}); err != nil {
				t.Fatal(err)
			}
			before, err := st.DataVersion(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := st.ReleaseDraw(t.Context(), at, "x"); err != nil {
				t.Fatal(err)
			}
			after, err := st.DataVersion(t.Context())
			if err != nil || after.Number == before.Number || (after.Token != before.Token) != step.moves {
				t.Errorf("set to %s and released: %+v, %+v, %v", step.number, before, after, err)
			}
		}
	})
}

// A time of day that a game loses while it holds no draw there gets none back: the game would have draws that it cannot
// have.
func TestReleaseDrawAtALostTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := t.Context()
		both := models.NewTodSet(models.Day, models.Night)
		game := models.Game{ID: "xx-pick-3", Name: "X", Digits: 3, Tods: both, Jurisdiction: "XX", Timezone: "America/Chicago"}
		if _, err := st.AddGame(ctx, game); err != nil {
			t.Fatal(err)
		}
		change := func(tods models.TodSet) {
			t.Helper()
			if _, err := st.ChangeGame(ctx, game.ID, store.GameChange{Tods: tods}); err != nil {
				t.Fatal(err)
			}
		}
		at := slotAt(t, game.ID, "2020-05-04", models.Night)
		importedDraw(t, st, at, "123")
		if _, err := st.UnsetDraw(ctx, at, "x"); err != nil {
			t.Fatal(err)
		}
		change(models.NewTodSet(models.Day))
		if _, err := st.ReleaseDraw(ctx, at, "x"); models.ErrorCode(err) != models.CodeConflict || !strings.Contains(err.Error(), "does not draw at Night any more") {
			t.Errorf("%v", err)
		}
		change(both)
		if d, err := st.ReleaseDraw(ctx, at, "x"); err != nil || d.Number != "123" {
			t.Errorf("%+v %v", d, err)
		}
	})
}

// A draw that is set while another operator takes its time of day from the game is refused.
func TestSetDrawAtATimeThatIsBeingLost(t *testing.T) {
	t.Parallel()
	url := storetest.NewPostgres(t)
	st := storetest.OpenURL(t, url, store.Options{})
	for id, tods := range map[string]models.TodSet{"xx-pick-3": models.NewTodSet(models.Day, models.Night), "xy-pick-3": models.NewTodSet(models.Day)} {
		if _, err := st.AddGame(t.Context(), models.Game{ID: id, Name: id, Digits: 3, Tods: tods, Jurisdiction: "XX", Timezone: "America/Chicago"}); err != nil {
			t.Fatal(err)
		}
	}
	db := storetest.SQL(t, url)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), "SELECT number FROM data_version WHERE id = 1 FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	at := slotAt(t, "xx-pick-3", "2020-05-04", models.Night)
	refused := make(chan error)
	go func() {
		_, err := st.SetDraw(t.Context(), store.OperatorDraw{Slot: at, Number: "123", Reason: "x"})
		refused <- err
	}()
	storetest.UntilBlocked(t, db, 1)
	if _, err := tx.ExecContext(t.Context(), "UPDATE games SET tods = (SELECT tods FROM games WHERE id = 'xy-pick-3') WHERE id = 'xx-pick-3'"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := <-refused; models.ErrorCode(err) != models.CodeInvalid || !strings.Contains(err.Error(), "does not draw at Night; its times of day are Day") {
		t.Errorf("%v", err)
	}
	if _, err := st.UnsetDraw(t.Context(), at, "x"); models.ErrorCode(err) != models.CodeNotFound {
		t.Errorf("the slot: %v", err)
	}
}
