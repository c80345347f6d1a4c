package storetest

import (
	"bytes"
	"sync"
)

// Buffer is a buffer for concurrent use: a log that a test reads while the program writes it.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// Hold makes writers wait until release.
func (b *Buffer) Hold() (release func()) {
	b.mu.Lock()
	return b.mu.Unlock
}
