package quota

import (
	"maps"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gin-gonic/gin"
)

// Headers sets the rate headers: the IETF draft's RateLimit fields (draft-ietf-httpapi-ratelimit-headers) and the
// older X-RateLimit ones. reset is in Unix seconds.
func (g *Gate) Headers(c *gin.Context, limit, remaining, reset int64) {
	seconds := int64((g.untilReset(reset) + time.Second - 1) / time.Second)
	var b [64]byte
	left := append(b[:0], `"daily";r=`...)
	from := len(left)
	left = strconv.AppendInt(left, remaining, 10)
	to := len(left)
	left = append(left, ";t="...)
	left = strconv.AppendInt(left, seconds, 10)
	text := string(left)
	values := []string{text, text[from:to]} // one slice backs both headers, one string both numbers
	of := g.texts.of(limit)
	h := c.Writer.Header()
	h["Ratelimit-Policy"] = of.policy
	h["Ratelimit"] = values[0:1:1]
	h["X-Ratelimit-Limit"] = of.limit
	h["X-Ratelimit-Remaining"] = values[1:2:2]
	h["X-Ratelimit-Reset"] = g.texts.reset(reset)
}

// texts caches header values that many requests share: there are few limits, and one reset time a day.
type texts struct {
	limits atomic.Pointer[map[int64]limitText]
	resets atomic.Pointer[resetText]
}

type limitText struct{ policy, limit []string }

type resetText struct {
	at   int64
	text []string
}

// mostLimits bounds the cache where every account has its own limit.
const mostLimits = 1000

func (t *texts) of(limit int64) limitText {
	known := t.limits.Load()
	if known != nil {
		if text, ok := (*known)[limit]; ok {
			return text
		}
	}
	number := strconv.FormatInt(limit, 10)
	text := limitText{policy: []string{`"daily";q=` + number + ";w=86400"}, limit: []string{number}}
	next := map[int64]limitText{limit: text}
	if known != nil && len(*known) < mostLimits {
		maps.Copy(next, *known)
	}
	t.limits.Store(&next) // if two goroutines race, one entry is lost and made again later
	return text
}

func (t *texts) reset(at int64) []string {
	known := t.resets.Load()
	if known == nil || known.at != at {
		known = &resetText{at: at, text: []string{strconv.FormatInt(at, 10)}}
		t.resets.Store(known)
	}
	return known.text
}
