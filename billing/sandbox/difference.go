package sandbox

import "reflect"

// difference returns data.previous_attributes: the old values of what differs. It gives lists whole, hashes by key.
func difference(before, after object) object {
	out := object{}
	for k, now := range after {
		was := before[k]
		if reflect.DeepEqual(was, now) {
			continue
		}
		a, isA := was.(object)
		b, isB := now.(object)
		if isA && isB && b["object"] == nil {
			out[k] = difference(a, b)
			continue
		}
		out[k] = was
	}
	for k, was := range before {
		if _, still := after[k]; !still {
			out[k] = was
		}
	}
	return out
}
