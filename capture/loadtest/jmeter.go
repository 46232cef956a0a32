package loadtest

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"stormwatch/capture"
)

var (
	jmeterNotes    = []string{jmeterTimes, "JMeter's CSV has no headers"}
	jmeterXMLNotes = []string{jmeterTimes, "headers are in JMeter's XML where the plan has them saved (jmeter.save.saveservice.response_headers=true)"}
)

const jmeterTimes = "its times are starts, as jmeter.properties ships (sampleresult.timestamp.start=true); a thread is taken for a client"

// jmeterColumns are those of jmeter.properties where a file has no header.
var jmeterColumns = strings.Split("timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect", ",")

func isJMeterCSV(head []byte) bool {
	line := firstLine(head)
	if strings.Contains(line, "responseCode") && strings.Contains(line, "label,") && strings.Contains(line, ",") {
		return true
	}
	cells := strings.Split(line, ",")
	if len(cells) < len(jmeterColumns)-3 || len(cells[0]) != 13 {
		return false
	}
	_, err1 := strconv.ParseInt(cells[0], 10, 64)
	_, err2 := strconv.ParseInt(cells[1], 10, 64)
	return err1 == nil && err2 == nil
}

func readJMeterCSV(r *bufio.Reader, o *output) error {
	var c columns
	return eachRow(r, o, func(row []string) error {
		if c == nil {
			if c = columnsOf(row); hasHeader(c) {
				return o.aside()
			}
			c = columnsOf(jmeterColumns)
		}
		res, reason := jmeterResult(func(name string) string { return strings.Clone(c.get(row, name)) })
		if reason != "" {
			return o.skip(reason, strings.Clone(strings.Join(row, ",")))
		}
		return o.add(res)
	})
}

func hasHeader(c columns) bool { _, ok := c["responseCode"]; return ok }

// jmeterResult reads a sample, or says why it cannot be used. A response code may be a
// text: what failed in transport has the name of an exception.
func jmeterResult(get func(string) string) (r *result, reason string) {
	at, err := strconv.ParseInt(get("timeStamp"), 10, 64)
	if err != nil {
		return nil, noTime
	}
	took, err := strconv.ParseInt(get("elapsed"), 10, 64)
	if err != nil {
		return nil, broken
	}
	r = &result{start: at * 1e6, end: (at + took) * 1e6, step: 1e6, url: get("URL"), client: get("threadName")}
	if r.url == "" || r.url == "null" {
		r.url = "/" + get("label")
	}
	r.status, _ = strconv.Atoi(get("responseCode"))
	return r, ""
}

func isJMeterXML(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1024)], []byte("<testResults"))
}

// readJMeterXML reads samples; those inside others are parts of them, and are
// counted, not added. URL, method and headers are elements of a sample, where the plan
// has them saved (jmeter.save.saveservice.url, .request_headers and .response_headers).
func readJMeterXML(r *bufio.Reader, o *output) error {
	in := &bounded{r: r}
	d := xml.NewDecoder(in)
	d.Strict = false
	var s jmeterSample
	open := 0
	for {
		in.begin()
		t, err := d.Token()
		var torn *xml.SyntaxError
		if err != nil && open > 0 { // torn inside a sample: what was read of it counts
			o.place = s.line
			if failed := s.add(o); failed != nil {
				return failed
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &torn):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		switch e := t.(type) {
		case xml.StartElement:
			s.within = e.Name.Local
			if !isSample(e.Name.Local) {
				continue
			}
			if open++; open > 1 {
				line, _ := d.InputPos()
				o.place = uint64(line)
				if err := o.skip("a part of another sample", e.Name.Local); err != nil {
					return err
				}
				continue
			}
			line, _ := d.InputPos()
			s = jmeterSample{line: uint64(line), of: e.Copy()}
		case xml.CharData:
			if open == 1 {
				s.tell(e)
			}
		case xml.EndElement:
			s.within = ""
			if !isSample(e.Name.Local) || open == 0 {
				continue
			}
			if open--; open == 0 {
				o.place = s.line
				if err := s.add(o); err != nil {
					return err
				}
			}
		}
	}
}

func isSample(name string) bool { return name == "httpSample" || name == "sample" }

// jmeterSample is a sample that is being read.
type jmeterSample struct {
	of                               xml.StartElement
	line                             uint64
	within                           string // the element that is open inside it
	url, method, asked, answer, body string
}

const maxHeaders = 64 << 10 // bytes read of a sample's headers

// tell takes the text of an element.
func (s *jmeterSample) tell(text []byte) {
	switch s.within {
	case "java.net.URL":
		s.url = string(text[:min(len(text), maxTarget)])
	case "method":
		s.method = string(text[:min(len(text), maxName)])
	case "requestHeader":
		s.asked = string(text[:min(len(text), maxHeaders)])
	case "responseHeader":
		s.answer = string(text[:min(len(text), maxHeaders)])
	case "responseData":
		s.body = string(text[:min(len(text), capture.BodyWindow)])
	}
}

func (s *jmeterSample) add(o *output) error {
	r, reason := jmeterResult(func(name string) string { return attribute(&s.of, jmeterAttributes[name]) })
	if reason != "" {
		return o.skip(reason, s.of.Name.Local)
	}
	if s.url != "" && s.url != "null" {
		r.url = s.url
	}
	r.method, r.asked, r.answer, r.headers = s.method, fieldsOf(s.asked), fieldsOf(s.answer), s.answer != ""
	r.agent, r.media, r.body = valueOf(r.asked, "user-agent"), valueOf(r.answer, "content-type"), []byte(s.body)
	return o.add(r)
}

// fieldsOf takes a block of header lines apart.
func fieldsOf(block string) (all []field) {
	for line := range strings.Lines(block) {
		if name, value, ok := strings.Cut(line, ":"); ok {
			all = append(all, field{strings.TrimSpace(name), strings.TrimSpace(value)})
		}
	}
	return all
}

var jmeterAttributes = map[string]string{"timeStamp": "ts", "elapsed": "t", "label": "lb", "responseCode": "rc", "threadName": "tn", "URL": "url"}

func attribute(e *xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}
