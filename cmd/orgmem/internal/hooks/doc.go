// Package hooks receives webhook deliveries on a developer's machine, for orgmem
// webhook listen.
//
// Verify is the interface's rule of signatures; Handler believes nothing else, and
// hands on what it believes. Certificate is what the receiver shows: one that it
// made for itself, and the configuration makes the service trust it.
package hooks
