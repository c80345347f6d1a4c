package models

import "time"

// UsageKept is how long counts of requests are kept.
const UsageKept = 400 // days

// UsageDay is the number of counted requests of one account, day, endpoint and status class.
type UsageDay struct {
	AccountID string `gorm:"primaryKey"`
	Day       Date   `gorm:"primaryKey"` // UTC
	Endpoint  string `gorm:"primaryKey"` // the route: /v1/draws/recent
	Class     int    `gorm:"primaryKey"` // first digit of the status
	Requests  int64
}

// PeriodStart returns when the period of t began, in Unix seconds. Periods begin at multiples of their length since
// 1970-01-01 UTC, so a period of 24 h is the UTC day.
func PeriodStart(t time.Time, period time.Duration) int64 {
	seconds := int64(period / time.Second)
	at := t.Unix()
	return at - at%seconds
}
