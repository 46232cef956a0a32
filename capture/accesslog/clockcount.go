package accesslog

// clockCount counts lines by the resolution of their time: those without a time
// of their own, seconds, tenths of a second, and so on.
type clockCount struct {
	lines [len(resolutions)]int64
	all   int64
}

var resolutions = [...]int64{noClock, second, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 10, 1}

// noClock is the resolution of lines that have no time: too coarse for any
// judgement about when.
const noClock = 86400 * second

func (c *clockCount) add(step int64) {
	class := len(resolutions) - 1
	if step == 1e6 { // what most logs have that have more than seconds
		c.lines[4]++
		c.all++
		return
	}
	for i, r := range &resolutions {
		if step >= r {
			class = i
			break
		}
	}
	c.lines[class]++
	c.all++
}

// mostlyExact is how many lines there must be for each one with a coarser clock,
// for the log's clock to count as the finer one: a few lines that lost their end
// must not hide what all the others show.
const mostlyExact = 20

// resolution is the log's: as coarse as more than a few of its lines.
func (c *clockCount) resolution() int64 {
	coarse := int64(0)
	for i, r := range &resolutions {
		if coarse += c.lines[i]; mostlyExact*coarse > c.all {
			return r
		}
	}
	return 0
}
