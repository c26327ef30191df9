// Package connector keeps people's connectors and fetches from their sources on a schedule, into the memory of the
// person who owns the connector.
//
// A connector is seen and changed by its owner only. One sync at a time runs in an organization. What a sync fetches is
// queued and the connector's state is stored in one commit, so that a crash makes the sync fetch again and loses
// nothing. The secrets of a config are stored sealed and are never answered.
//
// It knows the organization (package tenant) and leaves fetching to package connect. It does not know how a source is
// read, and not what the partition's worker makes of the documents.
package connector
