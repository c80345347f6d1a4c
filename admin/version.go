package admin

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"lottery/models"
)

func (t *tool) version() *cli.Command {
	return &cli.Command{
		Name: "version", Usage: "print the version",
		Description: "Example:\n  lotteryadmin version --output json",
		Action: func(*cli.Context) error {
			build := models.BuildVersion()
			if t.form != formTable {
				return t.result(build)
			}
			if _, err := fmt.Fprintf(t.env.Stdout, "lotteryadmin %s\n", build); err != nil {
				return fmt.Errorf("print the version: %w", err)
			}
			return nil
		},
	}
}
