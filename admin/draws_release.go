package admin

import (
	"context"

	"github.com/urfave/cli/v2"
)

func (t *tool) drawsRelease() *cli.Command {
	return &cli.Command{
		Name: "release", Usage: "end what draws set or unset did: the feeds decide again",
		Description: "The draw becomes again what a feed last said. If no feed said anything, or an operator only confirmed\n" +
			"what a feed had said, it stays as it is, or empty, until an import or sync of any feed has it. A sync\n" +
			"passes over what has not changed: `draws sync --whole` reads all that the lotteries publish.\n\n" +
			"Example:\n  lotteryadmin draws release --game nc-pick-3 --date 2025-06-01 --tod Day --sequence 2 \\\n" +
			"    --reason \"set on the wrong day\"",
		Flags:  append(slotFlags(), &cli.StringFlag{Name: "reason", Required: true, Usage: "a `TEXT` saying why, for the audit log"}),
		Action: t.stored(audited(drawsRelease)),
	}
}

func drawsRelease(ctx context.Context, c *call) error {
	slot, err := c.ownSlot(ctx)
	if err != nil {
		return err
	}
	d, err := c.store.ReleaseDraw(ctx, slot, c.String("reason"))
	if err != nil {
		return err
	}
	if err := c.result(drawOf(&d)); err != nil {
		return err
	}
	if d.Void {
		c.say("The slot stays empty until an import has the draw, or a sync: `draws sync --whole` also reads what has not changed.")
	} else {
		c.say("Imports and syncs can correct it again; `draws sync --whole` also reads what has not changed.")
	}
	return nil
}
