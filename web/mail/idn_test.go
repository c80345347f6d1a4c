package mail_test

import (
	"context"
	"regexp"
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

// A mail server on this machine that offers TLS with a certificate of its own making is still used.
func TestSMTPOfThisMachineWithoutTLS(t *testing.T) {
	t.Parallel()
	inData := false
	address, heard := conversing(t, func(line string) string {
		switch {
		case strings.HasPrefix(line, "EHLO"):
			return "250-test\r\n250-STARTTLS\r\n250 8BITMIME"
		case line == "STARTTLS":
			return "454 4.7.0 TLS not available"
		case line == "DATA":
			inData = true
			return "354 go on"
		case line == ".":
			inData = false
		case inData:
			return more
		case line == "QUIT":
			return "221 bye"
		}
		return "250 ok"
	})
	sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
	if err != nil {
		t.Fatal(err)
	}
	err = sender.Send(t.Context(), mail.Message{To: "ada@example.org", Subject: "Sign in"})
	if text := <-heard; err != nil || strings.Contains(text, "STARTTLS") {
		t.Errorf("%v\n%s", err, text)
	}
}

// A message that is sent again has the Message-ID of before, so that a mailbox that got it already shows it once. Others
// have one of their own.
func TestSMTPSentAgainIsTheSame(t *testing.T) {
	t.Parallel()
	id := func(once string) string {
		t.Helper()
		address, got := server(t)
		sender, err := mail.NewSMTP("smtp://"+address, "noreply@draws.example")
		if err != nil {
			t.Fatal(err)
		}
		if err := sender.Send(t.Context(), mail.Message{To: "ada@example.com", Subject: "Hello", Once: once}); err != nil {
			t.Fatal(err)
		}
		found := regexp.MustCompile(`(?m)^Message-ID: <([A-Z2-7]{26})@draws\.example>$`).FindStringSubmatch(<-got)
		if found == nil {
			t.Fatal("no Message-ID")
		}
		return found[1]
	}
	first := id("key_expires:key_1")
	if again := id("key_expires:key_1"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	for _, other := range []string{id("key_expires:key_2"), id(""), id("")} {
		if other == first {
			t.Errorf("another message has the ID %s, too", other)
		}
		first = other
	}
}
