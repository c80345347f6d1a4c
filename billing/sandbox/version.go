package sandbox

import "regexp"

// pinnedVersion is the API version of this account and of stripe-go v76.
const pinnedVersion = "2023-10-16"

// NewVersion is an API version in whose objects stripe-go v76 finds no period on a subscription and no subscription on
// an invoice (https://docs.stripe.com/changelog/basil#2025-03-31.basil).
const NewVersion = "2025-03-31.basil"

var versionForm = regexp.MustCompile(`^20\d\d-\d\d-\d\d(\.[a-z]+)?$`)

func versionOf(header string) (string, error) {
	if header == "" {
		return pinnedVersion, nil
	}
	if !versionForm.MatchString(header) {
		return "", invalid("", "", "Invalid Stripe API version: %s", header)
	}
	return header, nil
}

// modern reports whether a version has the shape of NewVersion. All versions before 2025-03-31 have the old shape here.
func modern(version string) bool { return version >= NewVersion[:len(pinnedVersion)] }

// reshape converts an object of 2023-10-16, and all objects within it, to the shape of a version.
func reshape(value any, version string) any {
	if !modern(version) {
		return value
	}
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = reshape(v[i], version)
		}
	case object:
		for k := range v {
			if k != "metadata" {
				v[k] = reshape(v[k], version)
			}
		}
		modernize(v)
	}
	return value
}

// modernize moves the fields that 2025-03-31.basil moved.
func modernize(o object) {
	switch o["object"] {
	case "subscription":
		items, _ := o["items"].(object)
		data, _ := items["data"].([]any)
		for _, d := range data {
			if item, ok := d.(object); ok {
				item["current_period_start"], item["current_period_end"] = o["current_period_start"], o["current_period_end"]
			}
		}
		delete(o, "current_period_start")
		delete(o, "current_period_end")
	case "invoice":
		details, _ := o["subscription_details"].(object)
		o["parent"] = nil
		if o["subscription"] != nil {
			o["parent"] = object{
				"type": "subscription_details", "quote_details": nil,
				"subscription_details": object{"metadata": details["metadata"], "subscription": o["subscription"]},
			}
		}
		for _, gone := range []string{"subscription", "subscription_details", "payment_intent", "charge", "paid", "paid_out_of_band", "quote"} {
			delete(o, gone)
		}
	case "line_item":
		o["parent"] = object{
			"type": "subscription_item_details", "invoice_item_details": nil,
			"subscription_item_details": object{"subscription": o["subscription"], "subscription_item": o["subscription_item"], "proration": o["proration"]},
		}
		for _, gone := range []string{"type", "subscription", "subscription_item", "proration", "proration_details", "price"} {
			delete(o, gone)
		}
	case "charge":
		delete(o, "invoice")
	}
}
