package mail_test

import (
	"context"
	"strings"
	"testing"

	"lottery/web/mail"
)

// The domains of the sender and of the Reply-To address are written in ASCII as in the DNS, as those of recipients are:
// mail servers need not support other letters.
func TestSMTPSenderInASCII(t *testing.T) {
	t.Parallel()
	address, got := server(t)
	sender, err := mail.NewSMTP("smtp://"+address, "Bücher <noreply@bücher.example>")
	if err != nil {
		t.Fatal(err)
	}
	if err := sender.Send(context.Background(), mail.Message{To: "ada@example.com", Subject: "Hello", Lines: []string{"Hello,"}, ReplyTo: "help@Bücher.example"}); err != nil {
		t.Fatal(err)
	}
	text := <-got
	for _, want := range []string{
		"MAIL FROM:<noreply@xn--bcher-kva.example>", "From: =?utf-8?q?B=C3=BCcher?= <noreply@xn--bcher-kva.example>", "Reply-To: <help@xn--bcher-kva.example>",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %q:\n%s", want, text)
		}
	}
}
