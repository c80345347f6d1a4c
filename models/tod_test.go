package models_test

import (
	"testing"

	"lottery/models"
)

func TestParseTodSet(t *testing.T) {
	t.Parallel()
	if set, err := models.ParseTodSet("Night, Day"); err != nil || set.String() != "Day,Night" || set.Len() != 2 {
		t.Errorf("%s, %v", set, err)
	}
	for _, s := range []string{"", "Day,", "day", "Day,Night,Day"} {
		if set, err := models.ParseTodSet(s); err == nil {
			t.Errorf("ParseTodSet(%q) = %s", s, set)
		}
	}
}
