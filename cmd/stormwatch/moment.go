package main

import (
	"fmt"
	"strings"
	"time"

	"stormwatch/detect"
)

// moment reads one end of the time to look at: RFC 3339, a date and a time, a time
// of day, or how long before the end of the input. Without a zone it is one of
// zone.
func moment(flag, text string, zone *time.Location) (b detect.Bound, err error) {
	if text == "" {
		return b, nil
	}
	if d, err := time.ParseDuration(strings.TrimPrefix(text, "-")); err == nil && d > 0 {
		return detect.Bound{Ago: int64(d)}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, text); err == nil {
		return detect.Bound{At: t.UnixNano()}, nil
	}
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02", "02/Jan/2006:15:04:05 -0700", "02/Jan/2006:15:04:05"} {
		if t, err := time.ParseInLocation(layout, text, zone); err == nil {
			return detect.Bound{At: t.UnixNano()}, nil
		}
	}
	for _, layout := range []string{"15:04:05", "15:04"} {
		if t, err := time.Parse(layout, text); err == nil {
			midnight := time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
			return detect.Bound{Clock: int64(t.Sub(midnight)), Zone: zone}, nil
		}
	}
	return b, usage{fmt.Errorf("--%s %s: a moment such as 2026-03-02T03:10:00Z, '2026-03-02 03:10' or 03:10, or how long before the end, such as 15m", flag, text)}
}

// window reads --since and --until. Times without a zone are of --tz, else UTC, as
// those that reports show.
func (f *flags) window(st *streams, o *detect.Options) error {
	zone, err := st.logs.zone("")
	if err != nil {
		return err
	}
	if zone == nil {
		zone = time.UTC
	}
	if o.Since, err = moment("since", f.since, zone); err != nil {
		return err
	}
	f.from = o.Since
	if o.Until, err = moment("until", f.until, zone); err != nil {
		return err
	}
	if o.Since.At != 0 && o.Until.At != 0 && o.Until.At <= o.Since.At {
		return usage{fmt.Errorf("--until %s is not after --since %s", f.until, f.since)}
	}
	return nil
}

// lived are the options for live input, whose end is now.
func lived(o detect.Options) detect.Options {
	now := time.Now().UnixNano()
	if o.Since != (detect.Bound{}) {
		o.Since = detect.Bound{At: o.Since.Resolve(now)}
	}
	if o.Until != (detect.Bound{}) {
		at := o.Until.Resolve(now)
		if o.Until.Zone != nil && at < now-int64(time.Minute) && at <= o.Since.At {
			at += 24 * int64(time.Hour) // the next one
		}
		o.Until = detect.Bound{At: at}
	}
	return o
}
