package importer

import "time"

// The phases of a file. With Strict or DryRun, all files are read before any is compared.
const (
	PhaseReading   = "reading"
	PhaseComparing = "comparing"
	PhaseWriting   = "writing"
)

// Progress is how far a file is: bytes while reading, draws afterwards. Total is -1 where it is not known.
type Progress struct {
	File        string
	Phase       string
	Done, Total int64
}

// meter passes progress on, four times a second at most and always where a phase begins.
type meter struct {
	tell  func(Progress)
	last  time.Time
	phase [2]string // file and phase told last
	calls int
}

func newMeter(tell func(Progress)) *meter { return &meter{tell: tell} }

const (
	tellEvery  = 250 * time.Millisecond
	clockEvery = 1024 // calls between two looks at the clock, which costs more than the rest
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
