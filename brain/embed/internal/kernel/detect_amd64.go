package kernel

import "golang.org/x/sys/cpu"

// detected lists the vector kernels whose instructions this processor and
// operating system offer, fastest first.
func detected() []Kernels {
	var all []Kernels
	if cpu.X86.HasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI {
		all = append(all, VNNI{})
	}
	if cpu.X86.HasAVX2 {
		if ebx, edx, ecx := vendor(); ebx == authLetters && edx == entiLetters && ecx == camdLetters {
			all = append(all, FloatSums{})
		}
		all = append(all, AVX2{})
	}
	return all
}

// The vendor of the processor, four letters to a register.
const (
	authLetters = 'A' | 'u'<<8 | 't'<<16 | 'h'<<24
	entiLetters = 'e' | 'n'<<8 | 't'<<16 | 'i'<<24
	camdLetters = 'c' | 'A'<<8 | 'M'<<16 | 'D'<<24
)

// vendor returns the registers of CPUID leaf 0.
func vendor() (ebx, edx, ecx uint32)
