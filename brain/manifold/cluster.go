package manifold

import (
	"math"
	"slices"
)

const (
	// maxBasins is the most basins that are looked for: a person with more
	// interests than that has domains for them.
	maxBasins = 8
	// leastBasin is the least number of signals that makes a basin.
	leastBasin = 6
	// maxClustered bounds the points that k-means runs over, and maxJudged those
	// whose silhouettes are computed, which takes their square.
	maxClustered = 1500
	maxJudged    = 500
	// restarts of k-means: with k-means++ seeds a third hardly ever wins.
	restarts = 2
	// maxRounds bounds Lloyd's iteration, which mostly ends after ten.
	maxRounds = 30
	// telling is by how much the silhouette has to exceed that of one featureless
	// cloud of the same extent, to say that there are several basins.
	telling = 0.03
	// steadfast is the advantage of the number of basins that there were.
	steadfast = 0.02
)

// chance is a seeded source (SplitMix64, Steele and others 2014).
type chance struct{ state uint64 }

func (c *chance) next() uint64 {
	c.state += 0x9e3779b97f4a7c15
	z := c.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

func (c *chance) float() float64 { return float64(c.next()>>11) / (1 << 53) }

// normal is drawn by Box and Muller's method.
func (c *chance) normal() float64 {
	return math.Sqrt(-2*math.Log(1-c.float())) * math.Cos(2*math.Pi*c.float())
}

func distance(a, b []float32) float64 {
	sum := float32(0)
	for i, x := range a {
		d := x - b[i]
		sum += d * d
	}
	return float64(sum)
}

// nearest gives the index of the nearest center and the squared distance to it.
func nearest(p []float32, centers [][]float32) (int32, float64) {
	best, least := int32(0), math.Inf(1)
	for k, c := range centers {
		if d := distance(p, c); d < least {
			best, least = int32(k), d
		}
	}
	return best, least
}

// seeds chooses k points far from each other (k-means++).
func seeds(points [][]float32, k int, chance *chance) [][]float32 {
	out := [][]float32{points[chance.next()%uint64(len(points))]}
	far := make([]float64, len(points))
	for i := range far {
		far[i] = math.Inf(1)
	}
	for len(out) < k {
		sum := 0.0
		for i, p := range points {
			far[i] = min(far[i], distance(p, out[len(out)-1]))
			sum += far[i]
		}
		pick, at := chance.float()*sum, 0
		for i, f := range far {
			if pick -= f; pick < 0 {
				at = i
				break
			}
		}
		out = append(out, points[at])
	}
	return out
}

// lloyd moves the centers to the middles of their points until nothing changes,
// and returns the points' centers and the sum of squared distances.
func lloyd(points, centers [][]float32, rounds int) (of []int32, cost float64) {
	of = make([]int32, len(points))
	for round := range rounds {
		changed := round == 0
		cost = 0
		for i, p := range points {
			k, d := nearest(p, centers)
			changed = changed || of[i] != k
			of[i] = k
			cost += d
		}
		if !changed {
			break
		}
		for k, m := range middles(points, of, len(centers)) {
			if m != nil {
				centers[k] = m
			}
		}
	}
	return of, cost
}

// middles are the means of the points of each group; nil where there are none.
func middles(points [][]float32, of []int32, groups int) [][]float32 {
	sums := make([][]float64, groups)
	counts := make([]float64, groups)
	for i, p := range points {
		k := of[i]
		if sums[k] == nil {
			sums[k] = make([]float64, len(p))
		}
		counts[k]++
		for x, v := range p {
			sums[k][x] += float64(v)
		}
	}
	out := make([][]float32, groups)
	for k, s := range sums {
		if s == nil {
			continue
		}
		out[k] = make([]float32, len(s))
		for x, v := range s {
			out[k][x] = float32(v / counts[k])
		}
	}
	return out
}

// kmeans returns the best of some runs; warm, if it has k centers, begins one.
func kmeans(points [][]float32, k int, warm [][]float32, chance *chance) (of []int32, centers [][]float32) {
	least := math.Inf(1)
	try := func(c [][]float32) {
		o, cost := lloyd(points, c, maxRounds)
		if cost < least {
			of, centers, least = o, c, cost
		}
	}
	if len(warm) == k {
		try(slices.Clone(warm))
	}
	for range restarts {
		try(seeds(points, k, chance))
	}
	return of, centers
}

// silhouette is the mean of Rousseeuw's, over the points given; a group of one
// counts 0.
func silhouette(points [][]float32, of []int32, groups int) float64 {
	sizes := make([]float64, groups)
	for _, k := range of {
		sizes[k]++
	}
	sums := make([]float64, groups)
	total := 0.0
	for i, p := range points {
		clear(sums)
		for j, q := range points {
			if i != j {
				sums[of[j]] += math.Sqrt(distance(p, q))
			}
		}
		own := of[i]
		if sizes[own] < 2 {
			continue
		}
		inside, outside := sums[own]/(sizes[own]-1), math.Inf(1)
		for k, s := range sums {
			if int32(k) != own && sizes[k] > 0 {
				outside = min(outside, s/sizes[k])
			}
		}
		if m := max(inside, outside); m > 0 && !math.IsInf(outside, 1) {
			total += (outside - inside) / m
		}
	}
	return total / float64(len(points))
}

// thin takes at most n of the points, evenly.
func thin[T any](points []T, n int) []T {
	if len(points) <= n {
		return points
	}
	out := make([]T, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// choose finds the number of basins, the centers and the silhouette. Of one
// featureless cloud k-means too makes parts with a silhouette above zero, the
// higher the fewer dimensions; so the numbers are compared by how far they exceed
// those of a normal cloud with the same variances (after Tibshirani, Walther and
// Hastie's gap statistic, 2001). was is how many there were.
func choose(points [][]float32, was [][]float32, chance *chance) (centers [][]float32, score float64) {
	points = thin(points, maxClustered)
	judged := thin(points, maxJudged)
	cloud := likeness(judged, chance)
	best := telling
	for k := 2; k <= maxBasins && k*leastBasin <= len(points); k++ {
		of, c := kmeans(points, k, was, chance)
		if smallest(of, k) < min(leastBasin, len(points)/50+2) {
			continue
		}
		s := silhouette(judged, assign(judged, c), k)
		cloudOf, _ := kmeans(cloud, k, nil, chance)
		gain := s - silhouette(cloud, cloudOf, k)
		if k == len(was) {
			gain += steadfast
		}
		if gain > best {
			best, centers, score = gain, c, s
		}
	}
	if centers == nil {
		return middles(points, make([]int32, len(points)), 1), 0
	}
	return centers, score
}

func smallest(of []int32, groups int) int {
	sizes := make([]int, groups)
	for _, k := range of {
		sizes[k]++
	}
	return slices.Min(sizes)
}

func assign(points, centers [][]float32) []int32 {
	of := make([]int32, len(points))
	for i, p := range points {
		of[i], _ = nearest(p, centers)
	}
	return of
}

// likeness draws as many points from a normal cloud with the points' variances.
func likeness(points [][]float32, chance *chance) [][]float32 {
	d := len(points[0])
	mean, spread := make([]float64, d), make([]float64, d)
	for _, p := range points {
		for i, x := range p {
			mean[i] += float64(x) / float64(len(points))
		}
	}
	for _, p := range points {
		for i, x := range p {
			spread[i] += (float64(x) - mean[i]) * (float64(x) - mean[i]) / float64(len(points))
		}
	}
	out := make([][]float32, len(points))
	for r := range out {
		out[r] = make([]float32, d)
		for i := range d {
			out[r][i] = float32(mean[i] + math.Sqrt(spread[i])*chance.normal())
		}
	}
	return out
}
