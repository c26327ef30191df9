// Package commit is an organization's way into its store. A Change is a batch with what goes with its effect: the acts
// of the audit trail, the events, and what it cost. A Committer gathers changes into groups and proposes each group as
// one entry of the log, under the lease that the organization's actor was opened with. A Trail numbers acts and events
// in the order of the commits, and adds up usage.
//
// Nothing else writes to an organization's store. It knows no actor and no request.
package commit
