package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// cleanupJob deletes what is no longer kept; store.Cleanup has the list.
func cleanupJob(d *Deps) Job {
	return Job{
		Name: "cleanup", What: "delete what is past its retention time", When: "23 * * * *", Limit: 30 * time.Minute,
		Run: func(ctx context.Context) (string, error) {
			gone, err := d.Store.Cleanup(ctx)
			parts := make([]string, 0, len(gone))
			for _, g := range gone {
				if g.Rows > 0 {
					parts = append(parts, fmt.Sprintf("%d %s", g.Rows, g.What))
				}
			}
			switch {
			case len(parts) > 0:
				return strings.Join(parts, ", ") + " taken away", err
			case err != nil: // do not claim that nothing was old enough
				return "", err
			default:
				return "nothing was old enough", nil
			}
		},
	}
}
