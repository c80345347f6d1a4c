package sandbox

import (
	"encoding/json"
	"maps"
)

// encode writes an object as Stripe does. Objects are maps of plain values, which JSON always has a form for.
func encode(v any) []byte {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		panic(err)
	}
	return b
}

// orNull is a text, or JSON's null instead of an empty one.
func orNull(v string) any {
	if v == "" {
		return nil
	}
	return v
}

// atOrNull is a time, or null instead of 0.
func atOrNull(v int64) any {
	if v == 0 {
		return nil
	}
	return v
}

// meta is a copy of metadata that is never null.
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
