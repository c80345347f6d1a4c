package admin

import (
	"context"
	"fmt"

	"lottery/models"
	"lottery/models/store"
)

func drawsSet(ctx context.Context, c *call) error {
	slot, err := c.ownSlot(ctx)
	if err != nil {
		return err
	}
	d, err := c.store.SetDraw(ctx, store.OperatorDraw{Slot: slot, Number: c.String("number"), Reason: c.String("reason")})
	if err != nil {
		return err
	}
	return c.result(drawOf(&d))
}

func drawsUnset(ctx context.Context, c *call) error {
	slot, err := c.ownSlot(ctx)
	if err != nil {
		return err
	}
	err = c.confirm(func() (string, error) {
		return fmt.Sprintf("Unset the draw of %s on %s %s (sequence %d)?", slot.GameID, slot.Date, slot.Tod, slot.Sequence), nil
	})
	if err != nil {
		return err
	}
	d, err := c.store.UnsetDraw(ctx, slot, c.String("reason"))
	if err != nil {
		return err
	}
	return c.result(drawOf(&d))
}

// ownSlot reads the slot flags, for a database that is not the demo's.
func (c *call) ownSlot(ctx context.Context) (models.Slot, error) {
	slot, err := c.slot()
	if err != nil {
		return slot, err
	}
	return slot, c.store.NotDemo(ctx)
}
