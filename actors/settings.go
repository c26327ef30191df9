package actors

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// quality says how much a partition spends on an answer.
type quality string

const (
	// qualityFast searches by the index alone: no stored vector is read, and no brain
	// walks. Content that is taken in has its entities read, and no relations.
	qualityFast quality = "fast"
	// qualityBalanced is the default.
	qualityBalanced quality = "balanced"
	// qualityThorough looks at four times the candidates of the others, and leaves no
	// pass out: relations, stored vectors of all leading candidates, and where a brain
	// walks, that from their exact cosines. What each spends on a search: efforts.
	qualityThorough quality = "thorough"
)

func knownQuality(q quality) bool {
	return q == qualityFast || q == qualityBalanced || q == qualityThorough
}

// settings is what holds for a partition: what its settings say, and the server's
// defaults for what they do not. It is immutable.
type settings struct {
	quality quality
	// learn says whether cognition and the brain learn from what is taken in.
	learn bool
}

func settingsFrom(rec *pb.Settings) settings {
	s := settings{quality: qualityBalanced, learn: true}
	if q := quality(rec.GetQualityMode()); knownQuality(q) {
		s.quality = q
	}
	if rec.LearnModeDefault != nil {
		s.learn = rec.GetLearnModeDefault()
	}
	return s
}

// settings returns a partition's settings, from memory where it is in memory.
func (pc *partitionCache) settings(r storage.Reader, part *partitionRef) (settings, error) {
	e := pc.entry(partitionKey{part.store, part.id})
	if s := e.settings.Load(); s != nil {
		return *s, nil
	}
	// Under the lock, so that what is read now cannot replace what is put after it.
	e.setting.Lock()
	defer e.setting.Unlock()
	if s := e.settings.Load(); s != nil {
		return *s, nil
	}
	rec := &pb.Settings{}
	if _, err := r.Get(part.space.Key(storage.TableSettings), rec); err != nil {
		return settings{}, err
	}
	s := settingsFrom(rec)
	e.settings.Store(&s)
	return s, nil
}

// settingsOf is settings for who holds no store.
func (o *orgView) settingsOf(part *partitionRef) (s settings, err error) {
	err = o.withStore(func(st *storage.Store) error {
		s, err = o.sys.parts.settings(st, part)
		return err
	})
	return s, err
}

// putSettings makes committed settings what readers see. Commits of one partition
// come here in their order.
func (pc *partitionCache) putSettings(part *partitionRef, s settings) {
	e := pc.entry(partitionKey{part.store, part.id})
	e.setting.Lock()
	defer e.setting.Unlock()
	e.settings.Store(&s)
}
