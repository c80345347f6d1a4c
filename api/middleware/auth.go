package middleware

import (
	"github.com/gin-gonic/gin"

	"lottery/api/problem"
)

// RequireKey passes only requests with a valid key to next, with the key's principal: passing it as an
// argument costs less than setting it in the context. wrong slows down clients that guess keys; nil = no
// limit. fail writes the problem.
func RequireKey(keys *Keys, wrong *WrongKeys, fail func(*gin.Context, error), next func(*gin.Context, *Principal)) gin.HandlerFunc {
	return func(c *gin.Context) {
		sent := c.Request.Header["X-Api-Key"]
		var p *Principal
		var err error
		switch {
		case len(sent) == 0 || sent[0] == "":
			err = missingKey(c)
		case len(sent) > 1:
			err = problem.New(problem.InvalidAPIKey, "the request has %d X-API-Key headers; send only one", len(sent))
		default:
			p, err = keys.Authenticate(c.Request.Context(), sent[0])
		}
		identify(c, p)
		if err != nil {
			fail(c, wrong.refusal(c.Request.Context(), c.Request, err))
			c.Abort()
			return
		}
		next(c, p)
	}
}

// missingKey tells a client that sends its key in the wrong place where to send it.
func missingKey(c *gin.Context) error {
	switch {
	case c.GetHeader("Authorization") != "":
		return problem.New(problem.MissingAPIKey, "send the key in the X-API-Key header; the Authorization header is not read")
	case c.Query("api_key") != "" || c.Query("apikey") != "" || c.Query("key") != "":
		return problem.New(problem.MissingAPIKey, "send the key in the X-API-Key header; a key in the URL is not read, because URLs end up in logs")
	default:
		return problem.New(problem.MissingAPIKey, "send your API key in the X-API-Key header")
	}
}
