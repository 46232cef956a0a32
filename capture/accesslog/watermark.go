package accesslog

// watermark tells up to where a log that is followed is complete. Lines come in
// the order of their ends, so a request that started earlier may still be told:
// the mark trails the newest end by the slack.
type watermark struct {
	newest int64
	told   int64
	// the longest request of the minute that runs and of the one before
	minute      int64
	now, before int64
}

// The slack is the longest request seen of late, within these bounds: below, for
// lines written out of order and clocks of one second; above, so that a long
// poll does not hold the picture back. Longer requests come late.
const (
	minSlack = second
	maxSlack = 10 * second
)

// note takes in a line.
func (w *watermark) note(end, took int64) {
	w.newest = max(w.newest, end)
	if m := w.newest / (60 * second); m != w.minute {
		w.before, w.now = w.now, 0
		if m != w.minute+1 {
			w.before = 0
		}
		w.minute = m
	}
	if took <= maxSlack {
		w.now = max(w.now, took)
	}
}

// late tells whether a request starts before a mark that was told.
func (w *watermark) late(start int64) bool { return start < w.told }

// tell gives the mark to publish; it never goes back.
func (w *watermark) tell() int64 {
	if w.newest > 0 {
		w.told = max(w.told, w.newest-max(w.now, w.before, minSlack))
	}
	return w.told
}

// close moves the mark behind everything: the log has ended.
func (w *watermark) close(last int64) {
	if w.newest = max(w.newest, last); w.newest > 0 {
		w.told = w.newest + 1
	}
}
