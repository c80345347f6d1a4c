package admin

import (
	"io"
	"path"

	"github.com/schollz/progressbar/v3"

	"lottery/jobs/importer"
)

// progress is a bar on stderr, for people only: it is not drawn without a terminal, or with --quiet.
type progress struct {
	w       io.Writer // nil: draw nothing
	bar     *progressbar.ProgressBar
	current importer.Progress
}

func (t *tool) newProgress() *progress {
	if t.quiet || !t.env.IsTerminal(t.env.Stderr) {
		return &progress{}
	}
	return &progress{w: t.env.Stderr}
}

// at draws how far the import is. Errors are ignored: a bar that cannot be drawn is no reason to stop.
func (p *progress) at(now importer.Progress) {
	if p.w == nil {
		return
	}
	if p.bar == nil || now.File != p.current.File || now.Phase != p.current.Phase {
		p.end()
		name := path.Base(now.File)
		if name == "-" {
			name = "stdin"
		}
		p.bar = progressbar.NewOptions64(now.Total,
			progressbar.OptionSetWriter(p.w),
			progressbar.OptionSetDescription(clean(now.Phase+" "+name)),
			progressbar.OptionShowBytes(now.Phase == importer.PhaseReading),
			progressbar.OptionShowCount(),
			progressbar.OptionSetRenderBlankState(true),
			progressbar.OptionSetSpinnerChangeInterval(0), // otherwise it draws from a goroutine of its own
			progressbar.OptionClearOnFinish(),
		)
	}
	p.current = now
	_ = p.bar.Set64(now.Done)
}

// end removes the bar from the screen.
func (p *progress) end() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}
