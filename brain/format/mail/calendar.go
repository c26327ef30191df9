package mail

import (
	"bytes"
	"fmt"
	"strings"

	"orgmem/brain/format/reading"
)

// calendarShown are the lines of an event that its text shows, in this order.
var calendarShown = []struct{ name, label string }{
	{"DTSTART", "Start"},
	{"DTEND", "End"},
	{"LOCATION", "Location"},
	{"ORGANIZER", "Organizer"},
	{"ATTENDEE", "Attendees"},
}

// ReadCalendar reads iCalendar (RFC 5545): a document of kind event for each event.
func ReadCalendar(r *reading.Reader, raw []byte) ([]reading.Document, error) {
	raw, err := unfolded(r, raw)
	if err != nil {
		return nil, err
	}
	var docs []reading.Document
	var event map[string]string
	alarm := false
	for full := range bytes.Lines(raw) {
		if err := r.Step(reading.TableWork * len(full)); err != nil {
			return nil, err
		}
		line := strings.TrimRight(string(full), "\n")
		name, value, _ := strings.Cut(line, ":")
		name, params, _ := strings.Cut(strings.ToUpper(name), ";")
		switch {
		case line == "BEGIN:VEVENT" || line == "BEGIN:VTODO" || line == "BEGIN:VJOURNAL":
			event = map[string]string{}
		case line == "BEGIN:VALARM":
			alarm = true
		case line == "END:VALARM":
			alarm = false
		case event == nil || alarm:
		case name == "END":
			doc, err := readEvent(r, event)
			event = nil
			if err != nil {
				return nil, err
			}
			if doc.Content == "" {
				continue
			}
			if docs = append(docs, doc); len(docs) > reading.MaxDocuments {
				return nil, reading.Errorf("holds more than %d events; split it", reading.MaxDocuments)
			}
		default:
			takeProperty(event, name, params, line, value)
		}
	}
	if len(docs) == 0 {
		return nil, reading.Errorf("is a calendar without an event")
	}
	return docs, nil
}

// unfolded makes one line of one that was folded.
func unfolded(r *reading.Reader, raw []byte) ([]byte, error) {
	if !bytes.Contains(raw, []byte("\n ")) && !bytes.Contains(raw, []byte("\n\t")) {
		return raw, nil
	}
	if err := r.Hold(len(raw)); err != nil {
		return nil, err
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\n' && i+1 < len(raw) && (raw[i+1] == ' ' || raw[i+1] == '\t') {
			i++
			continue
		}
		out = append(out, raw[i])
	}
	return out, nil
}

var calendarEscapes = strings.NewReplacer(`\n`, "\n", `\N`, "\n", `\,`, ",", `\;`, ";", `\\`, `\`)

// takeProperty keeps a property of an event. Of people the name is kept, where
// there is one.
func takeProperty(event map[string]string, name, params, line, value string) {
	value = calendarEscapes.Replace(value)
	if name == "ORGANIZER" || name == "ATTENDEE" {
		if at := strings.Index(params, "CN="); at >= 0 {
			from := strings.IndexByte(line, ';') + 1 + at + len("CN=")
			common, _, _ := strings.Cut(strings.Trim(line[from:], `"`), ":")
			common, _, _ = strings.Cut(common, ";")
			value = strings.Trim(common, `"`)
		} else if len(value) > 7 && strings.EqualFold(value[:7], "mailto:") {
			value = value[7:]
		}
	}
	if before := event[name]; before != "" && name == "ATTENDEE" {
		if len(before)+len(value)+2 > 4*reading.MaxNote {
			return
		}
		value = before + ", " + value
	}
	if len(event) < reading.MaxNotes || event[name] != "" {
		event[name] = value
	}
}

func readEvent(r *reading.Reader, e map[string]string) (reading.Document, error) {
	m := &reading.Builder{Reader: r}
	m.Heading(1, e["SUMMARY"])
	var lines []string
	for _, p := range calendarShown {
		v := e[p.name]
		if at := calendarTime(v); at != "" && strings.HasPrefix(p.name, "DT") {
			v = strings.TrimSuffix(strings.Replace(at, "T", " ", 1), " 00:00:00Z")
		}
		if v = reading.Clean(v); v != "" {
			lines = append(lines, p.label+": "+v)
		}
	}
	m.Paragraph(strings.Join(lines, "\n"))
	m.Paragraph(e["DESCRIPTION"])
	content, err := m.Done()
	return reading.Document{
		Title: reading.ClipTitle(e["SUMMARY"]), Content: content, Kind: "event",
		OccurredAt: calendarTime(e["DTSTART"]), Noted: true,
		ExternalID: reading.ExternalID("ics", e["UID"]+reading.Within(e["RECURRENCE-ID"])),
	}, err
}

// calendarTime makes an RFC 3339 date-time of 20260505 or 20260505T100000. A local
// time is taken for UTC: its zone is known to the writer of the calendar alone.
func calendarTime(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(s), "Z")
	day, clock, _ := strings.Cut(s, "T")
	if len(day) != 8 || strings.Trim(s, "0123456789T") != "" {
		return ""
	}
	if len(clock) != 6 {
		clock = "000000"
	}
	return reading.Instant(fmt.Sprintf("%s-%s-%sT%s:%s:%sZ", day[:4], day[4:6], day[6:], clock[:2], clock[2:4], clock[4:]))
}
