package models

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckText returns what keeps s from being a name: too few or too many characters, none that can be seen, control
// characters (a name must fit into one line of a table), invalid UTF-8, which PostgreSQL does not store, or what reverses
// the text that follows on a page or a terminal. what describes s: "a game's name".
func CheckText(what, s string, least, most int) error {
	n := utf8.RuneCountInString(s)
	switch {
	case !utf8.ValidString(s):
		return Errorf(CodeInvalid, "%s must be valid UTF-8", what)
	case n > most && least == 0:
		return Errorf(CodeInvalid, "%s must have at most %d characters, not %d", what, most, n)
	case n < least || n > most:
		return Errorf(CodeInvalid, "%s must have %d to %d characters, not %d", what, least, most, n)
	case strings.ContainsFunc(s, unicode.IsControl), strings.ContainsAny(s, "\u2028\u2029"):
		return Errorf(CodeInvalid, "%s must not have line breaks or other control characters", what)
	case strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }):
		return Errorf(CodeInvalid, "%s must not have invisible characters that change the direction of text", what)
	case s != "" && !strings.ContainsFunc(s, seen):
		return Errorf(CodeInvalid, "%s must have a character that can be seen", what)
	}
	return nil
}

// seen reports whether a character leaves ink.
func seen(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) && !blank(r) }

// blank reports whether a character counts as a letter or a mark, but shows nothing by itself: the fillers of Hangul, and
// what selects a variant of the character before.
func blank(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// Count formats a number of things: 1 account, 2 accounts.
func Count[N int | int64](n N, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatInt(int64(n), 10) + " " + one + "s"
}

// OrList lists alternatives: a, b or c.
func OrList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
