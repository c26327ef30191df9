// Package webhook brings an organization's events to those who listen: to open event streams at once, and to webhook
// endpoints by signed requests that are repeated when they fail.
//
// A stream gets the committed events that its caller may see, in the order of the commits, and is cut off when its
// reader falls too far behind. An endpoint gets each event that it subscribes to at least once, unless all attempts
// fail, the event is erased or older than OutboxRetention, or the endpoint is disabled or deleted. What an endpoint has
// not got is in the store, so that deliveries continue after a crash or a move to another node.
//
// It knows the organization (package tenant) and the outbox of events, and reaches endpoints through package egress
// only. It does not know what causes an event, and nothing of HTTP on the side of the service.
package webhook
