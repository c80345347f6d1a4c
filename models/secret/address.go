package secret

import "regexp"

// parameter matches a parameter of an address whose name suggests a secret, with its value. A quote or colon at the end
// of the value belongs to the surrounding text.
var parameter = regexp.MustCompile("(?i)([?&;#][^?&;#=\\s\"`]*(?:key|token|secret|password|passwd|pwd|sig|auth)[^?&;#=\\s\"`]*=)(?:[^&\\s`\":]|[\":]+[^&\\s`\":])+")

// Parameters returns text, or an address, with xxxxx for the values of parameters whose names suggest a secret:
// api_key=, $$app_token=, X-Amz-Signature=. Others, such as gameId=, stay.
func Parameters(text string) string { return parameter.ReplaceAllString(text, "${1}xxxxx") }
