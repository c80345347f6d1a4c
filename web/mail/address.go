package mail

import (
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// ErrAddress means that no mail can ever be sent to an address. It does not wrap the parser's error, which would repeat
// the address.
var ErrAddress = errors.New("address a mail: the recipient's address cannot be written as mail servers read it")

// longestLabel is the maximum number of bytes between two dots of a domain name (RFC 1035, section 2.3.4).
const longestLabel = 63

// Recipient returns an address as mail servers read it, or ErrAddress.
func Recipient(address string) (string, error) {
	recipient, domain, err := inASCII(address)
	if err != nil || slices.ContainsFunc(strings.Split(domain, "."), func(label string) bool { return label == "" || len(label) > longestLabel }) {
		return "", ErrAddress
	}
	return recipient, nil
}

// Readable returns an address with its domain in the letters of its language, as in bücher.example, however it was
// written: BÜCHER.example and xn--bcher-kva.example are the same domain. One in ASCII letters stays as it is, and so does
// an address to which no mail can be sent.
func Readable(address string) string {
	recipient, err := Recipient(address)
	at := strings.LastIndexByte(recipient, '@') + 1
	if err != nil || at == 0 {
		return address
	}
	recipient, typed := recipient[:at]+strings.ToLower(recipient[at:]), recipient
	domain, err := idna.ToUnicode(recipient[at:])
	unseen := func(r rune) bool { return !unicode.IsPrint(r) } // a joiner, as some languages have
	if err != nil || strings.ContainsFunc(domain, unseen) {
		domain = recipient[at:]
	}
	readable := recipient[:at] + domain
	again, err := Recipient(readable)
	switch {
	case readable == recipient && typed == address: // in ASCII letters
		return address
	case err != nil || again != recipient: // it cannot be read back
		return recipient
	default:
		return readable
	}
}

// inASCII returns an address and its domain, with the domain in ASCII as in the DNS (RFC 5891), because mail servers
// need not support other letters. Domains with such letters are normalized for lookup first; otherwise Ö and ö would be
// different domains.
func inASCII(address string) (mailbox, domain string, err error) {
	at := strings.LastIndexByte(address, '@') + 1
	domain, err = idna.ToASCII(address[at:])
	if domain != address[at:] {
		domain, err = idna.Lookup.ToASCII(address[at:])
	}
	return address[:at] + domain, domain, err
}
