//go:build !amd64

package index

// dotRows is the kernel of this machine.
var dotRows = dotRowsPortable
