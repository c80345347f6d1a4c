package sandbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Sign returns the Stripe-Signature header of a payload at a time, with one v1 for each secret
// (https://docs.stripe.com/webhooks#verify-manually).
func Sign(payload []byte, at time.Time, secrets ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "t=%d", at.Unix())
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, []byte(secret))
		fmt.Fprintf(mac, "%d.", at.Unix())
		mac.Write(payload)
		b.WriteString(",v1=" + hex.EncodeToString(mac.Sum(nil)))
	}
	return b.String()
}
