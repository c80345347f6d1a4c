package configs

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"

	"lottery/models"
)

// Load reads the settings. Its error (CodeInvalid) lists every problem of every source at once.
func Load(src Source) (Config, error) {
	getenv := func(name string) string {
		if src.Getenv == nil {
			return ""
		}
		return strings.TrimSpace(src.Getenv(name)) // a settings file edited on Windows ends each line with \r
	}
	options := Options()
	file, problems := readFile(src.File, options)
	cfg := Config{Plans: models.Plans{}}
	wrong := map[string]bool{} // the keys already reported
	reached := false           // whether somebody said at which URL
	for i := range options {
		o := &options[i]
		value, name, secret, err := o.value(file, src.File, getenv, src.Flags)
		if err == nil {
			err = o.set(&cfg, value)
		}
		if o.file != nil {
			*o.file(&cfg) = secret
		}
		reached = reached || o.Key == "public_url" && name != o.Key
		if err != nil {
			wrong[o.Key] = true
			problems = append(problems, fmt.Sprintf("%s: %v", name, err))
		}
	}
	if own, err := LocalURL(cfg.Listen); !reached && err == nil {
		cfg.PublicURL = own
	}
	problems = append(problems, cfg.together(src.Serve, wrong)...)
	if len(problems) > 0 {
		problems = append(problems, Strays(src.Environ)...)
		slices.Sort(problems)
		return cfg, models.Errorf(models.CodeInvalid, "the configuration has %d problem(s):\n  %s", len(problems), strings.Join(problems, "\n  "))
	}
	return cfg, nil
}

// together returns the problems of options that do not fit each other. wrong has those that are reported already.
func (c *Config) together(serve bool, wrong map[string]bool) (problems []string) {
	if serve && (c.Stripe.On() || wrong["stripe_secret_key"]) && len(c.Stripe.WebhookSecrets) == 0 && !wrong["stripe_webhook_secret"] {
		problems = append(problems, "stripe_webhook_secret: is not set, but stripe_secret_key is: `lotteryadmin billing setup` creates the webhook and prints its secret; "+
			"without it, Stripe's events cannot be told from forged ones")
	}
	if c.Stripe.Live() && c.Stripe.APIURL != "" && c.Stripe.APIURL != StripeURL {
		problems = append(problems, "stripe_api_url: a live key is only ever sent to Stripe: leave the URL out, or use a test key")
		c.Stripe.SecretKey = "" // the doctor continues with what could be read
	}
	if (c.Web.SMTPURL != "" || wrong["smtp_url"]) && c.Web.MailFrom == "" && !wrong["mail_from"] {
		problems = append(problems, "mail_from: smtp_url is set, so emails need a sender, such as Lottery Draws API <noreply@example.com>")
	}
	return problems
}

// value returns the value from the source with the highest precedence, the option's name in that source, and the file
// that a secret was read from.
func (o *Option) value(file map[string]string, path string, getenv func(string) string, flags map[string]string) (value, name, secret string, err error) {
	if v, ok := flags[o.Key]; ok {
		return v, "--" + o.Flag(), "", nil
	}
	if v := getenv(o.Env()); v != "" {
		if o.Secret && getenv(o.Env()+"_FILE") != "" {
			return "", o.Env(), "", fmt.Errorf("%s_FILE is set too: leave one out", o.Env())
		}
		return v, o.Env(), "", nil
	}
	if o.Secret {
		if p := getenv(o.Env() + "_FILE"); p != "" {
			v, err := readSecret(p)
			return v, o.Env() + "_FILE", p, err
		}
	}
	if p := file[o.Key+"_file"]; p != "" { // of a secret: readFile refuses others
		if file[o.Key] != "" { // the example file contains empty ones, which mean nothing
			return "", path + ": " + o.Key, "", fmt.Errorf("%s_file is set too: leave one out", o.Key)
		}
		v, err := readSecret(p)
		return v, path + ": " + o.Key + "_file", p, err
	}
	if v, ok := file[o.Key]; ok {
		return v, path + ": " + o.Key, "", nil
	}
	return o.Default, o.Key, "", nil
}

// readText reads a file without the byte order mark that Windows editors put before the text.
func readText(path string) ([]byte, error) {
	b, err := os.ReadFile(path)
	return bytes.TrimPrefix(b, []byte("\ufeff")), err
}

func readSecret(path string) (string, error) {
	b, err := readText(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the secret: %w", err)
	}
	v := strings.TrimSpace(string(b))
	if v == "" {
		return "", fmt.Errorf("the file %s is empty", path)
	}
	return v, nil
}

// readFile returns the flat map of a YAML file, and every problem of the file itself. A list becomes its items joined
// by commas.
func readFile(path string, options []Option) (flat map[string]string, problems []string) {
	if path == "" {
		return nil, nil
	}
	b, err := readText(path)
	if err != nil {
		return nil, []string{fmt.Sprintf("cannot read the configuration file: %v", err)}
	}
	var raw map[string]any
	var nodes map[string]ast.Node
	for _, into := range []any{&raw, &nodes} {
		if err := yaml.Unmarshal(b, into); err != nil {
			return nil, []string{fmt.Sprintf("%s: %s", path, yaml.FormatError(err, false, false))}
		}
	}
	if goesOn(b) {
		problems = append(problems, path+": contains a second YAML document, which would not be read: remove the line --- between them")
	}
	flat = make(map[string]string, len(raw))
	for key, value := range raw {
		if !slices.ContainsFunc(options, func(o Option) bool { return o.Key == key || (o.Secret && o.Key+"_file" == key) }) {
			problems = append(problems, fmt.Sprintf("%s: there is no option %q%s", path, key, didYouMean(key, options)))
			continue
		}
		switch v := value.(type) {
		case nil:
		case map[string]any:
			problems = append(problems, fmt.Sprintf("%s: %s: must be one value, not a section", path, key))
		case []any:
			items := make([]string, len(v))
			list, _ := nodes[key].(*ast.SequenceNode)
			for i, item := range v {
				items[i] = fmt.Sprint(item)
				if list != nil && i < len(list.Values) {
					items[i] = asWritten(item, list.Values[i])
				}
			}
			flat[key] = strings.Join(items, ",")
		default:
			flat[key] = asWritten(v, nodes[key])
		}
	}
	return flat, problems
}

// asWritten returns a value's text as it is in the file. YAML would read 0100 as the octal 64 and 1.10 as 1.1, which
// would be a different quota, or token, than the same text in the environment.
func asWritten(value any, node ast.Node) string {
	switch node.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return node.GetToken().Value
	default:
		return fmt.Sprint(value)
	}
}

// goesOn reports whether anything but comments follows the first document of a YAML file. It looks at the tokens, since
// the parser drops whatever follows an empty document.
func goesOn(file []byte) bool {
	began, ended := false, false
	for _, t := range lexer.Tokenize(string(file)) {
		switch {
		case t.Type == token.CommentType:
		case ended:
			return true
		case t.Type == token.DocumentHeaderType:
			began, ended = true, began
		case t.Type == token.DocumentEndType:
			ended = true
		default:
			began = true
		}
	}
	return false
}

// didYouMean suggests the options most similar to key.
func didYouMean(key string, options []Option) string {
	names := make([]string, 0, len(options))
	for i := range options {
		names = append(names, options[i].Key)
	}
	near := models.Nearest(strings.ReplaceAll(key, "-", "_"), names)
	if len(near) == 0 {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", near[0])
}
