package api

// A record is assembled from texts of nearly constant length, which are copied in blocks whose size the compiler knows:
// that takes a few instructions and no call. Bytes beyond the text are overwritten by what follows. The second block of
// a text is copied only if it is used.

// recordSpace is where a record is written. Offsets are masked with recordMask, so that the compiler can prove that
// every block lies inside.
type recordSpace [640]byte

const recordMask = 511

// text32 is a text of at most 32 bytes.
type text32 struct {
	begin, rest [16]byte
	len         uint8
}

// text48 is a text of at most 48 bytes.
type text48 struct {
	begin [16]byte
	rest  [32]byte
	len   uint8
}

// text61 is a text of at most 61 bytes.
type text61 struct {
	begin [16]byte
	rest  [45]byte
	len   uint8
}

// text64 is a text of at most 64 bytes.
type text64 struct {
	begin, rest [32]byte
	len         uint8
}

const maxText128 = 128

// text128 is a text of at most maxText128 bytes.
type text128 struct {
	begin, rest [48]byte
	last        [32]byte
	len         uint8
}

func newText32(s []byte) (t text32) {
	t.len = fill(s, t.begin[:], t.rest[:])
	return t
}

func newText48(s []byte) (t text48) {
	t.len = fill(s, t.begin[:], t.rest[:])
	return t
}

func newText61(s []byte) (t text61) {
	t.len = fill(s, t.begin[:], t.rest[:])
	return t
}

func newText64(s []byte) (t text64) {
	t.len = fill(s, t.begin[:], t.rest[:])
	return t
}

func newText128(s []byte) (t text128) {
	t.len = fill(s, t.begin[:], t.rest[:], t.last[:])
	return t
}

// fill puts a text into blocks and returns its length.
func fill(s []byte, blocks ...[]byte) uint8 {
	n := len(s)
	for _, block := range blocks {
		s = s[copy(block, s):]
	}
	if len(s) > 0 {
		panic("a text is longer than its blocks") // a bug in the caller: records would be truncated
	}
	return uint8(n)
}

// put writes t at n and returns where it ends.
func (t *text32) put(room *recordSpace, n int) int {
	*(*[16]byte)(room[n : n+16]) = t.begin
	if t.len > 16 {
		*(*[16]byte)(room[n+16 : n+32]) = t.rest
	}
	return (n + int(t.len)) & recordMask
}

func (t *text32) appendTo(b []byte) []byte {
	end := len(b) + int(t.len)
	return append(append(b, t.begin[:]...), t.rest[:]...)[:end]
}

// put writes t at n and returns where it ends.
func (t *text48) put(room *recordSpace, n int) int {
	*(*[16]byte)(room[n : n+16]) = t.begin
	if t.len > 16 {
		*(*[32]byte)(room[n+16 : n+48]) = t.rest
	}
	return (n + int(t.len)) & recordMask
}

// put writes t at n and returns where it ends.
func (t *text61) put(room *recordSpace, n int) int {
	*(*[16]byte)(room[n : n+16]) = t.begin
	if t.len > 16 {
		*(*[45]byte)(room[n+16 : n+61]) = t.rest
	}
	return (n + int(t.len)) & recordMask
}

// put writes t at n and returns where it ends.
func (t *text64) put(room *recordSpace, n int) int {
	*(*[32]byte)(room[n : n+32]) = t.begin
	if t.len > 32 {
		*(*[32]byte)(room[n+32 : n+64]) = t.rest
	}
	return (n + int(t.len)) & recordMask
}

// put writes t at n and returns where it ends.
func (t *text128) put(room *recordSpace, n int) int {
	*(*[48]byte)(room[n : n+48]) = t.begin
	if t.len > 48 {
		*(*[48]byte)(room[n+48 : n+96]) = t.rest
		if t.len > 96 {
			*(*[32]byte)(room[n+96 : n+128]) = t.last
		}
	}
	return (n + int(t.len)) & recordMask
}
