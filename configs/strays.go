package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lottery/models"
)

// OperatorEnv is the variable that names lotteryadmin's user, for the audit log.
const OperatorEnv = EnvPrefix + "OPERATOR"

// others matches variables that begin like ours but are not options: lotteryadmin's user, the key in the
// documentation's examples, and what Kubernetes sets in every container for a service named lottery.
var others = regexp.MustCompile(`^(` + OperatorEnv + `|` + EnvPrefix + `API_KEY|.*_SERVICE_(HOST|PORT(_.*)?)|.*_PORT(_\d+_(TCP|UDP)(_(PROTO|PORT|ADDR))?)?)$`)

// Strays reports every variable of environ ("NAME=value") that looks like an option but is none. It is not read, and
// whoever misspelt it unknowingly gets the default. Values are not repeated.
func Strays(environ []string) (told []string) {
	options := Options()
	var keys []string
	for i := range options {
		keys = append(keys, options[i].Key)
		if options[i].Secret {
			keys = append(keys, options[i].Key+"_file")
		}
	}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		key, ours := strings.CutPrefix(name, EnvPrefix)
		if !ours || value == "" || key == strings.ToUpper(key) && slices.Contains(keys, strings.ToLower(key)) || others.MatchString(name) {
			continue
		}
		told = append(told, fmt.Sprintf("%s is set, but there is no such option%s", name, nearest(key, keys)))
	}
	slices.Sort(told)
	return told
}

func nearest(key string, keys []string) string {
	near := models.Nearest(key, keys)
	if len(near) == 0 {
		return ""
	}
	return "; did you mean " + EnvPrefix + strings.ToUpper(near[0]) + "?"
}
