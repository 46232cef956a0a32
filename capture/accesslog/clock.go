package accesslog

import (
	"encoding/binary"
	"time"
)

const (
	second  = int64(time.Second)
	dateLen = len("[30/Nov/2026:08:11:06 +0000]")
)

// dateCache reads CLF dates and remembers the last day and zone, which a log
// repeats for hours.
type dateCache struct {
	text     [4]uint64 // "30/Nov/2026" and "+0530", as words that overlap
	midnight int64     // Unix seconds of 00:00:00 of that day in that zone
}

// words gives day and zone as numbers that are quick to compare.
func words(b []byte) [4]uint64 {
	le := binary.LittleEndian
	return [4]uint64{le.Uint64(b), le.Uint64(b[3:]), uint64(le.Uint32(b[21:])), uint64(b[25])}
}

// parse reads `30/Nov/2026:08:11:06 +0530` to Unix nanoseconds. A leap second is
// taken as the second after it.
func (c *dateCache) parse(b []byte) (int64, bool) {
	if b[11] != ':' || b[14] != ':' || b[17] != ':' || b[20] != ' ' {
		return 0, false
	}
	h, ok1 := two(b[12:])
	m, ok2 := two(b[15:])
	s, ok3 := two(b[18:])
	if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || s > 60 {
		return 0, false
	}
	if text := words(b); text != c.text {
		if !c.learn(b[:11], b[20:26]) {
			return 0, false
		}
		c.text = text
	}
	return (c.midnight + int64(h*3600+m*60+s)) * second, true
}

func (c *dateCache) learn(day, zone []byte) bool {
	d, ok1 := two(day)
	mon := month(day[3:6])
	y1, ok2 := two(day[7:])
	y2, ok3 := two(day[9:])
	zh, ok4 := two(zone[2:])
	zm, ok5 := two(zone[4:])
	year := y1*100 + y2
	if !ok1 || !ok2 || !ok3 || !ok4 || !ok5 || mon == 0 || day[2] != '/' || day[6] != '/' || zh > 23 || zm > 59 {
		return false
	}
	if year < 1971 || year > 2261 { // int64 nanoseconds end in 2262
		return false
	}
	offset := int64(zh*3600 + zm*60)
	switch zone[1] {
	case '+':
	case '-':
		offset = -offset
	default:
		return false
	}
	t := time.Date(year, mon, d, 0, 0, 0, 0, time.UTC)
	if t.Day() != d { // 31/Feb
		return false
	}
	c.midnight = t.Unix() - offset
	return true
}

func month(b []byte) time.Month {
	const names = "JanFebMarAprMayJunJulAugSepOctNovDec"
	for i := 0; i < len(names); i += 3 {
		if string(b) == names[i:i+3] {
			return time.Month(i/3 + 1)
		}
	}
	return 0
}

func two(b []byte) (int, bool) {
	hi, lo := b[0]-'0', b[1]-'0'
	return int(hi)*10 + int(lo), hi <= 9 && lo <= 9
}

// earliest is the least number of nanoseconds taken for a moment, in 2001: no
// request lasts thirty years.
const earliest = 1_000_000_000 * second
