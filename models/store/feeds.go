package store

import (
	"context"
	"strings"

	"gorm.io/gorm/clause"

	"lottery/models"
)

// FeedSource returns what is known about a feed's address; for a new one only the names are set.
func (s *Store) FeedSource(ctx context.Context, feed, address string) (models.FeedSource, error) {
	src := models.FeedSource{Feed: feed, Address: address}
	err := s.reader(ctx).Where("feed = ? AND address = ?", feed, address).Limit(1).Find(&src).Error
	return src, unavailable(err)
}

// FeedSources returns what is known about every address ever fetched, by feed and address.
func (s *Store) FeedSources(ctx context.Context) ([]models.FeedSource, error) {
	list := []models.FeedSource{}
	err := s.reader(ctx).Order("feed, address").Find(&list).Error
	return list, unavailable(err)
}

// SaveFeedSource stores what is known about an address.
func (s *Store) SaveFeedSource(ctx context.Context, src models.FeedSource) error {
	for _, mark := range []*string{&src.ETag, &src.LastModified} { // may be any bytes; useless if altered
		if !storable(*mark) {
			*mark = ""
		}
	}
	src.Error = strings.ReplaceAll(strings.ToValidUTF8(src.Error, "\ufffd"), "\x00", "\ufffd")
	err := s.writer(ctx).Clauses(clause.OnConflict{UpdateAll: true}).Create(&src).Error
	return unavailable(err)
}
