package models_test

import (
	"slices"
	"testing"

	"lottery/models"
)

func TestDerivedDigits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		number, normalized string
		sum                int
		pairs              []string
	}{
		{"86691", "16689", 30, []string{"16", "18", "19", "66", "68", "69", "89"}},
		{"777", "777", 21, []string{"77"}},
		{"10", "01", 1, []string{"01"}},
		{"007", "007", 7, []string{"00", "07"}},
		{"5", "5", 5, []string{}},
	} {
		if got := models.Normalized(c.number); got != c.normalized {
			t.Errorf("Normalized(%s) = %s", c.number, got)
		}
		if got := models.DigitsSum(c.number); got != c.sum {
			t.Errorf("DigitsSum(%s) = %d", c.number, got)
		}
		if got := models.Pairs2DP(c.number); !slices.Equal(got, c.pairs) {
			t.Errorf("Pairs2DP(%s) = %q", c.number, got)
		}
	}
}
