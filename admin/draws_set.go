package admin

import (
	"context"
	"fmt"

	"lottery/models/store"
)

func drawsSet(ctx context.Context, c *call) error {
	slot, err := c.slot()
	if err != nil {
		return err
	}
	if err := c.store.NotDemo(ctx); err != nil {
		return err
	}
	d, err := c.store.SetDraw(ctx, store.OperatorDraw{Slot: slot, Number: c.String("number"), Reason: c.String("reason")})
	if err != nil {
		return err
	}
	return c.result(drawOf(&d))
}

func drawsUnset(ctx context.Context, c *call) error {
	slot, err := c.slot()
	if err != nil {
		return err
	}
	if err := c.store.NotDemo(ctx); err != nil {
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
