package record

import (
	"archive/zip"
	"cmp"
	"errors"
	"fmt"
	"html"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"orgmem/brain/format/reading"
	"orgmem/proto/canon"
)

// SlackDay is a channel's file of one day, and the folder that the export lies in.
var SlackDay = regexp.MustCompile(`^(.*/|)([^/]+)/(\d{4}-\d{2}-\d{2})\.json$`)

const slackUsers = "users.json"

// maxSlackUsers bounds the people of an export: the largest workspaces have fewer.
const maxSlackUsers = 100_000

// SlackRoot tells an export of Slack: a list of users, and beside it channels' days.
// They lie at an archive's root, or in the folder that somebody unpacked them to. users
// is that list; nil: it is no such export.
func SlackRoot(z *zip.Reader) (root string, users *zip.File) {
	lists := map[string]*zip.File{}
	for _, f := range z.File {
		if root, named := strings.CutSuffix(reading.ZipName(f), slackUsers); named &&
			(root == "" || strings.HasSuffix(root, "/")) {
			lists[root] = f
		}
	}
	for _, f := range z.File {
		if m := SlackDay.FindStringSubmatch(reading.ZipName(f)); m != nil && lists[m[1]] != nil {
			return m[1], lists[m[1]]
		}
	}
	return "", nil
}

type slackUser struct {
	ID       string       `json:"id"`
	Name     string       `json:"name"`
	RealName string       `json:"real_name"`
	Profile  slackProfile `json:"profile"`
}

type slackProfile struct {
	RealName    string `json:"real_name"`
	DisplayName string `json:"display_name"`
	Name        string `json:"name"` // of a program
}

func (p slackProfile) shown() string { return cmp.Or(p.DisplayName, p.RealName, p.Name) }

type slackMessage struct {
	Type        string            `json:"type"`
	Subtype     string            `json:"subtype"`
	User        string            `json:"user"`
	Username    string            `json:"username"`
	Profile     slackProfile      `json:"user_profile"` // of a guest of another workspace, whom the list of users lacks
	Bot         slackProfile      `json:"bot_profile"`
	Text        string            `json:"text"`
	Blocks      []slackBlock      `json:"blocks"`
	Attachments []slackAttachment `json:"attachments"`
	TS          string            `json:"ts"`
	ThreadTS    string            `json:"thread_ts"`
}

// slackBlock is a piece of a message's layout.
type slackBlock struct {
	Text     jsontext.Value `json:"text"` // words, or an object of such
	Elements []slackBlock   `json:"elements"`
}

type slackAttachment struct {
	Pretext  string `json:"pretext"`
	Title    string `json:"title"`
	Text     string `json:"text"`
	Fallback string `json:"fallback"`
}

// words is what a message says. Programs often leave the text empty, and say it in
// blocks or attachments; what people link to is attached likewise, and left out.
func (m *slackMessage) words() string {
	if !canon.Blank(m.Text) {
		return m.Text
	}
	var parts []string
	add := func(all ...string) (some bool) {
		for _, s := range all {
			if !canon.Blank(s) {
				parts, some = append(parts, s), true
			}
		}
		return some
	}
	for _, b := range m.Blocks {
		var out strings.Builder
		b.write(&out)
		add(out.String())
	}
	for _, a := range m.Attachments {
		if !add(a.Pretext, a.Title, a.Text) {
			add(a.Fallback)
		}
	}
	return strings.Join(parts, "\n")
}

// write writes the words of a block to one text, so that deep ones cost no more.
func (b slackBlock) write(out *strings.Builder) {
	var s string
	var inner struct {
		Text string `json:"text"`
	}
	switch b.Text.Kind() {
	case '"':
		_ = json.Unmarshal(b.Text, &s, lenient) // it was read already
	case '{':
		if json.Unmarshal(b.Text, &inner, lenient) == nil {
			s = inner.Text
		}
	default: // it has elements, or no words
	}
	out.WriteString(s)
	for _, e := range b.Elements {
		e.write(out)
	}
}

// ReadSlack reads an export: a document for each day of a channel, of lines of who says
// what, the answers of a thread behind what they answer.
func ReadSlack(p *reading.Parts, z *zip.Reader, root string, list *zip.File) error {
	raw, err := p.Entry(list)
	if err != nil {
		return err
	}
	names := map[string]string{}
	if err := each(p.Reader, raw, true, func(u slackUser) error {
		name := reading.ClipTitle(cmp.Or(u.Profile.DisplayName, u.Profile.RealName, u.RealName, u.Name))
		if names[u.ID] = name; len(names) > maxSlackUsers {
			return reading.Errorf("is a Slack export of more than %d users", maxSlackUsers)
		}
		return nil
	}); errors.Is(err, errRecords) {
		return reading.Errorf("is a Slack export whose users cannot be read")
	} else if err != nil {
		return err
	}
	p.Drop(raw)
	for _, f := range z.File {
		name := reading.ZipName(f)
		m := SlackDay.FindStringSubmatch(name)
		if m == nil || m[1] != root {
			continue
		}
		raw, err := p.Entry(f)
		if err == nil {
			var docs []reading.Document
			docs, err = p.Part(name, func() ([]reading.Document, error) { return readSlackDay(p, m[2], m[3], raw, names) })
			p.Drop(raw)
			if err == nil {
				err = p.Add(docs...)
			}
		} else if reading.IsFileError(err) {
			err = p.Refuse(name, reading.Reason(err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// quiet are the kinds of messages in which nobody says anything.
var quiet = []string{
	"channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name", "channel_archive", "pinned_item",
	"tombstone",
}

func readSlackDay(
	p *reading.Parts, channel, day string, raw []byte, names map[string]string,
) ([]reading.Document, error) {
	var messages []slackMessage
	if err := decodeRecord(p.Reader, raw, &messages); errors.Is(err, errRecords) {
		return nil, reading.Errorf("is a day of Slack that cannot be read")
	} else if err != nil {
		return nil, err
	}
	slices.SortStableFunc(messages, func(a, b slackMessage) int {
		return cmp.Or(strings.Compare(cmp.Or(a.ThreadTS, a.TS), cmp.Or(b.ThreadTS, b.TS)), strings.Compare(a.TS, b.TS))
	})
	m := &reading.Builder{Reader: p.Reader}
	first := ""
	var speakers []string
	for _, one := range messages {
		if err := p.Step(len(one.Text) + 1); err != nil {
			return nil, err
		}
		words := strings.ReplaceAll(slackText(one.words(), names), "\x00", "")
		if slices.Contains(quiet, one.Subtype) || canon.Blank(words) {
			continue
		}
		who := cmp.Or(names[one.User], reading.ClipTitle(cmp.Or(one.Profile.shown(), one.Username,
			one.Bot.shown())), "Unknown")
		if len(speakers) < reading.MaxNotes && !slices.Contains(speakers, who) {
			speakers = append(speakers, who)
		}
		m.Block("")
		if one.ThreadTS != "" && one.ThreadTS != one.TS {
			m.Tail = "thread"
			m.Write("  ")
		}
		m.Write(who, ": ", words)
		if first == "" {
			seconds, _, _ := strings.Cut(one.TS, ".")
			if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
				first = reading.UnixInstant(n)
			}
		}
	}
	content, err := m.Done()
	if err != nil {
		return nil, err
	}
	if canon.Blank(content) {
		return nil, nil // a day of comings and goings
	}
	return p.Cut(reading.Document{
		Title: fmt.Sprintf("#%s %s", reading.ClipTitle(channel), day), Content: content,
		OccurredAt: cmp.Or(first, reading.Instant(day)), Noted: true,
		ExternalID: reading.ExternalID("slack", channel+"/"+day),
		Metadata:   reading.Noted("source", "slack", "channel", channel, "speakers", speakers),
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

// Notion divides the name of a file of a Notion export; id is empty for others.
func Notion(name string) (title, id string) {
	m := notionName.FindStringSubmatch(path.Base(name))
	if m == nil {
		return name, ""
	}
	return m[1] + m[4], m[2]
}

// NotionViews are the tables of a Notion export of which it holds all rows and
// columns in a file beside them: what is left is a view of the same.
func NotionViews(z *zip.Reader) map[string]bool {
	views := map[string]bool{}
	for _, f := range z.File {
		if stem, ok := strings.CutSuffix(f.Name, "_all.csv"); ok && notionName.MatchString(path.Base(f.Name)) {
			views[stem+".csv"] = true
		}
	}
	return views
}
