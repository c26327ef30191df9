//go:build !amd64

package index

// The kernels of this machine.
var (
	dotRows    = dotRowsPortable
	dotSome    = dotSomePortable
	sketchDots = sketchDotsPortable
)
