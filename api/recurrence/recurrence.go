// Package recurrence has what comes again and again in JSON. It promises names where the
// actors have numbers: of weekdays, and of times as a clock shows them.
package recurrence

import (
	"fmt"

	"github.com/danielgtaylor/huma/v2"

	"orgmem/api/wire"
	pb "orgmem/proto"
)

// Recurrence is what comes again and again.
type Recurrence struct {
	ID     string         `json:"id" format:"uuid"`
	Title  string         `json:"title" doc:"The sentence that says so."`
	Every  Every          `json:"every"`
	Text   string         `json:"text" doc:"The words that say how often."`
	NodeID string         `json:"nodeId"`
	Since  wire.Timestamp `json:"since" nullable:"true" doc:"Null where the sentence does not say."`
	Until  wire.Timestamp `json:"until" nullable:"true" doc:"Exclusive; null where the sentence does not say."`
}

// Every is how often, in normal form: what is not said is left out.
type Every struct {
	Unit      string     `json:"unit" enum:"hour,day,week,month,year"`
	Interval  uint32     `json:"interval" minimum:"1" doc:"2 is every other."`
	Times     uint32     `json:"times,omitzero" minimum:"1" doc:"How often in each."`
	Weekdays  []Weekday  `json:"weekdays,omitempty"`
	Nth       []int32    `json:"nth,omitempty" doc:"@every.nth"`
	MonthDays []int32    `json:"monthDays,omitempty" doc:"Days of the month; -1 is the last."`
	Months    []int32    `json:"months,omitempty" doc:"1 to 12."`
	At        []string   `json:"at,omitempty" doc:"Times of the day, such as 09:30, in the writer's own time."`
	End       string     `json:"end,omitempty" doc:"When it ends, of the one time in at."`
	Except    *Exception `json:"except,omitempty"`
}

// Exception is what the same sentence leaves out.
type Exception struct {
	Text     string    `json:"text" doc:"In the sentence's words."`
	Weekdays []Weekday `json:"weekdays,omitempty"`
	Months   []int32   `json:"months,omitempty"`
}

// Weekday is the name of one.
type Weekday string

// weekdayNames are those that a Weekday may have, from Monday.
var weekdayNames = [...]Weekday{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}

// Schema implements huma.SchemaProvider.
func (Weekday) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, d := range weekdayNames {
		s.Enum = append(s.Enum, string(d))
	}
	return s
}

func weekdaysOf(days []int32) (out []Weekday) {
	for _, d := range days {
		if d >= 1 && int(d) <= len(weekdayNames) {
			out = append(out, weekdayNames[d-1])
		}
	}
	return out
}

// Of is one as it is answered; id is that of the derivation.
func Of(r *pb.Recurrence, id string) Recurrence {
	e := r.GetEvery()
	out := Recurrence{
		ID: id, Title: r.GetTitle(), Text: r.GetText(), NodeID: r.GetNode(),
		Every: Every{
			Unit: e.GetUnit(), Interval: e.GetInterval(), Times: e.GetTimes(), Weekdays: weekdaysOf(e.GetWeekdays()),
			Nth: e.GetNth(), MonthDays: e.GetMonthDays(), Months: e.GetMonths(),
		},
		Since: wire.Timestamp(r.GetSinceMs()), Until: wire.Timestamp(r.GetUntilMs()),
	}
	for _, at := range e.GetAt() {
		out.Every.At = append(out.Every.At, clockOf(at))
	}
	if e.End != nil {
		out.Every.End = clockOf(e.GetEnd())
	}
	if e.GetExcept() != "" {
		out.Every.Except = &Exception{e.GetExcept(), weekdaysOf(e.GetExceptWeekdays()), e.GetExceptMonths()}
	}
	return out
}

// clockOf is a minute of the day as a clock shows it.
func clockOf(minute uint32) string {
	const perHour = 60
	return fmt.Sprintf("%02d:%02d", minute/perHour, minute%perHour)
}
