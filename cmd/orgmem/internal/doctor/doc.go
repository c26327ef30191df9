// Package doctor examines the machine and the data directory that a server
// runs on, or is about to run on, and says in one sentence each what it found.
//
// It promises to change nothing and to end within a few seconds: each check
// looks, none repairs. A check that cannot look says so and counts as failed.
package doctor
