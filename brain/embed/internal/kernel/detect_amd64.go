package kernel

import "golang.org/x/sys/cpu"

// detected lists the vector kernels whose instructions this processor and
// operating system offer, fastest first.
func detected() []Kernels {
	var all []Kernels
	if cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI {
		all = append(all, VNNI{})
	}
	if cpu.X86.HasAVX2 {
		all = append(all, AVX2{})
	}
	return all
}
