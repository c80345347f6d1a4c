package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"time"
)

// machineView is what the demo's time machine shows: the clock, and what has happened.
type machineView struct {
	top

	Now    string
	Subs   []machineSub
	Events []machineEvent
}

type machineSub struct{ ID, Email, Status, Until string }

type machineEvent struct {
	At, Type, Object string
	Deliveries       []string
}

const latestEvents = 50

func (s *Sandbox) machinePage(w http.ResponseWriter, _ *http.Request) {
	v := machineView{top: top{Title: "Time machine"}}
	s.do(func() {
		v.Now = date(s.now())
		for _, sub := range slices.Backward(s.d.Subs.rows) {
			if len(v.Subs) == latestEvents {
				break
			}
			c, _ := find[*customer](s, sub.Customer)
			v.Subs = append(v.Subs, machineSub{sub.ID, c.Email, sub.Status, date(sub.PeriodEnd)})
		}
		for _, e := range slices.Backward(s.d.Events.rows) {
			if len(v.Events) == latestEvents {
				break
			}
			view := s.eventView(e)
			row := machineEvent{At: date(e.Created), Type: e.Type, Object: view.Object}
			for _, d := range view.Deliveries {
				row.Deliveries = append(row.Deliveries, d.words())
			}
			v.Events = append(v.Events, row)
		}
	})
	show(w, http.StatusOK, "machine", v)
}

// words describes a delivery's state.
func (d Delivery) words() string {
	if len(d.Attempts) == 0 {
		return d.State
	}
	last := d.Attempts[len(d.Attempts)-1]
	text := d.State + " (" + last.Error
	if last.Error == "" {
		text = d.State + " (" + strconv.Itoa(last.Status)
	}
	if len(d.Attempts) > 1 {
		text += ", " + strconv.Itoa(len(d.Attempts)) + " attempts"
	}
	return text + ")"
}

// machineMove moves the clock and shows the page again.
func (s *Sandbox) machineMove(w http.ResponseWriter, r *http.Request) {
	if !form(w, r) {
		return
	}
	switch r.PostFormValue("by") {
	case "hour":
		s.Advance(time.Hour)
	case "day":
		s.Advance(day)
	case "month":
		now := s.Now()
		s.Advance(addMonths(now, 1).Sub(now))
	}
	leave(w, r, "/_sandbox")
}
