package web

import (
	"net/http"

	"lottery/api/problem"
)

// errorText explains one code of the API.
type errorText struct{ Title, Means, Do string }

var errorTexts = map[problem.Code]errorText{
	problem.InvalidParameter: {"The request has invalid parameters",
		"A parameter is missing, empty, repeated, malformed, out of range or unknown, or from is after to, or a cursor belongs to another query. The errors list names every problem.",
		"Fix what the errors list names. A misspelled parameter is refused rather than ignored, so that a typo never gets you the wrong draws."},
	problem.MissingAPIKey: {"The request has no API key",
		"The X-API-Key header is missing. Keys in the Authorization header or in the URL are not read.",
		"Send your key in the X-API-Key header."},
	problem.InvalidAPIKey: {"The API key is not valid",
		"The key is not one of ours. Most often, characters at its end were lost when it was copied; the checksum in the key catches that.",
		"Copy the key again. It has 42 characters and begins with ldk_. If you have lost it, create a new one."},
	problem.RevokedAPIKey: {"The API key was revoked",
		"The key was revoked, or it was rotated and its grace period is over, or its account was closed.",
		"Use another key of your account, or create one."},
	problem.ExpiredAPIKey: {"The API key has expired",
		"The key was created with an expiration date, which has passed.",
		"Create a new key. If you do so before the old one expires, both work in the meantime, so there is no downtime. Rotating does not help: a rotated key keeps its expiration date."},
	problem.AccountSuspended: {"The account is suspended",
		"The operator has suspended the account. Its keys will work again when the suspension is lifted.",
		"Contact support."},
	problem.UnknownGame: {"No such game",
		"No game has this ID. The error names the nearest ones, if any are near. IDs are lowercase words joined by hyphens, such as ny-win-4.",
		"Use an ID from /v1/games."},
	problem.NotFound: {"No such path",
		"No endpoint has this path. A trailing slash makes it a different path.",
		"Compare the path with the API reference."},
	problem.MethodNotAllowed: {"Method not allowed",
		"The API is read-only: every path supports GET, HEAD and OPTIONS.",
		"Use GET. The Allow header lists what is possible."},
	problem.NotAcceptable: {"None of the accepted formats is available",
		"The Accept header allows none of the formats that this path offers: JSON everywhere, CSV and NDJSON for lists of draws.",
		"Leave Accept out, or include application/json."},
	problem.URITooLong: {"The request URL is too long",
		"The path and query together are longer than 8 KiB.",
		"Shorten the URL. No parameter needs that much."},
	problem.HeadersTooLarge: {"The request headers are too large",
		"The headers together are larger than 32 KiB.",
		"Send fewer headers; cookies of other sites are the usual cause."},
	problem.QuotaExceeded: {"The daily quota is used up",
		"The account has used all its requests for this UTC day, across all its keys. Refused requests are not counted.",
		"Wait the number of seconds in Retry-After (until 00:00 UTC)."},
	problem.RateLimited: {"Too many requests",
		"Either /v1/usage was called more than 60 times in a minute, or too many wrong keys came from your IP address.",
		"Wait the number of seconds in Retry-After. Every response to a request that counts shows in its headers what is left of the day, so there is no need to poll for it."},
	problem.Internal: {"Something went wrong here",
		"An unexpected error. It was logged with its request_id.",
		"Try again. If it keeps happening, contact support and include the request_id."},
	problem.Unavailable: {"The service is temporarily unavailable",
		"Part of the service is briefly unavailable: the draws are being loaded, the server is handling too many requests or shutting down, or a key or your usage cannot be looked up. The detail says which.",
		"Try again after the number of seconds in Retry-After. Requests that get a 5xx are not counted."},
}

// errorView is the data of the page about one error code.
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
		text.Do = "Wait the number of seconds in Retry-After (until 00:00 UTC), or upgrade from Free to Pro, which takes effect immediately."
	}
	h.show(w, r, view{
		Page: "error-code", Title: string(code), Section: "docs", Description: text.Title + ": what the error " + string(code) + " means, and what to do.",
		Kept: h.remember().kept("docs/errors/" + string(code)),
		Data: errorView{docView{Pages: docPages, Current: "errors"}, code, problem.Codes()[code], text},
	})
	return nil
}
