package web

import (
	"net/http"

	"lottery/api/problem"
)

// errorText explains one code of the API.
type errorText struct{ Title, Means, Do string }

var errorTexts = map[problem.Code]errorText{
	problem.InvalidParameter: {"The request has invalid parameters",
		"A parameter is missing, empty, given twice, malformed, out of range, or not known; or from lies after to, or a cursor belongs to another question. The list errors names every one of them at once.",
		"Mend what errors names. A misspelt parameter is refused rather than ignored, so that a typing mistake never gives you the wrong draws."},
	problem.MissingAPIKey: {"The request has no API key",
		"The header X-API-Key is not there. A key in Authorization or in the address is not read.",
		"Send your key in the header X-API-Key."},
	problem.InvalidAPIKey: {"The API key is not valid",
		"The key is not one of ours. Most often a character is missing at its end; the checksum in the key tells.",
		"Copy the key again. It has 42 characters and begins with ldk_. If you have lost it, create a new one."},
	problem.RevokedAPIKey: {"The API key was revoked",
		"The key was revoked, rotated and its grace time is over, or its account was closed.",
		"Use another key of your account, or create one."},
	problem.ExpiredAPIKey: {"The API key has expired",
		"The key was made with an end, and that has come.",
		"Create a new key. Where it is made before the old one expires, both work meanwhile, so there is no pause. Rotating does not help: a rotated key keeps the date."},
	problem.AccountSuspended: {"The account is suspended",
		"The operator has suspended the account. Its keys work again when that is lifted.",
		"Write to support."},
	problem.UnknownGame: {"There is no such game",
		"No game has this id. The answer names the nearest ones. Ids are lower-case words joined by hyphens, such as ny-win-4.",
		"Take an id from /v1/games."},
	problem.NotFound: {"There is nothing at this address",
		"No endpoint has this path. A slash at the end is another path.",
		"Compare the path with the API reference."},
	problem.MethodNotAllowed: {"The method is not allowed here",
		"The API is read-only: every path answers GET, HEAD and OPTIONS.",
		"Use GET. The header Allow lists what is possible."},
	problem.NotAcceptable: {"None of the accepted forms can be given",
		"The header Accept allows none of the forms that this path has: JSON everywhere, CSV and NDJSON for lists of draws.",
		"Leave Accept out, or allow application/json."},
	problem.URITooLong: {"The request's address is too long",
		"The path and the query have more than 8 KiB together.",
		"Shorten the address. No parameter needs that much."},
	problem.HeadersTooLarge: {"The request's headers are too large",
		"The headers have more than 32 KiB together.",
		"Send fewer headers; cookies of other sites are the usual cause."},
	problem.QuotaExceeded: {"The day's requests are used",
		"The account has used all requests of its plan for this UTC day, over all its keys. Refused requests are not counted.",
		"Wait for as many seconds as Retry-After says (until 00:00 UTC)."},
	problem.RateLimited: {"There are too many requests at once",
		"Either /v1/usage was asked more than 60 times in a minute, or too many wrong keys came from your network address.",
		"Wait for as many seconds as Retry-After says. What is left of the day stands in the headers of every answer: there is no need to ask for it."},
	problem.Internal: {"Something went wrong here",
		"An unexpected error. It was logged with its request_id.",
		"Try again. If it stays, write to support and tell the request_id."},
	problem.Unavailable: {"The service cannot answer this now",
		"A part of the service is away for a moment: the draws are being loaded, or a key that this server has not seen yet cannot be looked up.",
		"Try again after Retry-After. Requests that were answered 5xx are not counted."},
}

// errorView is the page of one code.
type errorView struct {
	docView

	Code   problem.Code
	Status int
	Text   errorText
}

func (h *Handler) errorPage(w http.ResponseWriter, r *http.Request) error {
	code := problem.Code(r.PathValue("code"))
	text, ok := errorTexts[code]
	if !ok {
		return errNotFound()
	}
	if code == problem.QuotaExceeded && h.deps.Billing != nil {
		text.Do = "Wait for as many seconds as Retry-After says (until 00:00 UTC), or upgrade from Free to Pro: that works at once."
	}
	h.show(w, r, view{
		Page: "error-code", Title: string(code), Section: "docs", Description: text.Title + ": what the error " + string(code) + " means, and what to do.",
		Data: errorView{docView{Pages: docPages, Current: "errors", Base: h.deps.PublicURL}, code, problem.Codes()[code], text},
	})
	return nil
}
