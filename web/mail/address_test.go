package mail_test

import (
	"errors"
	"strings"
	"testing"

	"lottery/web/mail"
)

func TestRecipient(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ada@example.com": "ada@example.com", "Ada@Example.COM": "Ada@Example.COM", "ada@bücher.example": "ada@xn--bcher-kva.example",
		"ada@xn--bcher-kva.example": "ada@xn--bcher-kva.example", "Ada@BÜCHER.example": "Ada@xn--bcher-kva.example",
		"ada@bu\u0308cher.example": "ada@xn--bcher-kva.example", // u and a combining diaeresis
		"ada@xn--.com":             "", "ada@example.xn--": "", "ada@xn--99999999.com": "", "ada@xn--bücher.example": "",
		"ada@": "", "ada@example..com": "",
		"ada@" + strings.Repeat("a", 63) + ".example": "ada@" + strings.Repeat("a", 63) + ".example",
		"ada@" + strings.Repeat("a", 64) + ".example": "",
		"ada@" + strings.Repeat("ü", 63) + ".example": "", // short enough for a label, until it is written in ASCII
	} {
		got, err := mail.Recipient(address)
		if got != want || (err == nil) != (want != "") || (err != nil && !errors.Is(err, mail.ErrAddress)) {
			t.Errorf("%q: %q, %v", address, got, err)
		}
	}
}

// One domain has one spelling, however it was typed. Another domain never has that spelling.
func TestReadable(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"ada@example.com": "ada@example.com", "Ada@Example.COM": "Ada@Example.COM", "ada@ⓔxample.com": "ada@example.com", "ada@example。com": "ada@example.com",
		"ada@bücher.example": "ada@bücher.example", "ada@BÜCHER.example": "ada@bücher.example", "ada@bu\u0308cher.example": "ada@bücher.example",
		"ada@xn--bcher-kva.example": "ada@bücher.example", "ada@XN--BCHER-KVA.EXAMPLE": "ada@bücher.example", "Özil@Öl.example": "Özil@öl.example",
		"ada@straße.example": "ada@straße.example", "ada@strasse.example": "ada@strasse.example", "ada@\u212a.example": "ada@k.example",
		"ada@نامه\u200cای.example": "ada@xn--mgba3gch31f060k.example", // has a joiner, which cannot be seen
		"ada@xn--.com":             "ada@xn--.com", "ada@xn--99999999.com": "ada@xn--99999999.com", "ada": "ada", "ADA": "ADA", "": "", "ada@": "ada@",
	} {
		if got := mail.Readable(address); got != want {
			t.Errorf("%q: %q", address, got)
		}
	}
}
