package configs_test

import (
	"slices"
	"testing"

	"lottery/configs"
)

func TestStrays(t *testing.T) {
	t.Parallel()
	for variable, want := range map[string]string{
		"LOTTERY_LISTN=x":                         "LOTTERY_LISTN is set, but there is no such option; did you mean LOTTERY_LISTEN?",
		"LOTTERY_DATABASE_URI=postgres://a:b@c/d": "LOTTERY_DATABASE_URI is set, but there is no such option; did you mean LOTTERY_DATABASE_URL?",
		"LOTTERY_STRIPE_SECRET_KEY_FIL=/run/key":  "LOTTERY_STRIPE_SECRET_KEY_FIL is set, but there is no such option; did you mean LOTTERY_STRIPE_SECRET_KEY_FILE?",
		"LOTTERY_listen=x":                        "LOTTERY_listen is set, but there is no such option; did you mean LOTTERY_LISTEN?",
		"LOTTERY_LISTEN_FILE=x":                   "LOTTERY_LISTEN_FILE is set, but there is no such option",
		"LOTTERY_=x":                              "LOTTERY_ is set, but there is no such option",
		"LOTTERY_SQLITE=x":                        "LOTTERY_SQLITE is set, but there is no such option",
	} {
		got := configs.Strays([]string{"PATH=/bin", variable, "LOTTERY_LISTEN=y"})
		if !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", variable, got, want)
		}
	}
	known := []string{
		"PATH=/bin", "lottery_listen=x", "LOTTERYX=1", "LOTTERY_LISTN=", "LOTTERY_OPERATOR=ada", "LOTTERY_API_KEY=k", "LOTTERY_DATABASE_URL_FILE=f",
		"LOTTERY_SERVICE_HOST=10.0.0.1", "LOTTERY_SERVICE_PORT_HTTP=80", "LOTTERY_PORT=tcp://10.0.0.1:80", "LOTTERY_PORT_80_TCP=tcp://10.0.0.1:80", "LOTTERY_PORT_80_TCP_ADDR=10.0.0.1", "LOTTERY_REDIS_PORT=tcp://10.0.0.2:6379",
	}
	for _, o := range configs.Options() {
		known = append(known, o.Env()+"=x")
	}
	if got := configs.Strays(known); got != nil {
		t.Errorf("%q", got)
	}
}
