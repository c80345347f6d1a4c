package secret

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// parameter matches a parameter of an address whose name suggests a secret, with its value. A quote or colon at the end
// of the value belongs to the surrounding text.
var parameter = regexp.MustCompile("(?i)([?&;#][^?&;#=\\s\"`]*(?:key|token|secret|password|passwd|pwd|sig|auth)[^?&;#=\\s\"`]*=)(?:[^&\\s`\":]|[\":]+[^&\\s`\":])+")

// Parameters returns text, or an address, with xxxxx for the values of parameters whose names suggest a secret:
// api_key=, $$app_token=, X-Amz-Signature=. Others, such as gameId=, stay.
func Parameters(text string) string { return parameter.ReplaceAllString(text, "${1}xxxxx") }

// longPassword is the length in bytes from which a password is part of no word by chance.
const longPassword = 8

// Without returns text with xxxxx in place of a password. A short one is replaced only where it is a word of its own:
// without each of its letters, a message could not be read, and would tell which letter that is.
func Without(text, password string) string {
	if password == "" {
		return text
	}
	if len(password) >= longPassword {
		return strings.ReplaceAll(text, password, "xxxxx")
	}
	var out strings.Builder
	for last := ' '; text != ""; {
		rest, found := strings.CutPrefix(text, password)
		if next, _ := utf8.DecodeRuneInString(rest); found && !inWord(last) && !inWord(next) {
			out.WriteString("xxxxx")
			text = rest
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		out.WriteString(text[:size])
		last, text = r, text[size:]
	}
	return out.String()
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
