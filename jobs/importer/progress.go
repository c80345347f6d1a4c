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

const (
	tellEvery  = 250 * time.Millisecond
	clockEvery = 1024 // calls between two readings of the clock, which costs more than the rest
)

func (m *meter) at(p Progress) {
	if m.tell == nil {
		return
	}
	m.calls++
	phase := [2]string{p.File, p.Phase}
	if phase == m.phase && p.Done != p.Total { // neither its beginning nor its end
		if p.Phase != PhaseReading && m.calls%clockEvery != 0 {
			return
		}
		// Real time, not Options.Now: this paces a person's screen and decides nothing.
		if time.Since(m.last) < tellEvery {
			return
		}
	}
	m.phase, m.last = phase, time.Now()
	m.tell(p)
}
