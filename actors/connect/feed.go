package connect

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"strings"

	"github.com/mmcdole/gofeed"
)

// feed takes in the entries of an RSS, Atom or JSON feed, newest as they stand there:
// one document each. An entry is known by its id, else by its link.
func (s *syncer) feed(ctx context.Context) error {
	address := s.config.URL
	body, header, err := s.get(
		ctx, address, "application/atom+xml, application/rss+xml, application/feed+json, "+
			"application/xml;q=0.9, application/json;q=0.9, */*;q=0.1", maxFeed,
	)
	if err != nil || body == nil {
		return err
	}
	feed, err := parseFeed(body)
	// Any JSON object is a feed to the library.
	if err != nil || feed.Title == "" && feed.FeedVersion == "" && len(feed.Items) == 0 {
		return failf("sent no RSS, Atom or JSON feed")
	}
	all := true
	for _, item := range feed.Items {
		if item == nil {
			continue
		}
		link := absolute(address, item.Link)
		id := cmp.Or(item.GUID, link, item.Title)
		_, content, err := s.text(
			ctx, ".html", []byte("<!doctype html><html><body>"+cmp.Or(item.Content, item.Description)+"</body></html>"),
		)
		if err != nil {
			return err
		}
		title := strings.TrimSpace(html.UnescapeString(item.Title))
		d := Document{ID: id, Title: title, Content: cmp.Or(strings.TrimSpace(content), title), Link: link}
		if at := cmp.Or(item.PublishedParsed, item.UpdatedParsed); at != nil {
			d.OccurredMs = at.UnixMilli()
		}
		all = s.add(d) && all
	}
	if all { // else the next Sync must see the whole feed again
		s.keep(address, header, "")
	}
	return nil
}

// parseFeed reads a feed; the library's parsers have panicked on hostile ones before.
func parseFeed(body []byte) (feed *gofeed.Feed, err error) {
	defer func() {
		if r := recover(); r != nil {
			feed, err = nil, failf("sent a feed that cannot be read")
		}
	}()
	return gofeed.NewParser().Parse(bytes.NewReader(body))
}
