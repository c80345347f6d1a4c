package main

import (
	"testing"

	"github.com/chromedp/chromedp"
)

// A button that copies says so for a moment, and then what it said before, however often it is pressed.
func TestCopyTwice(t *testing.T) {
	t.Parallel()
	p := startDemo(t, t.TempDir())
	b := newTab(t, chromium(t))
	b.open(p.base + "/docs")
	label := func() string {
		var text string
		b.do("read the button", chromedp.Evaluate(`document.querySelector(".copy").innerHTML`, &text))
		return text
	}
	before := label()
	b.do("press the button", chromedp.Click(".copy", chromedp.ByQuery))
	waitUntil(t, "the button to say what it did", func() bool { return label() != before })
	b.do("press it again", chromedp.Click(".copy", chromedp.ByQuery))
	b.do("wait until the page has done all that it had in mind", chromedp.Evaluate(`new Promise(done => setTimeout(done, 2500))`, nil, awaiting))
	if after := label(); after != before {
		t.Errorf("the button says %q for good; before, %q", after, before)
	}
}
