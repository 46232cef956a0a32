package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stormwatch/capture"
	"stormwatch/capture/accesslog"
	"stormwatch/capture/loadtest"
)

// logFlags say how logs are read.
type logFlags struct {
	format, mapping, nginxConf, apacheConf, sampled string
	zones, proxies                                  []string
}

func (l *logFlags) add(c *cobra.Command) {
	p := c.PersistentFlags()
	p.StringVar(&l.format, "log-format", "auto", "how log lines are cut: a name, or nginx:..., apache:..., envoy:..., haproxy:... or a <field> pattern")
	p.StringVar(&l.nginxConf, "nginx-conf", "", "FILE[:NAME] with the log_format")
	p.StringVar(&l.apacheConf, "apache-conf", "", "FILE[:NAME] with the LogFormat")
	p.StringVar(&l.mapping, "map", "", "keys of JSON or key=value lines: status=resp.code,dur=took:ms")
	p.StringArrayVar(&l.zones, "tz", nil, "[NAME=]ZONE of log times that have none: Europe/Berlin, +05:30, local")
	p.StringArrayVar(&l.proxies, "trusted-proxy", nil, "address or CIDR of a proxy: the client is whom its X-Forwarded-For names")
	p.StringVar(&l.sampled, "sampled", "", "share of the requests that the log holds, e.g. 0.01 or 1%, if you know")
}

// options are those of the log of a source; nothing is read yet.
func (l *logFlags) options(name string) (o accesslog.Options, err error) {
	if o.Format, err = l.chosen(); err != nil {
		return o, err
	}
	if o.Zone, err = l.zone(name); err != nil {
		return o, err
	}
	if o.Trusted, err = l.trusted(); err != nil {
		return o, err
	}
	if l.sampled != "" {
		text, percent := strings.CutSuffix(l.sampled, "%")
		n, err := strconv.ParseFloat(text, 64)
		if percent {
			n /= 100
		}
		if err != nil || !(n > 0 && n <= 1) {
			return o, usage{fmt.Errorf("--sampled %s: a share above 0 and up to 1, such as 0.01 or 1%%", l.sampled)}
		}
		o.Sampled = n
	}
	return o, nil
}

// trusted are the proxies whose word is believed.
func (l *logFlags) trusted() (all []netip.Prefix, err error) {
	for _, p := range l.proxies {
		prefix, err := netip.ParsePrefix(p)
		if addr, aerr := netip.ParseAddr(p); aerr == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, usage{fmt.Errorf("--trusted-proxy %s: an address or a range such as 10.0.0.0/8", p)}
		}
		all = append(all, prefix)
	}
	return all, nil
}

// named tells whether the format of logs was named.
func (l *logFlags) named() bool {
	return l.nginxConf != "" || l.apacheConf != "" || l.mapping != "" || l.format != "" && l.format != "auto"
}

// chosen is the format that was named, nil if it is to be found out.
func (l *logFlags) chosen() (*accesslog.Format, error) {
	var given []string
	for _, f := range []struct{ flag, value string }{{"--log-format", strings.TrimSuffix(l.format, "auto")}, {"--nginx-conf", l.nginxConf}, {"--apache-conf", l.apacheConf}, {"--map", l.mapping}} {
		if f.value != "" {
			given = append(given, f.flag)
		}
	}
	if len(given) > 1 {
		return nil, usage{fmt.Errorf("%s: give one of them", strings.Join(given, " and "))}
	}
	var f *accesslog.Format
	var err error
	switch {
	case len(given) == 0:
		return nil, nil
	case l.nginxConf != "":
		f, err = fromConf("--nginx-conf", l.nginxConf, accesslog.NginxConf)
	case l.apacheConf != "":
		f, err = fromConf("--apache-conf", l.apacheConf, accesslog.ApacheConf)
	case l.mapping != "":
		f, err = accesslog.ParseMap(l.mapping)
	default:
		f, err = accesslog.ParseFormat(l.format)
	}
	if err != nil {
		return nil, usage{err}
	}
	return f, nil
}

// fromConf reads FILE[:NAME].
func fromConf(flag, value string, read func(conf, name string) (*accesslog.Format, error)) (*accesslog.Format, error) {
	file, name := value, ""
	text, err := os.ReadFile(file)
	if i := strings.LastIndexByte(value, ':'); errors.Is(err, fs.ErrNotExist) && i > 0 {
		file, name = value[:i], value[i+1:]
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	f, err := read(string(text), name)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, file, err)
	}
	return f, nil
}

// zone is the one given for a source, or for all; nil if there is none.
func (l *logFlags) zone(name string) (loc *time.Location, err error) {
	for _, z := range l.zones {
		of, zone, named := strings.Cut(z, "=")
		if !named {
			of, zone = "", z
		}
		if of != "" && !calls(of, name) {
			continue
		}
		at, err := parseZone(zone)
		if err != nil {
			return nil, usage{fmt.Errorf("--tz %s: %w", z, err)}
		}
		if loc == nil || of != "" { // one given by name prevails
			loc = at
		}
	}
	return loc, nil
}

func parseZone(text string) (*time.Location, error) {
	switch strings.ToLower(text) {
	case "":
		return nil, errors.New("a zone such as Europe/Berlin, +05:30, UTC or local")
	case "local":
		return time.Local, nil
	case "utc", "z":
		return time.UTC, nil
	}
	for _, layout := range []string{"-07:00", "-0700", "-07"} {
		if t, err := time.Parse(layout, text); err == nil {
			_, east := t.Zone()
			return time.FixedZone(text, east), nil
		}
	}
	loc, err := time.LoadLocation(text)
	if err != nil {
		return nil, fmt.Errorf("no such zone here: a name such as Europe/Berlin, or an offset such as +05:30")
	}
	return loc, nil
}

// unknown tells what an input is, as far as can be seen, and what to do.
func unknown(path string, first []byte) error {
	if why := accesslog.Unreadable(first); why != "" {
		return fmt.Errorf("%s: neither a packet capture nor a log: %s", path, why)
	}
	if what := loadtest.Totals(first); what != "" {
		return fmt.Errorf("%s is %s", path, what)
	}
	if bytes.HasPrefix(first, []byte("# HELP ")) || bytes.HasPrefix(first, []byte("# TYPE ")) {
		return fmt.Errorf("%s: one scrape of metrics shows no rates: give the address of the Prometheus server (http://host:9090), or a saved query_range answer", path)
	}
	if g := accesslog.Sniff(first, nil); g.Known() {
		return page{fmt.Errorf("%s: %s", capture.Clean(path), g.Ask())}
	}
	return fmt.Errorf("%s: neither a packet capture, nor a log of a format that is known ('stormwatch formats' lists them, --log-format names one), nor a saved Prometheus query_range answer", path)
}
