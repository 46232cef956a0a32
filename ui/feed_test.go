package ui

import "stormwatch/detect"

func (f *fakeFeed) Progress() Progress { return f.progress }

func (f *fakeFeed) Report() (*detect.Snapshot, error) { return f.snap, f.failed }
