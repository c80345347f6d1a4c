package catalog_test

import (
	"fmt"

	"lottery/models"
	"lottery/models/catalog"
)

func Example() {
	b := catalog.NewBuilder(models.DataVersion{Number: 1, Token: "v1"})
	numbers := b.Game(models.Game{ID: "ny-numbers", Name: "New York Numbers", Digits: 3, Tods: models.NewTodSet(models.Midday, models.Evening)})
	day := models.NewDate(2024, 7, 1)
	for i, number := range []string{"007", "430", "700", "618"} {
		if err := numbers.Add(day+models.Date(i/2), []models.Tod{models.Midday, models.Evening}[i%2], 1, []byte(number)); err != nil {
			fmt.Println(err)
		}
	}
	c, err := b.Build()
	if err != nil {
		fmt.Println(err)
		return
	}

	page := c.Search(catalog.Query{From: models.FirstDate, To: models.LastDate, Limit: 100}, "070", false, nil)
	for _, r := range page.Refs {
		fmt.Printf("%s %s %s %0*d exact=%v\n", r.Game().ID, r.Date(), r.Tod(), r.Game().Digits, r.Number(), r.Exact())
	}
	fmt.Println(page.Total, page.ExactTotal, page.BoxTotal, page.More)
	// Output:
	// ny-numbers 2024-07-02 Midday 700 exact=false
	// ny-numbers 2024-07-01 Midday 007 exact=false
	// 2 0 2 false
}
