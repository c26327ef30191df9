// Package cluster agrees on what happened. It hides hashicorp/raft: nobody else
// knows that there are logs, terms and elections.
package cluster
