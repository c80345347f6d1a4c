package models

import (
	"database/sql/driver"
	"encoding/json"
	"time"
)

// FeedSource is what is known about an address that a feed is fetched from.
type FeedSource struct {
	Feed         string `gorm:"primaryKey"`
	Address      string `gorm:"primaryKey"`
	ETag         string `gorm:"column:etag"`
	LastModified string
	Size         int64      // bytes of the last complete answer that was imported; 0 = none
	Rejected     Texts      // what it rejected, so that only new rejections are reported
	CheckedAt    *time.Time // last attempt
	SucceededAt  *time.Time // last time it was fetched and imported, or unchanged
	WholeAt      *time.Time // last time it was read from the beginning
	Error        string     // of the last attempt; "" = success
}

// Texts is a list of texts, stored as JSON.
type Texts []string

// Value stores t as JSON.
func (t Texts) Value() (driver.Value, error) {
	if t == nil {
		return "[]", nil
	}
	b, err := json.Marshal([]string(t))
	return string(b), err
}

// Scan reads what Value wrote.
func (t *Texts) Scan(src any) error { return scanJSON(src, (*[]string)(t)) }
