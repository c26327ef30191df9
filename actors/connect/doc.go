// Package connect fetches what connectors name: feeds, web pages, repositories.
//
// It promises that every request goes through a Fetcher, which holds each address
// against the rules for addresses that tenants chose; that no redirect is followed;
// that what has not changed is neither fetched again, where the source can tell so,
// nor returned again; and that a source makes it hold, fetch or wait for no more than
// the bounds of this package, whatever it answers.
//
// Order of calls: Sync with the state that the Sync before returned, nil at first, also
// where that one failed and returned one. The state of a Sync whose documents were not
// stored must be thrown away: the next one returns them again.
//
// What it hides: RSS, Atom and JSON Feed (gofeed), robots.txt (robotstxt), sitemaps,
// git's smart protocol and packs, and conditional requests. It knows no organization,
// no job and no store; time comes from the clock that it is given.
package connect
