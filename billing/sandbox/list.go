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
	after, before := r.p.str("starting_after"), r.p.str("ending_before")
	if after != "" && before != "" {
		r.p.fail(invalid("starting_after", "", "You can only specify one of these parameters: ending_before, starting_after."))
	}
	if err := r.p.finish(); err != nil {
		return nil, err
	}
	for param, id := range map[string]string{"starting_after": after, "ending_before": before} {
		if id == "" {
			continue
		}
		if _, err := need[T](s, noun, id, param); err != nil {
			return nil, err
		}
	}
	page, more := pageOf(rows, keep, after, before, int(limit))
	data := make([]any, len(page))
	for i, row := range page {
		data[i] = row.render(s)
	}
	return object{"object": "list", "url": r.path, "has_more": more, "data": data}, nil
}

// pageOf returns the page in the order of the response, and whether there are more in its direction.
func pageOf[T record](rows []T, keep func(T) bool, after, before string, limit int) (page []T, more bool) {
	if before != "" { // from the oldest, so that the page ends just before the mark
		begun := false
		for _, row := range rows {
			switch {
			case row.base().ID == before:
				begun = true
			case begun && keep(row):
				if len(page) == limit {
					return page, true
				}
				page = append([]T{row}, page...)
			}
		}
		return page, false
	}
	begun := after == ""
	for _, row := range slices.Backward(rows) {
		switch {
		case row.base().ID == after:
			begun = true
		case begun && keep(row):
			if len(page) == limit {
				return page, true
			}
			page = append(page, row)
		}
	}
	return page, false
}

// sublist returns a complete list within an object.
func sublist(url string, data []any) object {
	return object{"object": "list", "url": url, "has_more": false, "data": data}
}
