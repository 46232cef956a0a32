package loadtest

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
)

var jmeterNotes = []string{
	"JMeter writes no headers; its times are starts, as jmeter.properties ships (sampleresult.timestamp.start=true); a thread is taken for a client",
}

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
		return jmeterResult(o, strings.Clone(strings.Join(row, ",")), func(name string) string { return strings.Clone(c.get(row, name)) })
	})
}

func hasHeader(c columns) bool { _, ok := c["responseCode"]; return ok }

// jmeterResult adds a sample. A response code may be a text: what failed in
// transport has the name of an exception.
func jmeterResult(o *output, text string, get func(string) string) error {
	at, err := strconv.ParseInt(get("timeStamp"), 10, 64)
	if err != nil {
		return o.skip(noTime, text)
	}
	took, err := strconv.ParseInt(get("elapsed"), 10, 64)
	if err != nil {
		return o.skip(broken, text)
	}
	r := &result{start: at * 1e6, end: (at + took) * 1e6, step: 1e6, url: get("URL"), client: get("threadName")}
	if r.url == "" || r.url == "null" {
		r.url = "/" + get("label")
	}
	r.status, _ = strconv.Atoi(get("responseCode"))
	return o.add(r)
}

func isJMeterXML(head []byte) bool {
	return bytes.Contains(head[:min(len(head), 1024)], []byte("<testResults"))
}

// readJMeterXML reads samples; those inside others are parts of them, and are
// counted, not added.
func readJMeterXML(r *bufio.Reader, o *output) error {
	d := xml.NewDecoder(r)
	d.Strict = false
	open := 0
	for {
		t, err := d.Token()
		var torn *xml.SyntaxError
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
			if e.Name.Local != "httpSample" && e.Name.Local != "sample" {
				continue
			}
			open++
			line, _ := d.InputPos()
			o.place = uint64(line)
			if open > 1 {
				if err := o.skip("a part of another sample", e.Name.Local); err != nil {
					return err
				}
				continue
			}
			if err := jmeterResult(o, e.Name.Local, func(name string) string { return attribute(&e, jmeterAttributes[name]) }); err != nil {
				return err
			}
		case xml.EndElement:
			if e.Name.Local == "httpSample" || e.Name.Local == "sample" {
				open = max(open-1, 0)
			}
		}
	}
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
