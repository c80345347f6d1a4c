package mail

import (
	"testing"

	gomail "github.com/wneessen/go-mail"
)

// A mail server on this machine is used without TLS: the certificate that it offers is one that it made itself.
func TestSMTPOnThisMachine(t *testing.T) {
	t.Parallel()
	for host, here := range map[string]bool{
		"localhost": true, "Localhost": true, "127.0.0.1": true, "127.0.0.53": true, "::1": true, "::ffff:127.0.0.1": true,
		"localhost.example.com": false, "mail.example.com": false, "10.0.0.1": false, "0.0.0.0": false, "::2": false, "128.0.0.1": false,
	} {
		if got := onThisMachine(host); got != here {
			t.Errorf("%s: %v", host, got)
		}
	}
	for address, want := range map[string]string{
		"smtp://localhost:25": "NoTLS", "smtp://[::1]": "NoTLS", "smtp://mail.example.com:25": "TLSOpportunistic",
		"smtp://ada:secret@localhost:587": "TLSMandatory", "smtp://ada:secret@mail.example.com": "TLSMandatory",
	} {
		s, err := NewSMTP(address, "noreply@draws.example")
		if err != nil {
			t.Fatal(err)
		}
		client, err := gomail.NewClient(s.host, s.options...)
		if err != nil {
			t.Fatal(err)
		}
		if got := client.TLSPolicy(); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
}
