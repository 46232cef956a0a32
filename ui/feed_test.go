package ui

import "stormwatch/detect"

func (f *fakeFeed) Progress() Progress { return f.progress }

func (f *fakeFeed) Report() (whole, screen *detect.Snapshot, err error) {
	if f.later != nil {
		return f.later, f.later, f.failed
	}
	return f.snap, f.snap, f.failed
}
