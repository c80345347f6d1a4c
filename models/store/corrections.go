package store

import (
	"context"

	"lottery/models"
)

// CorrectionFilter narrows Corrections; zero fields have no effect.
type CorrectionFilter struct {
	GameID   string
	From, To *models.Date // date of the draw, inclusive
	Limit    int
}

// Correction is what a slot held before, and what replaced it.
type Correction struct {
	models.DrawRevision `gorm:"embedded"`

	NewNumber string
	NewAddons models.Addons
	NewVoid   bool
	NewReason string
}

// Corrections returns corrections of draws, newest first.
func (s *Store) Corrections(ctx context.Context, f CorrectionFilter) ([]Correction, error) {
	// A revision was replaced by the next one, or by what the slot holds now.
	q := s.reader(ctx).Table("draw_revisions AS r").
		Select("r.*, COALESCE(n.number, d.number) AS new_number, COALESCE(n.addons, d.addons) AS new_addons," +
			" COALESCE(n.void, d.void) AS new_void, COALESCE(n.reason, d.reason) AS new_reason").
		Joins("LEFT JOIN draw_revisions AS n ON n.game_id = r.game_id AND n.date = r.date AND n.tod = r.tod AND n.sequence = r.sequence AND n.revision = r.revision + 1").
		Joins("LEFT JOIN draws AS d ON d.game_id = r.game_id AND d.date = r.date AND d.tod = r.tod AND d.sequence = r.sequence").
		Order("r.id DESC")
	if f.GameID != "" {
		q = q.Where("r.game_id = ?", f.GameID)
	}
	if f.From != nil {
		q = q.Where("r.date >= ?", *f.From)
	}
	if f.To != nil {
		q = q.Where("r.date <= ?", *f.To)
	}
	if f.Limit > 0 {
		q = q.Limit(f.Limit)
	}
	list := []Correction{}
	if err := q.Scan(&list).Error; err != nil {
		return nil, translate(err)
	}
	for i := range list {
		list[i].ReplacedAt = list[i].ReplacedAt.UTC()
	}
	return list, nil
}
