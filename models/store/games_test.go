package store_test

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"lottery/configs"
	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestPrepareSeedsTheGamesOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		games, err := st.Games(ctx)
		product, productErr := configs.Games()
		if err != nil || productErr != nil || len(games) != len(product) {
			t.Fatalf("%d games of %d, %v, %v", len(games), len(product), err, productErr)
		}
		before, err := st.DataVersion(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.Prepare(ctx, false); err != nil {
			t.Fatal(err)
		}
		after, err := st.DataVersion(ctx)
		if err != nil || after != before {
			t.Fatalf("preparing twice moved the data version from %v to %v, %v", before, after, err)
		}
		g, err := st.Game(ctx, "ny-win-4")
		if err != nil || g.Tods != models.NewTodSet(models.Midday, models.Evening) || len(g.DrawDays) == 0 || !g.Builtin {
			t.Fatalf("%+v, %v", g, err)
		}
	})
}

// What the product says about its games replaces what a database has of them; games of the operator's stay as they are.
func TestPrepareRenewsTheGames(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		st := storetest.OpenURL(t, url, store.Options{})
		ctx := t.Context()
		before, err := st.Game(ctx, "ny-win-4")
		if err != nil {
			t.Fatal(err)
		}
		for set, renewed := range map[string]bool{
			"name = 'Win'": true, "digits = 5": true, "tods = 'Midday'": true, "jurisdiction = 'XX'": true, "timezone = 'UTC'": true,
			"draw_days = '[]'": true, "name = 'My own', builtin = FALSE": false,
		} {
			storetest.Exec(t, url, "UPDATE games SET "+set+" WHERE id = 'ny-win-4'")
			old, err := st.DataVersion(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if err := st.Prepare(ctx, false); err != nil {
				t.Fatalf("%s: %v", set, err)
			}
			now, err := st.DataVersion(ctx)
			if err != nil || (now != old) != renewed {
				t.Errorf("%s: the data version went from %v to %v, %v", set, old, now, err)
			}
			got, err := st.Game(ctx, "ny-win-4")
			if err != nil || reflect.DeepEqual(got, before) != renewed {
				t.Errorf("%s: %+v, %v", set, got, err)
			}
			storetest.Exec(t, url, "UPDATE games SET builtin = TRUE WHERE id = 'ny-win-4'")
			if err := st.Prepare(ctx, false); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Ids are in byte order whatever the server's collation: the tests' PostgreSQL ignores hyphens.
func TestGamesAreInByteOrder(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		for _, id := range []string{"zzb", "zz-c", "zza", "zz-a"} {
			_, err := st.AddGame(ctx, models.Game{
				ID: id, Name: "Grüße, \"" + id + "\"", Digits: 3, Tods: models.NewTodSet(models.Day), Jurisdiction: "ZZ", Timezone: "UTC",
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		games, err := st.Games(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var ids, loaded []string
		for _, g := range games {
			ids = append(ids, g.ID)
		}
		err = st.LoadDraws(ctx, func(models.DataVersion) {}, func(g models.Game) store.DrawFunc {
			loaded = append(loaded, g.ID)
			return nil
		})
		if err != nil || !slices.IsSorted(ids) || !slices.Equal(ids, loaded) {
			t.Errorf("%q, %q, %v", ids, loaded, err)
		}
	})
}
