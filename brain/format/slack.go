package format

import (
	"archive/zip"
	"cmp"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"orgmem/proto/canon"
)

// slackDay is a channel's file of one day.
var slackDay = regexp.MustCompile(`^([^/]+)/(\d{4}-\d{2}-\d{2})\.json$`)

// isSlack reports whether an archive is an export of Slack: a list of users, and
// channels' days.
func isSlack(z *zip.Reader) bool {
	users, days := false, false
	for _, f := range z.File {
		users = users || f.Name == "users.json"
		days = days || slackDay.MatchString(f.Name)
	}
	return users && days
}

type slackUser struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	RealName string `json:"real_name"`
	Profile  struct {
		RealName    string `json:"real_name"`
		DisplayName string `json:"display_name"`
	} `json:"profile"`
}

type slackMessage struct {
	Type     string `json:"type"`
	Subtype  string `json:"subtype"`
	User     string `json:"user"`
	Username string `json:"username"`
	Text     string `json:"text"`
	TS       string `json:"ts"`
	ThreadTS string `json:"thread_ts"`
}

// slack reads an export: a document for each day of a channel, of lines of who says
// what, the answers of a thread behind what they answer.
func (p *pack) slack(z *zip.Reader) error {
	raw, err := p.named(z, "users.json")
	if err != nil {
		return err
	}
	var users []slackUser
	if err := json.Unmarshal(raw, &users, lenient); err != nil {
		return errorf("is a Slack export whose users cannot be read")
	}
	names := map[string]string{}
	for _, u := range users {
		names[u.ID] = clipTitle(cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name))
	}
	for _, f := range z.File {
		m := slackDay.FindStringSubmatch(f.Name)
		if m == nil {
			continue
		}
		raw, err := p.entry(f)
		if err == nil {
			var docs []Document
			docs, err = p.part(f.Name, func() ([]Document, error) { return p.slackDay(m[1], m[2], raw, names) })
			if err == nil {
				err = p.add(docs...)
			}
		} else if isFileError(err) {
			err = p.refuse(f.Name, Reason(err))
		}
		if err != nil {
			return err
		}
	}
	return p.nothing()
}

// quiet are the kinds of messages in which nobody says anything.
var quiet = []string{"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive", "pinned_item", "tombstone"}

func (p *pack) slackDay(channel, day string, raw []byte, names map[string]string) ([]Document, error) {
	var messages []slackMessage
	if err := json.Unmarshal(raw, &messages, lenient); err != nil {
		return nil, errorf("is a day of Slack that cannot be read")
	}
	slices.SortStableFunc(messages, func(a, b slackMessage) int {
		return cmp.Or(strings.Compare(cmp.Or(a.ThreadTS, a.TS), cmp.Or(b.ThreadTS, b.TS)), strings.Compare(a.TS, b.TS))
	})
	m := &markup{reader: p.reader}
	first := ""
	var speakers []string
	for _, one := range messages {
		if err := p.step(len(one.Text) + 1); err != nil {
			return nil, err
		}
		words := strings.ReplaceAll(slackText(one.Text, names), "\x00", "")
		if slices.Contains(quiet, one.Subtype) || canon.Blank(words) {
			continue
		}
		who := cmp.Or(names[one.User], clipTitle(one.Username), "Unknown")
		if len(speakers) < maxNotes && !slices.Contains(speakers, who) {
			speakers = append(speakers, who)
		}
		m.block("")
		if one.ThreadTS != "" && one.ThreadTS != one.TS {
			m.tail = "thread"
			m.write("  ")
		}
		m.write(who, ": ", words)
		if first == "" {
			seconds, _, _ := strings.Cut(one.TS, ".")
			if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
				first = unixInstant(n)
			}
		}
	}
	content, err := m.done()
	if err != nil {
		return nil, err
	}
	if canon.Blank(content) {
		return nil, nil // a day of comings and goings
	}
	return p.cut(Document{
		Title: fmt.Sprintf("#%s %s", clipTitle(channel), day), Content: content, OccurredAt: cmp.Or(first, instant(day)), Noted: true,
		ExternalID: externalID("slack", channel+"/"+day), Metadata: noted("source", "slack", "channel", channel, "speakers", speakers),
	})
}

var slackMark = regexp.MustCompile(`<([@#!]?)([^<>|]+)(?:\|([^<>]*))?>`)

// slackText takes the marks out of a message: who is meant, and what a link says.
func slackText(s string, names map[string]string) string {
	s = slackMark.ReplaceAllStringFunc(s, func(mark string) string {
		m := slackMark.FindStringSubmatch(mark)
		switch m[1] {
		case "@":
			return "@" + cmp.Or(names[m[2]], m[3], m[2])
		case "#":
			return "#" + cmp.Or(m[3], m[2])
		case "!":
			return "@" + cmp.Or(m[3], m[2])
		}
		return cmp.Or(m[3], m[2])
	})
	return strings.ToValidUTF8(html.UnescapeString(s), "\ufffd")
}

// notionName is how Notion names the files of an export: a title and the page's id.
var notionName = regexp.MustCompile(`^(.+?)[ _-]([0-9a-f]{32})(_all)?(\.(?:md|csv|html))$`)

// notion divides the name of a file of a Notion export; id is empty for others.
func notion(name string) (title, id string) {
	m := notionName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return name, ""
	}
	return m[1] + m[4], m[2] + m[3]
}
