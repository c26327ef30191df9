//go:build !amd64

package kernel

// detected is empty where no assembly was written.
func detected() []Kernels { return nil }
