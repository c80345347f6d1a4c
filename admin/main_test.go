package admin_test

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"lottery/admin"
	"lottery/models/store/storetest"
)

// tests stops the servers that tests shared.
type tests struct{ *testing.M }

func (m tests) Run() int { return storetest.Run(m.M) }

// TestMain makes lotteryadmin available to the scripts as a command.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){
		"lotteryadmin": func() {
			os.Exit(admin.Run(context.Background(), os.Args[1:], admin.Env{
				Getenv: os.Getenv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
			}))
		},
	})
}
