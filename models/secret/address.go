package secret

import "regexp"

// parameter is one of an address whose name tells of a secret, with what it holds. A quote and a colon that end it are those
// of the text around the address.
var parameter = regexp.MustCompile("(?i)([?&;#][^?&;#=\\s\"`]*(?:key|token|secret|password|passwd|pwd|sig|auth)[^?&;#=\\s\"`]*=)(?:[^&\\s`\":]|[\":]+[^&\\s`\":])+")

// Parameters is text, or an address, with xxxxx for what those parameters of addresses hold whose names tell of a secret:
// api_key=, $$app_token=, X-Amz-Signature=. The others, such as gameId=, stay.
func Parameters(text string) string { return parameter.ReplaceAllString(text, "${1}xxxxx") }
