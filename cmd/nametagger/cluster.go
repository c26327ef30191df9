package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"unicode"

	"orgmem/brain/embed/packfile"
)

const (
	// packPath is the embedding model of the service, from the module's root.
	packPath = "brain/embed/weights/all-minilm-l6-v2.pack"

	fineClusters   = 512
	coarseClusters = 64
	clusterRounds  = 10
)

// clusters groups the whole words of the embedding model's vocabulary by their
// input vectors: words that are used alike fall together, so that the tagger
// learns of words that its training data does not hold. It returns the cluster
// of each word, from 1, and the coarse cluster of each of these.
func clusters(stdout io.Writer) (map[string]uint16, []uint8, error) {
	raw, err := readFile(packPath)
	if err != nil {
		return nil, nil, err
	}
	words, vectors, err := wordVectors(raw)
	if err != nil {
		return nil, nil, err
	}
	fmt.Fprintf(stdout, "%d words of %d dimensions\n", len(words), len(vectors[0]))
	centres, of := kmeans(vectors, fineClusters)
	_, top := kmeans(centres, coarseClusters)
	fine := make(map[string]uint16, len(words))
	for i, w := range words {
		fine[w] = uint16(of[i]) + 1
	}
	coarse := make([]uint8, len(top))
	for i, c := range top {
		coarse[i] = uint8(c) + 1
	}
	return fine, coarse, nil
}

// wordVectors unpacks the vectors of the pieces that are whole words.
func wordVectors(raw []byte) (words []string, vectors [][]float32, err error) {
	file, err := packfile.Open(raw)
	if err != nil {
		return nil, nil, err
	}
	vocab, err := file.Vocab()
	if err != nil {
		return nil, nil, err
	}
	pieces := strings.Split(strings.TrimSuffix(vocab, "\n"), "\n")
	packed, _, err := file.Words(len(pieces))
	if err != nil {
		return nil, nil, err
	}
	const runLen, runBytes = 32, 48
	if file.Dim%runLen != 0 {
		return nil, nil, errors.New("word vectors of an odd length")
	}
	for i, piece := range pieces {
		if strings.HasPrefix(piece, "##") || strings.HasPrefix(piece, "[") || !strings.ContainsFunc(piece, unicode.IsLetter) {
			continue
		}
		row := packed[i*file.Dim/runLen*runBytes:][:file.Dim/runLen*runBytes]
		v := make([]float32, 0, file.Dim)
		for ; len(row) > 0; row = row[runBytes:] {
			for k := range runLen {
				low := row[runLen+k%16]
				if k < 16 {
					low &= 15
				} else {
					low >>= 4
				}
				v = append(v, float32(int16(int8(row[k]))<<4|int16(low)))
			}
		}
		words, vectors = append(words, piece), append(vectors, unit(v))
	}
	return words, vectors, nil
}

func unit(v []float32) []float32 {
	sum := float32(0)
	for _, x := range v {
		sum += x * x
	}
	if sum > 0 {
		f := 1 / float32(math.Sqrt(float64(sum)))
		for i := range v {
			v[i] *= f
		}
	}
	return v
}

// kmeans is Lloyd's algorithm on the sphere, from k vectors chosen by a fixed
// seed. An empty cluster stays where it was.
func kmeans(vectors [][]float32, k int) (centres [][]float32, of []int) {
	chance := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // to be repeatable is the point
	for _, i := range chance.Perm(len(vectors))[:k] {
		centres = append(centres, append([]float32(nil), vectors[i]...))
	}
	of = make([]int, len(vectors))
	for range clusterRounds {
		sums := make([][]float32, k)
		for i, v := range vectors {
			best := float32(math.Inf(-1))
			for c, centre := range centres {
				if d := dot(v, centre); d > best {
					best, of[i] = d, c
				}
			}
			if sums[of[i]] == nil {
				sums[of[i]] = make([]float32, len(v))
			}
			for j, x := range v {
				sums[of[i]][j] += x
			}
		}
		for c, sum := range sums {
			if sum != nil {
				centres[c] = unit(sum)
			}
		}
	}
	return centres, of
}

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for i := 0; i+3 < len(a); i += 4 {
		s0 += a[i] * b[i]
		s1 += a[i+1] * b[i+1]
		s2 += a[i+2] * b[i+2]
		s3 += a[i+3] * b[i+3]
	}
	return s0 + s1 + s2 + s3
}
