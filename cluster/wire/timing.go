package wire

import "time"

// What the nodes of a cluster promise each other about time. All have the same.

// ElectionTimeout is the heartbeat, election and lease time of a group. A group with one
// voter has nobody to hear from, so the only effect is how often its idle loop wakes: 33
// groups at 1 s cost nothing measurable, at 100 ms 2 % of a core. With three voters it
// decides how long nothing is written after a leader's death. Each of the two that are
// left looks whether it has heard from the leader at times that are one to two of these
// apart, and votes for nobody until it has found that it has not; so both must have
// looked, which takes 2 of it in the median and 3 at worst. With raft's default, a
// second, writes went on after 2.2 s (median) and 3.5 s (the slowest of 16) on a machine
// that did ten other things; with this it was 1.9 s and 2.9 s. LeaderLease must stay
// below it, with what clocks may differ by.
const ElectionTimeout = 800 * time.Millisecond

// LeaderLease is how long a leader may answer from its memory after it sent the
// heartbeats that a majority has acknowledged. A follower that heard from a leader
// grants nobody a vote for at least ElectionTimeout, raft's heartbeat time-out, so
// nobody else can lead until then; the difference allows for clocks that run at
// different speeds.
//
// What counts is when the heartbeat was SENT, by this node's monotonic clock.
// raft's own VerifyLeader counts answers: after a pause of the process, one that
// has waited in the socket all the while looks like news.
//
// Two things break the promise that a follower makes by answering, and both are met: a
// restart forgets it, so a node that starts waits as long before its groups can vote
// (node.forgotten in package cluster); and a leadership transfer asks followers to vote
// all the same, so a leader stops answering before it begins one, and after one that
// failed it trusts no heartbeat sent before the question any more (leadership.wary).
const LeaderLease = 700 * time.Millisecond
