package sandbox

import "encoding/json"

// encode writes an object as Stripe does. It cannot fail: objects are maps of plain values.
func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return b
}

// orNull returns a value, or nil if it is empty or 0.
func orNull[T comparable](v T) any {
	var none T
	if v == none {
		return nil
	}
	return v
}

// meta returns a copy of metadata that is never null.
func meta(m map[string]string) object {
	out := object{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

func anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}
