package sandbox

import (
	"encoding/json"
	"maps"
)

// encode writes an object as Stripe does. It cannot fail: objects are maps of plain values.
func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return b
}

// orNull returns a string, or nil if it is empty.
func orNull(v string) any {
	if v == "" {
		return nil
	}
	return v
}

// atOrNull returns a time, or nil if it is 0.
func atOrNull(v int64) any {
	if v == 0 {
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

func clone(m map[string]string) map[string]string { return maps.Clone(m) }
