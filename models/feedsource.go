package models

import (
	"database/sql/driver"
	"encoding/json"
	"time"
)

// FeedSource is what is known of one address that a feed is fetched from.
type FeedSource struct {
	Feed         string `gorm:"primaryKey"`
	Address      string `gorm:"primaryKey"`
	ETag         string `gorm:"column:etag"`
	LastModified string
	Size         int64      // bytes of the last whole answer that was taken; 0 = none was
	Rejected     Texts      // what was rejected in it, so that only new rejections are told
	CheckedAt    *time.Time // tried
	SucceededAt  *time.Time // fetched and imported, or found unchanged
	WholeAt      *time.Time // last read from its beginning
	Error        string     // of the last try; "" = it succeeded
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
