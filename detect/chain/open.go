package chain

import (
	"time"

	"stormwatch/capture"
)

// open is a failure that waits for its retry. It holds no pointer.
type open struct {
	seq, root      uint64
	start, end     int64
	deadline       int64 // the earliest of its chain; 0 none told
	addr, cred     uint64
	idem, byID     uint64 // byID: where it is found by its id; 0 nowhere
	body, id       uint64 // id: passed on by hops
	hint           capture.Hint
	byAddr, byCred int32 // its keys; negative: not listed there
	nextA, nextC   int32 // in the lists of its keys
	prevT, nextT   int32 // in the calendar
	day            int32 // place in the calendar, negative if none
	rootClient     uint32
	attempt        int32
	sure           float32           // attempts at the same request that may be expected
	before         float32           // wait before the failed request, seconds; 0 none
	due            [quartiles]uint16 // exposure, in dueUnit after the hint is over
	n, status      uint16
	hidden         uint16
	reason         capture.Reason
	outcome        capture.Outcome
	advice         capture.Advice
	counter        capture.Counter
	relay          capture.Attempt
	class          uint8
	step           uint8 // quarters of its exposure counted
	together       uint8
	relative       bool
	raced          bool
	lingers        bool // beyond MaxAge: nothing was asked since
	bound          bool // the wait before it kept to a hint
	worth          bool // its client gives up if it does not come back
	live           bool
}

// dueUnit makes the longest wait fit 16 bits.
const dueUnit = 20e6 // ns

// longest is for how long the failure of a client's latest request for something may
// be answered by a retry: those who come back every five or twenty minutes have not
// given up, and between their requests there is nothing that could be meant instead.
const longest = 1300 * time.Second

// The calendar has a day per second of event time; a failure that lives longer is looked at
// once a round and put back.
const (
	second = int64(1e9)
	days   = 256
)

// failures is a slab of open failures with a calendar of when to look at each.
type failures struct {
	all    []open
	linger int // how many linger
	free   []int32
	diary  [days]int32 // heads of lists through prevT and nextT; index plus one
	opened int
}

// add returns room for one more.
func (f *failures) add() int32 {
	f.opened++
	if n := len(f.free); n > 0 {
		i := f.free[n-1]
		f.free = f.free[:n-1]
		return i
	}
	f.all = append(f.all, open{})
	return int32(len(f.all) - 1)
}

// drop gives the room back; the lists of its keys have let go of it.
func (f *failures) drop(i int32) {
	f.unschedule(i)
	if f.all[i].lingers {
		f.linger--
	}
	f.all[i].live = false
	f.free = append(f.free, i)
	f.opened--
}

// schedule notes a failure for the first barrier at or after t.
func (f *failures) schedule(i int32, t int64) {
	o := &f.all[i]
	d := ceilSecond(t) & (days - 1)
	o.day, o.prevT, o.nextT = int32(d), 0, f.diary[d]
	if o.nextT > 0 {
		f.all[o.nextT-1].prevT = i + 1
	}
	f.diary[d] = i + 1
}

func (f *failures) unschedule(i int32) {
	o := &f.all[i]
	if o.day < 0 {
		return
	}
	if o.prevT > 0 {
		f.all[o.prevT-1].nextT = o.nextT
	} else {
		f.diary[o.day] = o.nextT
	}
	if o.nextT > 0 {
		f.all[o.nextT-1].prevT = o.prevT
	}
	o.day = -1
}

// ceilSecond returns the number of the first whole second at or after t.
func ceilSecond(t int64) int64 {
	s := t / second
	if t > s*second {
		s++
	}
	return s
}

// dueAt returns when a quarter more of its exposure counts.
func (o *open) dueAt(step uint8) int64 { return o.end + o.held() + int64(o.due[step])*dueUnit }

// longestHeld is up to which hint a failure is held open for who obeys it; a longer
// one is absurd, and obliges nobody.
const longestHeld = 3600 * second

// held is how long the server asked its client to stay away.
func (o *open) held() int64 {
	if o.class != classHinted || !o.hint.Usable() {
		return 0
	}
	if o.hint.Wait > longestHeld {
		return 0
	}
	return max(o.hint.Wait, 0)
}

// waits tells whether a retry of it is still likely at t.
func (o *open) waits(t int64) bool { return t < o.dueAt(quartiles-1) }
