package store_test

import (
	"context"
	"testing"

	"lottery/models"
	"lottery/models/store"
	"lottery/models/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

func TestPrepareSeedsTheGamesOnce(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, st *store.Store) {
		ctx := context.Background()
		games, err := st.Games(ctx)
		if err != nil || len(games) != 8 {
			t.Fatalf("%d games, %v", len(games), err)
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
