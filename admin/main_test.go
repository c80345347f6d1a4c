package admin_test

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lottery/admin"
)

// TestMain makes lotteryadmin available to the scripts as a command.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"lotteryadmin": func() {
			os.Exit(admin.Run(context.Background(), os.Args[1:], admin.Env{
				Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			}))
		},
	})
}
