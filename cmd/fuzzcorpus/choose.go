package main

import (
	"cmp"
	"errors"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
)

// input is one that the fuzzer wrote.
type input struct {
	name string
	text []byte
	ran  set
}

func (i input) size() int64 { return int64(len(i.text)) }

// inputsIn reads a folder of inputs, the smallest first; one that is not there has
// none.
func inputsIn(dir string) (list []input, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, input{name: e.Name(), text: text})
	}
	slices.SortFunc(list, func(a, b input) int {
		return cmp.Or(cmp.Compare(a.size(), b.size()), cmp.Compare(a.name, b.name))
	})
	return list, nil
}

// choose takes, one after the other, the input that adds the most to what already
// runs, the smaller of two, until none adds anything or there are enough.
func choose(ran set, from []input, most int) (chosen []input) {
	ran = slices.Clone(ran)
	from = slices.Clone(from)
	for len(chosen) < most {
		best, gain := -1, 0
		for i, in := range from {
			if g := in.ran.beyond(ran); g > gain {
				best, gain = i, g
			}
		}
		if best < 0 {
			break
		}
		chosen = append(chosen, from[best])
		ran.add(from[best].ran)
		from = slices.Delete(from, best, best+1)
	}
	return chosen
}

// set is a set of small numbers.
type set []uint64

func (s *set) put(i int) {
	for len(*s) <= i/64 {
		*s = append(*s, 0)
	}
	(*s)[i/64] |= 1 << (i % 64)
}

func (s *set) add(o set) {
	for len(*s) < len(o) {
		*s = append(*s, 0)
	}
	for i, w := range o {
		(*s)[i] |= w
	}
}

func (s set) count() int { return s.beyond(nil) }

// beyond is how many are in s and not in o.
func (s set) beyond(o set) (n int) {
	for i, w := range s {
		if i < len(o) {
			w &^= o[i]
		}
		n += bits.OnesCount64(w)
	}
	return n
}

func union(s set, of []input) set {
	s = slices.Clone(s)
	for _, in := range of {
		s.add(in.ran)
	}
	return s
}
