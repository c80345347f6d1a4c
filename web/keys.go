package web

import (
	"cmp"
	"net/http"
	"strings"
	"time"

	"lottery/models"
	"lottery/models/secret"
	"lottery/models/store"
)

// keysView is the data of the page of an account's keys.
type keysView struct {
	Live, Old []keyRow
	Older     bool // there are more old keys than are shown
	Most      int  // how many live keys the plan allows
	Active    int  // live keys; more than Most if the plan used to allow more
	Full      bool // no further key can be created
	CanBuy    bool // an upgrade is possible
	Form      keyForm
}

// ToRevoke returns how many keys must be revoked before another can be created.
func (v *keysView) ToRevoke() int { return v.Active - v.Most + 1 }

// keyForm is the form for a new key as it was filled in.
type keyForm struct {
	Name    string
	Expires string // days: "", 30, 90, 365
	Error   string
}

type keyRow struct {
	models.APIKey
	Status models.KeyStatus
	Ends   *time.Time
	Now    time.Time
}

// newKeyPage is the data of the page that shows a new key, the only time that it is shown.
type newKeyPage struct {
	Key      string
	First    bool       // the account's first key, made at sign-up
	Ends     *time.Time // nil = never
	Replaces string     // prefix of the key that was rotated
	Grace    string     // how long the replaced key still works; "" = not at all
	Sooner   *time.Time // when the replaced key expires, if that is before Grace ends
	Limit    int        // requests a day
	Game     string     // for the sample
}

func (h *Handler) keys(w http.ResponseWriter, r *http.Request, v *visitor) error {
	return h.showKeys(w, r, v, keyForm{}, 0)
}

func (h *Handler) showKeys(w http.ResponseWriter, r *http.Request, v *visitor, form keyForm, status int) error {
	live, old, err := h.deps.Store.RecentKeys(r.Context(), v.Account.ID, oldKeysShown+1)
	if err != nil {
		return err
	}
	plan, _ := v.Account.Plan()
	data, now := keysView{Most: h.deps.Plans[plan].MaxKeys, Form: form}, h.deps.Now().UTC()
	for _, k := range live {
		row := rowOf(k, now)
		if row.Status == models.KeyActive {
			data.Active++
		}
		data.Live = append(data.Live, row)
	}
	data.Older = len(old) > oldKeysShown
	for _, k := range old[:min(len(old), oldKeysShown)] {
		data.Old = append(data.Old, rowOf(k, now))
	}
	if data.Full = data.Active >= data.Most; data.Full {
		standing, err := h.standing(r, v)
		if err != nil {
			return err
		}
		data.CanBuy = standing.CanBuy
	}
	h.show(w, r, view{Page: "keys", Title: "API keys", Section: "dashboard", Sub: "keys", Status: status, Private: true, Data: &data})
	return nil
}

// oldKeysShown bounds the list of keys that no longer work: there may be any number.
const oldKeysShown = 100

// keyChanges limits how often an account may create or rotate keys on these pages within an hour: every key stays on
// record. Revoking is not limited, since a key that leaked must stop at once, and nobody can revoke more than was made.
const keyChanges = 100

// tooManyKeyChanges counts one change of the account's keys, and reports whether that is too many.
func (h *Handler) tooManyKeyChanges(r *http.Request, v *visitor) bool {
	return h.keyChanges.Count(r.Context(), v.Account.ID).Reached
}

// expiries maps the form's choices to a key's lifetime in days.
var expiries = map[string]int{"30": 30, "90": 90, "365": 365}

func (h *Handler) createKey(w http.ResponseWriter, r *http.Request, v *visitor) error {
	form := keyForm{Name: strings.TrimSpace(r.PostFormValue("name")), Expires: r.PostFormValue("expires")}
	in := store.NewKey{Account: v.Account.ID, Name: form.Name}
	days, ends := expiries[form.Expires]
	if ends {
		at := h.deps.Now().UTC().AddDate(0, 0, days).Truncate(time.Second)
		in.ExpiresAt = &at
	}
	if !ends && form.Expires != "" { // only a script sends this; a key meant to expire must not live forever
		form.Error = "Choose when the key expires: never, or in 30, 90 or 365 days."
		return h.showKeys(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if form.Name == "" {
		form.Error = "Give the key a name, so that you can tell later which program uses it."
		return h.showKeys(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if secret.Holds(form.Name) {
		form.Name, form.Error = "", "That is an API key, and names are stored and shown as they are. Enter the name of the program that uses the key."
		return h.showKeys(w, r, v, form, http.StatusUnprocessableEntity)
	}
	if h.tooManyKeyChanges(r, v) {
		return h.tooOften(w, r, time.Hour)
	}
	key, err := h.deps.Store.CreateKey(r.Context(), h.deps.Plans, in)
	switch models.ErrorCode(err) {
	case models.CodeInvalid:
		form.Error = "A key's name can have at most 100 characters, on one line."
		return h.showKeys(w, r, v, form, http.StatusUnprocessableEntity)
	case models.CodeConflict:
		standing, err := h.standing(r, v)
		if err != nil {
			return err
		}
		form.Error = noRoom(&standing)
		return h.showKeys(w, r, v, form, http.StatusConflict)
	}
	if err != nil {
		return err
	}
	h.showKey(w, r, newKeyPage{Key: key.Secret, Ends: key.EndsAt(), Limit: v.Account.DailyLimit(h.deps.Plans)})
	return nil
}

// noRoom says why an account cannot create another key, and what helps.
func noRoom(p *planView) string {
	switch {
	case p.Keys == 0 && p.CanBuy:
		return "Your plan allows no keys. Upgrade to create one."
	case p.Keys == 0:
		return "Your plan allows no keys."
	case p.CanBuy:
		return "Your plan allows no more live keys. Revoke one you do not need, or upgrade."
	default:
		return "Your plan allows no more live keys. Revoke one you do not need."
	}
}

// showKey shows a new key, the only time that it is shown.
func (h *Handler) showKey(w http.ResponseWriter, r *http.Request, p newKeyPage) {
	p.Game = h.remember().sampleGame()
	title := "Your new key"
	if p.First {
		title = "Welcome: here is your key"
	}
	h.show(w, r, view{Page: "new-key", Title: title, Section: "dashboard", Sub: "keys", Private: true, Data: p})
}

// ownKey returns the key that the path names if it belongs to v. Any other id is not found, whether or not it is
// somebody else's key.
func (h *Handler) ownKey(r *http.Request, v *visitor) (keyRow, error) {
	k, err := h.deps.Store.KeyOf(r.Context(), v.Account.ID, r.PathValue("id"))
	if models.ErrorCode(err) == models.CodeNotFound {
		return keyRow{}, errNotFound()
	}
	return rowOf(k, h.deps.Now().UTC()), err
}

func rowOf(k models.APIKey, now time.Time) keyRow { return keyRow{k, k.StatusAt(now), k.EndsAt(), now} }

// keyQuestion asks for confirmation before a key is revoked or rotated. If there is nothing left to do, because it was
// done in another tab or the key has expired, it redirects to the page of keys, which shows the key's status.
func (h *Handler) keyQuestion(page, title string) signedIn {
	return func(w http.ResponseWriter, r *http.Request, v *visitor) error {
		k, err := h.ownKey(r, v)
		if err != nil {
			return err
		}
		if k.Status != models.KeyActive && (page == "rotate" || k.Status != models.KeyGrace) {
			return seeOther(w, r, "/dashboard/keys")
		}
		h.show(w, r, view{Page: page, Title: title, Section: "dashboard", Sub: "keys", Private: true, Data: k})
		return nil
	}
}

func (h *Handler) revokeKey(w http.ResponseWriter, r *http.Request, v *visitor) error {
	k, err := h.ownKey(r, v)
	if err != nil {
		return err
	}
	if _, err := h.deps.Store.RevokeKey(r.Context(), k.ID); err != nil {
		return err
	}
	return seeOther(w, r, "/dashboard/keys")
}

// graces maps the form's choices to how long a rotated key still works.
var graces = map[string]struct {
	d    time.Duration
	name string
}{"0": {0, ""}, "1h": {time.Hour, "one hour"}, "24h": {24 * time.Hour, "24 hours"}, "168h": {7 * 24 * time.Hour, "7 days"}}

func (h *Handler) rotateKey(w http.ResponseWriter, r *http.Request, v *visitor) error {
	k, err := h.ownKey(r, v)
	if err != nil {
		return err
	}
	grace, ok := graces[cmp.Or(r.PostFormValue("grace"), "24h")]
	if !ok { // only a script sends this; a key meant to stop at once must not work for another day
		return models.Errorf(models.CodeInvalid, "choose how long the old key keeps working: 0, 1h, 24h or 168h; nothing was changed")
	}
	if h.tooManyKeyChanges(r, v) {
		return h.tooOften(w, r, time.Hour)
	}
	fresh, old, err := h.deps.Store.RotateKey(r.Context(), k.ID, grace.d)
	if err != nil {
		return err
	}
	page := newKeyPage{Key: fresh.Secret, Ends: fresh.EndsAt(), Replaces: old.Prefix, Grace: grace.name, Limit: v.Account.DailyLimit(h.deps.Plans)}
	if old.ExpiresAt != nil && old.ExpiresAt.Before(*old.GraceUntil) {
		page.Sooner = old.ExpiresAt
	}
	h.showKey(w, r, page)
	return nil
}
