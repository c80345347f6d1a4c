package api

import (
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"strings"

	"lottery/api/problem"
	"lottery/models"
	"lottery/models/catalog"
)

// A cursor names the last draw given and the request that it belongs to. It holds no offset, so draws imported during a
// walk neither repeat nor hide others. Layout, big-endian: version 1 byte, identity 8, date 4, tod 1, sequence 1, game
// id, CRC-32 of all before it; then base64url.
const (
	cursorVersion = 1
	cursorFixed   = 1 + 8 + 4 + 1 + 1
)

func encodeCursor(identity uint64, at catalog.Position) string {
	b := make([]byte, 0, cursorFixed+len(at.GameID)+crc32.Size)
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, identity)
	b = binary.BigEndian.AppendUint32(b, uint32(at.Date))
	b = append(b, byte(at.Tod), byte(at.Sequence))
	b = append(b, at.GameID...)
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	var text [128]byte // stays on the stack unless the id is very long
	return string(base64.RawURLEncoding.AppendEncode(text[:0], b))
}

// cursor returns the position to continue after, or nil for a first page.
func (b *binder) cursor(path string) *catalog.Position {
	v, ok := b.text("cursor")
	if !ok {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(v)
	if err != nil || strings.ContainsAny(v, "\r\n") || len(raw) < cursorFixed+crc32.Size || raw[0] != cursorVersion ||
		binary.BigEndian.Uint32(raw[len(raw)-crc32.Size:]) != crc32.ChecksumIEEE(raw[:len(raw)-crc32.Size]) {
		b.failf("cursor", problem.Malformed, "this service did not issue this cursor; leave it out to start over")
		return nil
	}
	if binary.BigEndian.Uint64(raw[1:]) != b.identity(path) {
		b.failf("cursor", problem.Malformed, "cursor belongs to a request with other parameters; only limit or count may change between pages")
		return nil
	}
	return &catalog.Position{
		Date:     models.Date(binary.BigEndian.Uint32(raw[9:])),
		Tod:      models.Tod(raw[13]),
		Sequence: int(raw[14]),
		GameID:   string(raw[cursorFixed : len(raw)-crc32.Size]),
	}
}
