package sim

import "time"

// windowSlices is how finely a window forgets.
const windowSlices = 10

// window sums what was added within its length, in ten slices, as Finagle's
// WindowedAdder does. Moments come in order.
type window struct {
	slice int64 // ns
	now   int64 // ordinal of the newest slice
	sums  [windowSlices]float64
}

func newWindow(length time.Duration) *window {
	return &window{slice: max(int64(length)/windowSlices, 1)}
}

func (w *window) move(at int64) {
	for now := at / w.slice; w.now < now; {
		if now-w.now >= windowSlices {
			w.now, w.sums = now, [windowSlices]float64{}
			return
		}
		w.now++
		w.sums[w.now%windowSlices] = 0
	}
}

func (w *window) add(at int64, n float64) {
	w.move(at)
	w.sums[w.now%windowSlices] += n
}

func (w *window) sum(at int64) (sum float64) {
	w.move(at)
	for _, n := range w.sums {
		sum += n
	}
	return sum
}
