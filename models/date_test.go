package models_test

import (
	"testing"
	"time"

	"lottery/models"
)

// Every day of the accepted range agrees with the standard library's calendar.
func TestDateAgainstTheCalendar(t *testing.T) {
	t.Parallel()
	day := time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	for d := models.FirstDate; d <= models.LastDate; d++ {
		if got, want := d.String(), day.Format("2006-01-02"); got != want {
			t.Fatalf("day %d is %s, want %s", d, got, want)
		}
		if d.Weekday() != day.Weekday() {
			t.Fatalf("%s is a %s, want %s", d, d.Weekday(), day.Weekday())
		}
		back, err := models.ParseDate(d.String())
		if err != nil || back != d {
			t.Fatalf("ParseDate(%s) = %v, %v", d, back, err)
		}
		day = day.AddDate(0, 0, 1)
	}
	if !day.Equal(time.Date(2101, 1, 1, 0, 0, 0, 0, time.UTC)) {
		t.Fatalf("the range ends at %s", day)
	}
}

func TestParseDateRefuses(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "2024-02-30", "2023-02-29", "2024-13-01", "2024-00-10", "2024-01-00", "1899-12-31", "2101-01-01", "2024-1-05", "24-01-05", "2024/01/05", "2024/01-05", "2024-01/05", "202:-01-05", "2024-0:-05", "2024-01-0:", "2024-1/-05", "2024-01-05T00:00:00", "+024-01-05", "２024-01-05", " 2024-01-05"} {
		if d, err := models.ParseDate(s); err == nil {
			t.Errorf("ParseDate(%q) = %s", s, d)
		}
	}
}
