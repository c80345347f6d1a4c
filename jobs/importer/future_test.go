package importer_test

import (
	"testing"

	"lottery/jobs/importer"
	"lottery/models"
)

// TestFarFuture: a day that has not come is future_date in every feed, however far off. A mistyped year still makes a
// valid date.
func TestFarFuture(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, tc := range []struct {
		feed, content string
		want          []string
	}{
		{
			models.FeedCSV, "game,date,tod,number\nny-numbers,2205-06-21,Midday,123\nny-numbers,2205-02-29,Midday,123\nny-numbers,1899-12-31,Midday,123\n",
			[]string{`f:2 date "2205-06-21" future_date`, `f:3 date "2205-02-29" bad_date`, `f:4 date "1899-12-31" bad_date`},
		},
		{
			models.FeedNYOpenData, "Draw Date,Midday Daily #,Evening Daily #,Midday Win 4 #,Evening Win 4 #\n06/21/2205,123,,,\n02/29/2205,123,,,\n",
			[]string{`f:2 Draw Date "06/21/2205" future_date`, `f:3 Draw Date "02/29/2205" bad_date`},
		},
		{
			models.FeedNYOpenData, `[{"draw_date":"9999-12-31T00:00:00.000","midday_daily":"123"}]`,
			[]string{`f:1 draw_date "9999-12-31T00:00:00.000" future_date`},
		},
		{
			models.FeedTexas, "Pick 3 Day,6,21,2205,1,2,3\nPick 3 Day,2,29,2205,1,2,3\n",
			[]string{`f:1 2 "6,21,2205" future_date`, `f:2 2 "2,29,2205" bad_date`},
		},
		{
			models.FeedNC, "\"Date\",\"Day/Eve\",\"Ball 1\",\"Ball 2\",\"Ball 3\"\r\n\"06/21/2205\",\"D\",\"1\",\"2\",\"3\"\r\n",
			[]string{`f:2 Date "06/21/2205" future_date`},
		},
		{
			models.FeedVirginia, "Results for Pick 3\n6/21/2205; Day: 0,3,4\n",
			[]string{`f:2 1 "6/21/2205" future_date`},
		},
	} {
		_, rejections := b.run(importer.Options{Feed: tc.feed}, text("f", tc.content))
		wantLines(t, tc.feed, shorten(rejections), tc.want...)
	}
}
