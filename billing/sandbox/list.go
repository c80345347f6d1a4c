package sandbox

import "slices"

// list returns a page of records, newest first: those of rows that keep accepts.
func list[T record](s *Sandbox, r *request, noun string, rows []T, keep func(T) bool) (object, error) {
	limit, sent := r.p.int("limit")
	if !sent {
		limit = 10
	}
	if limit < 1 || limit > 100 {
		r.p.fail(invalid("limit", "", "This value must be between 1 and 100 (inclusive)."))
	}
	after := r.p.str("starting_after")
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	if after != "" {
		if _, err := need[T](s, noun, after, "starting_after"); err != nil {
			return nil, err
		}
	}
	data, more, begun := []any{}, false, after == ""
	for _, row := range slices.Backward(rows) {
		switch {
		case row.base().ID == after:
			begun = true
		case begun && keep(row) && len(data) == int(limit):
			more = true
		case begun && keep(row) && !more:
			data = append(data, row.render(s))
		}
	}
	return object{"object": "list", "url": r.path, "has_more": more, "data": data}, nil
}

// sublist returns a complete list within an object.
func sublist(url string, data []any) object {
	return object{"object": "list", "url": url, "has_more": false, "data": data}
}
