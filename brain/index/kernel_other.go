//go:build !amd64

package index

// The kernels of this machine.
var (
	dotRows    = dotRowsPortable
	dotSome    = dotSomePortable
	sketchDots = sketchDotsPortable
	above      = abovePortable
)

// fetch would ask for the cache lines of b, which is going to be read.
func fetch([]byte) {}
