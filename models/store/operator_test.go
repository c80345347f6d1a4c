package store_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

// revisions summarizes the revision table.
func revisions(t testing.TB, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query("SELECT revision, number, addons, feed, void, reason, replaced_by FROM draw_revisions ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var revision int
		var number, addons, feed, reason, by string
		var void bool
		if err := rows.Scan(&revision, &number, &addons, &feed, &void, &reason, &by); err != nil {
			t.Fatal(err)
		}
		list = append(list, fmt.Sprintf("%d %q %s %s %v %q %s", revision, number, addons, feed, void, reason, by))
	}
	return strings.Join(list, "\n")
}

func TestSetAndUnsetDraw(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		ctx := context.Background()
		st := storetest.OpenURL(t, url, store.Options{Now: func() time.Time { return fixedNow }})
		at := slotAt(t, "va-pick-3", "2020-05-04", models.Day)
		importedDraw(t, st, at, "123")

		// moved reports whether an operation changed the version that readers know.
		last, err := st.DataVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		moved := func() bool {
			v, err := st.DataVersion(ctx)
			if err != nil {
				t.Fatal(err)
			}
			before := last
			last = v
			return v.Token != before.Token
		}
		set := func(number, reason string) models.Draw {
			d, err := st.SetDraw(ctx, store.OperatorDraw{Slot: at, Number: number, Reason: reason})
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		check := func(d models.Draw, number string, revision int, void bool, reason string) {
			t.Helper()
			if d.Number != number || d.Revision != revision || d.Void != void || d.Reason != reason || d.Feed != models.FeedOperator ||
				d.Addons["fireball"] != "4" || !d.IngestedAt.Equal(fixedNow) {
				t.Fatalf("%+v", d)
			}
			var stored models.Draw
			err := st.StoredDraws(ctx, at.GameID, at.Date, at.Date, func(s *models.Draw) error {
				stored = *s
				return nil
			})
			if err != nil || stored.Number != number || stored.Revision != revision || stored.Void != void || stored.Reason != reason ||
				stored.Feed != models.FeedOperator {
				t.Fatalf("stored %+v, %v", stored, err)
			}
		}

		check(set("123", "as in the archive"), "123", 1, false, "as in the archive")
		if moved() {
			t.Error("taking over the same digits moved the data version")
		}
		check(set("321", " typing mistake "), "321", 2, false, "typing mistake")
		if !moved() {
			t.Error("a correction did not move the data version")
		}
		number := last.Number
		check(set("321", "typing mistake"), "321", 2, false, "typing mistake")
		if moved() || last.Number != number {
			t.Error("saying the same again changed something")
		}
		check(set("321", "typing mistakes"), "321", 2, false, "typing mistakes")
		check(set("321", "typing mistake"), "321", 2, false, "typing mistake")
		if moved() {
			t.Error("another reason moved the data version")
		}
		d, err := st.UnsetDraw(ctx, at, "never drawn")
		if err != nil {
			t.Fatal(err)
		}
		check(d, "", 3, true, "never drawn")
		if !moved() {
			t.Error("taking a draw back did not move the data version")
		}
		if _, err := st.UnsetDraw(ctx, at, "again"); models.ErrorCode(err) != models.CodeNotFound {
			t.Errorf("taking back what is void: %v", err)
		}
		check(set("321", "drawn after all"), "321", 4, false, "drawn after all")
		if !moved() {
			t.Error("bringing a draw back did not move the data version")
		}
		const want = `1 "123" {"fireball":"4"} operator false "as in the archive" operator
2 "321" {"fireball":"4"} operator false "typing mistake" operator
3 "" {"fireball":"4"} operator true "never drawn" operator`
		if got := revisions(t, storetest.SQL(t, url)); got != want {
			t.Errorf("revisions:\n%s\nwant\n%s", got, want)
		}

		fresh := store.OperatorDraw{Slot: slotAt(t, "nc-pick-3", "2026-03-04", models.Evening), Number: "007", Reason: "new"} // tomorrow in North Carolina
		if d, err := st.SetDraw(ctx, fresh); err != nil || d.Revision != 1 || d.Feed != models.FeedOperator || d.Void || !moved() {
			t.Errorf("%+v, %v", d, err)
		}
	})
}

// Two draws in one slot are kept apart: setting one leaves the other alone.
func TestSetTheSecondDraw(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		first := slotAt(t, "nc-pick-3", "2020-05-04", models.Day)
		second := first
		second.Sequence = 2
		held := func() string {
			var list []string
			err := st.StoredDraws(ctx, first.GameID, first.Date, first.Date, func(d *models.Draw) error {
				list = append(list, fmt.Sprintf("%d %s %v r%d", d.Sequence, d.Number, d.Void, d.Revision))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			return strings.Join(list, ", ")
		}
		for _, step := range []struct {
			at     models.Slot
			number string // "" = void it
			want   string
		}{
			{first, "123", "1 123 false r1"},
			{second, "456", "1 123 false r1, 2 456 false r1"},
			{second, "457", "1 123 false r1, 2 457 false r2"},
			{first, "124", "1 124 false r2, 2 457 false r2"},
			{second, "", "1 124 false r2, 2  true r3"},
			{first, "", "1  true r3, 2  true r3"},
		} {
			var err error
			if step.number == "" {
				_, err = st.UnsetDraw(ctx, step.at, "x")
			} else {
				_, err = st.SetDraw(ctx, store.OperatorDraw{Slot: step.at, Number: step.number, Reason: "x"})
			}
			if got := held(); err != nil || got != step.want {
				t.Fatalf("%d %q: %s, %v; want %s", step.at.Sequence, step.number, got, err, step.want)
			}
		}
	})
}

func TestSetDrawRefuses(t *testing.T) {
	t.Parallel()
	st := storetest.OpenURL(t, storetest.URL(t), store.Options{Now: func() time.Time { return fixedNow }})
	good := store.OperatorDraw{Slot: slotAt(t, "va-pick-3", "2020-05-04", models.Day), Number: "123", Reason: "x"}
	for name, c := range map[string]struct {
		change func(*store.OperatorDraw)
		want   models.Code
	}{
		"nothing":        {func(*store.OperatorDraw) {}, ""},
		"unknown game":   {func(d *store.OperatorDraw) { d.GameID = "va-pick-9" }, models.CodeNotFound},
		"short":          {func(d *store.OperatorDraw) { d.Number = "12" }, models.CodeInvalid},
		"long":           {func(d *store.OperatorDraw) { d.Number = "1234" }, models.CodeInvalid},
		"letters":        {func(d *store.OperatorDraw) { d.Number = "12a" }, models.CodeInvalid},
		"other digits":   {func(d *store.OperatorDraw) { d.Number = "１２３" }, models.CodeInvalid},
		"not its tod":    {func(d *store.OperatorDraw) { d.Tod = models.Evening }, models.CodeInvalid},
		"no tod":         {func(d *store.OperatorDraw) { d.Tod = 0 }, models.CodeInvalid},
		"sequence 0":     {func(d *store.OperatorDraw) { d.Sequence = 0 }, models.CodeInvalid},
		"sequence 99":    {func(d *store.OperatorDraw) { d.Sequence = 99 }, ""},
		"sequence 100":   {func(d *store.OperatorDraw) { d.Sequence = 100 }, models.CodeInvalid},
		"tomorrow":       {func(d *store.OperatorDraw) { d.Date = mustDate(t, "2026-03-05") }, ""}, // it is the 4th in Virginia too
		"after tomorrow": {func(d *store.OperatorDraw) { d.Date = mustDate(t, "2026-03-06") }, models.CodeInvalid},
		"no reason":      {func(d *store.OperatorDraw) { d.Reason = " \n" }, models.CodeInvalid},
		"long reason":    {func(d *store.OperatorDraw) { d.Reason = strings.Repeat("ü", store.MaxReason+1) }, models.CodeInvalid},
		"not UTF-8":      {func(d *store.OperatorDraw) { d.Reason = "ver\xf6ffentlicht" }, models.CodeInvalid},
		"longest reason": {func(d *store.OperatorDraw) { d.Reason = strings.Repeat("ü", store.MaxReason) }, ""},
	} {
		in := good
		c.change(&in)
		if _, err := st.SetDraw(context.Background(), in); models.ErrorCode(err) != c.want {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// An import that compared before the operator acted does not overwrite the operator's draw, even if
// that has the same digits.
func TestOperatorIsNotOvertakenByAnImport(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		at := slotAt(t, "va-pick-3", "2020-05-04", models.Day)
		importedDraw(t, st, at, "123")
		planned, err := st.DataVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := st.SetDraw(ctx, store.OperatorDraw{Slot: at, Number: "123", Reason: "checked"}); err != nil {
			t.Fatal(err)
		}
		err = st.MergeDraws(ctx, planned.Number, []store.Merge{fireballMerge(at, "999", true)}, fixedNow)
		if !errors.Is(err, store.ErrStale) {
			t.Fatalf("the import went on: %v", err)
		}
	})
}
