package importer

import "time"

// The phases of a file. With Strict or DryRun, all files are read before any is compared.
const (
	PhaseReading   = "reading"
	PhaseComparing = "comparing"
	PhaseWriting   = "writing"
)

// Progress is how far a file has got: in bytes while reading, in draws afterwards. Total is -1 if unknown.
type Progress struct {
	File        string
	Phase       string
	Done, Total int64
}

// meter passes progress on, at most four times a second and always at the beginning of a phase.
type meter struct {
	tell  func(Progress)
	last  time.Time
	phase [2]string // file and phase reported last
	calls int
}

func newMeter(tell func(Progress)) *meter { return &meter{tell: tell} }

const (
	tellEvery  = 250 * time.Millisecond
	clockEvery = 1024 // calls between two readings of the clock, which costs more than the rest
)

func (m *meter) at(p Progress) {
	if m.tell == nil {
		return
	}
	began := m.phase != [2]string{p.File, p.Phase}
	m.calls++
	if !began && p.Done != p.Total && m.calls%clockEvery != 0 && p.Phase != PhaseReading {
		return
	}
	// Real time, not Options.Now: this paces a person's screen and decides nothing.
	now := time.Now()
	if !began && p.Done != p.Total && now.Sub(m.last) < tellEvery {
		return
	}
	m.phase, m.last = [2]string{p.File, p.Phase}, now
	m.tell(p)
}
