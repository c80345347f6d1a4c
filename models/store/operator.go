package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"lottery/models"
)

// MaxReason is the longest reason an operator may give, in characters.
const MaxReason = 500

// OperatorDraw is what a slot holds according to an operator.
type OperatorDraw struct {
	models.Slot
	Number string
	Reason string // why the operator says so; kept with the draw
}

// SetDraw makes a slot hold the given number on an operator's authority; until ReleaseDraw, no feed corrects it. Other
// digits, or a slot that was void, count as a correction: the previous contents become a revision, and the add-ons
// stay. The same digits only pass to the operator's authority, and then the data version's token stays. CodeNotFound:
// no such game; CodeInvalid: the game cannot have drawn that there.
func (s *Store) SetDraw(ctx context.Context, in OperatorDraw) (models.Draw, error) {
	return s.changeSlot(ctx, in.Slot, in.Reason, func(tx *gorm.DB, game *models.Game, d *models.Draw, reason string) error {
		if err := s.checkOperatorDraw(game, in); err != nil {
			return err
		}
		switch {
		case isEmpty(d):
			d.Number, d.Feed, d.Revision, d.Reason, d.IngestedAt = in.Number, models.FeedOperator, 1, reason, s.now()
			if err := tx.Create(d).Error; err != nil {
				return err
			}
			return s.bumpDataVersion(tx)
		case d.Void || d.Number != in.Number:
			return s.correctDraw(tx, d, contents{Number: in.Number, Addons: d.Addons, Feed: models.FeedOperator, Reason: reason})
		case d.Feed == models.FeedOperator && d.Reason == reason:
			return nil
		}
		return s.passDraw(tx, d, models.FeedOperator, reason)
	})
}

// UnsetDraw declares on an operator's authority that a slot holds no draw. The previous contents become a revision, and
// imports of the slot are overruled until ReleaseDraw. CodeNotFound: it is empty, or an operator has said so already.
// Only the reason is checked, so that an impossible row can be voided too.
func (s *Store) UnsetDraw(ctx context.Context, slot models.Slot, reason string) (models.Draw, error) {
	return s.changeSlot(ctx, slot, reason, func(tx *gorm.DB, _ *models.Game, d *models.Draw, reason string) error {
		switch {
		case isEmpty(d), d.Void && d.Feed == models.FeedOperator:
			return noDraw(slot)
		case d.Void: // unset and released before
			return s.passDraw(tx, d, models.FeedOperator, reason)
		}
		return s.correctDraw(tx, d, contents{Addons: d.Addons, Feed: models.FeedOperator, Void: true, Reason: reason})
	})
}

// ReleaseDraw ends an operator's authority over a slot. The slot holds again what a feed last said, as a correction if
// that differs. If no feed said anything, or an operator confirmed what one had said, the contents stay until any feed
// says something, as if they had come from the feed csv. CodeNotFound: the slot is empty, and no operator said so;
// CodeConflict: it holds a feed's draw, or its game has lost that time of day.
func (s *Store) ReleaseDraw(ctx context.Context, slot models.Slot, reason string) (models.Draw, error) {
	return s.changeSlot(ctx, slot, reason, func(tx *gorm.DB, game *models.Game, d *models.Draw, _ string) error {
		switch {
		case isEmpty(d), d.Void && d.Feed != models.FeedOperator: // the latter was released before
			return noDraw(slot)
		case d.Feed != models.FeedOperator:
			return models.Errorf(models.CodeConflict, "the draw of %s on %s %s (sequence %d) was not set by an operator: it came from the feed %s, which can correct it", slot.GameID, slot.Date, slot.Tod, slot.Sequence, d.Feed)
		}
		return s.releaseDraw(tx, game, d)
	})
}

// changeSlot calls change with the game of a slot and what the slot holds, which is empty (isEmpty) if nothing was ever
// stored there, and with the reason as it is kept. No other program changes draws or games meanwhile, since all of them,
// imports included, lock the data version first.
func (s *Store) changeSlot(ctx context.Context, slot models.Slot, reason string, change func(tx *gorm.DB, game *models.Game, d *models.Draw, reason string) error) (models.Draw, error) {
	var d models.Draw
	reason, err := checkReason(reason)
	if err != nil {
		return d, err
	}
	err = s.transaction(ctx, func(tx *gorm.DB) error {
		if _, err := s.lockVersion(tx); err != nil {
			return err
		}
		game, err := findGame(tx, slot.GameID)
		if err != nil {
			return err
		}
		d = models.Draw{GameID: slot.GameID, Date: slot.Date, Tod: slot.Tod, Sequence: slot.Sequence}
		if err := slotOf(tx, slot).Take(&d).Error; err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
			return err
		}
		d.IngestedAt = d.IngestedAt.UTC()
		was := d.Number // "" if there is no draw, or a void one
		if err := change(tx, &game, &d, reason); err != nil {
			return err
		}
		return s.did(tx, models.AuditEntry{Object: slot.String(), Was: was, Became: d.Number, Reason: reason})
	})
	return d, translate(err)
}

// isEmpty reports whether d was never stored.
func isEmpty(d *models.Draw) bool { return d.Revision == 0 }

func (s *Store) releaseDraw(tx *gorm.DB, game *models.Game, d *models.Draw) error {
	var before []models.DrawRevision
	if err := slotOf(tx, d.Slot()).Order("revision DESC").Find(&before).Error; err != nil {
		return fmt.Errorf("find what a feed said: %w", err)
	}
	to, found := lastOfFeed(d, before)
	switch {
	case !found:
		return s.passDraw(tx, d, models.FeedCSV, "")
	case to.Number == d.Number && to.Void == d.Void && maps.Equal(to.Addons, d.Addons):
		return s.passDraw(tx, d, to.Feed, "")
	case d.Void && !to.Void && !game.Tods.Has(d.Tod): // lost while it had no draws there (ChangeGame)
		return models.Errorf(models.CodeConflict, "%s does not draw at %s any more; its times of day are %s", game.ID, d.Tod, game.Tods)
	}
	return s.correctDraw(tx, d, to)
}

// lastOfFeed returns the last contents of d's slot that a feed gave, whether or not an operator confirmed them. before
// is the slot's revisions, newest first. Who gave the first contents is not known once they are confirmed.
func lastOfFeed(d *models.Draw, before []models.DrawRevision) (contents, bool) {
	if len(before) > 0 && before[0].ReplacedBy != models.FeedOperator {
		return contents{Number: d.Number, Addons: d.Addons, Feed: before[0].ReplacedBy}, true
	}
	for i, r := range before {
		if i+1 < len(before) && r.Feed == models.FeedOperator {
			r.Feed = before[i+1].ReplacedBy
		}
		if r.Feed != models.FeedOperator {
			return contents{Number: r.Number, Addons: r.Addons, Feed: r.Feed, Void: r.Void}, true
		}
	}
	return contents{}, false
}

func noDraw(slot models.Slot) error {
	return models.Errorf(models.CodeNotFound, "%s has no draw on %s %s (sequence %d)", slot.GameID, slot.Date, slot.Tod, slot.Sequence)
}

// contents is what a feed or an operator says of a slot.
type contents struct {
	Number string
	Addons models.Addons
	Feed   string
	Void   bool
	Reason string
}

// correctDraw keeps d's contents as a revision that an operator replaced, and replaces them.
func (s *Store) correctDraw(tx *gorm.DB, d *models.Draw, to contents) error {
	old := models.DrawRevision{
		GameID: d.GameID, Date: d.Date, Tod: d.Tod, Sequence: d.Sequence,
		Revision: d.Revision, Number: d.Number, Addons: d.Addons, Feed: d.Feed, Void: d.Void, Reason: d.Reason,
		ReplacedAt: s.now(), ReplacedBy: models.FeedOperator,
	}
	if err := tx.Create(&old).Error; err != nil {
		return fmt.Errorf("keep the old digits: %w", err)
	}
	d.Number, d.Addons, d.Feed, d.Void, d.Reason, d.Revision = to.Number, to.Addons, to.Feed, to.Void, to.Reason, d.Revision+1
	err := slotOf(tx.Model(&models.Draw{}), d.Slot()).Updates(map[string]any{
		"number": d.Number, "addons": d.Addons, "void": d.Void, "feed": d.Feed, "reason": d.Reason, "revision": d.Revision,
	}).Error
	if err != nil {
		return err
	}
	return s.bumpDataVersion(tx)
}

// passDraw passes d's contents as they are to another authority.
func (s *Store) passDraw(tx *gorm.DB, d *models.Draw, feed, reason string) error {
	d.Feed, d.Reason = feed, reason
	if err := slotOf(tx.Model(&models.Draw{}), d.Slot()).Updates(map[string]any{"feed": d.Feed, "reason": d.Reason}).Error; err != nil {
		return err
	}
	return recompare(tx)
}

// recompare makes imports that were planned before tx compare anew, since authority over a slot changed. The token, by
// which readers know the version, stays: they see no difference.
func recompare(tx *gorm.DB) error {
	if err := tx.Table("data_version").Where("id = 1").Update("number", gorm.Expr("number + 1")).Error; err != nil {
		return fmt.Errorf("move the data version's number: %w", err)
	}
	return nil
}

func slotOf(tx *gorm.DB, slot models.Slot) *gorm.DB {
	return tx.Where("game_id = ? AND date = ? AND tod = ? AND sequence = ?", slot.GameID, slot.Date, slot.Tod, slot.Sequence)
}

func (s *Store) checkOperatorDraw(game *models.Game, in OperatorDraw) error {
	if !models.ValidNumber(in.Number) || len(in.Number) != game.Digits {
		return models.Errorf(models.CodeInvalid, "%q is not a number of %s: it draws %s, including leading zeros", in.Number, game.ID, models.Count(game.Digits, "digit"))
	}
	if !game.Tods.Has(in.Tod) {
		return models.Errorf(models.CodeInvalid, "%s does not draw at %s; its times of day are %s", game.ID, in.Tod, game.Tods)
	}
	if in.Sequence < 1 || in.Sequence > models.MaxSequence {
		return models.Errorf(models.CodeInvalid, "a sequence is 1 to %d, not %d", models.MaxSequence, in.Sequence)
	}
	loc, err := game.Location()
	if err != nil {
		return err
	}
	if in.Date > models.DateOf(s.now().In(loc))+1 {
		return models.Errorf(models.CodeInvalid, "%s is after tomorrow in the game's time zone (%s)", in.Date, game.Timezone)
	}
	return nil
}

// checkReason returns the reason as it is kept.
func checkReason(reason string) (string, error) {
	reason = strings.TrimSpace(reason)
	if reason == "" || utf8.RuneCountInString(reason) > MaxReason || !utf8.ValidString(reason) {
		return "", models.Errorf(models.CodeInvalid, "give a reason of 1 to %d characters, in UTF-8: it is kept with the draw", MaxReason)
	}
	return reason, nil
}
