package partition

import (
	pb "orgmem/proto"
	"orgmem/storage"
)

// Quality says how much a partition spends on an answer.
type Quality string

const (
	// QualityFast searches by the index alone: no stored vector is read, and no brain
	// walks. Content that is taken in has its entities read, and no relations.
	QualityFast Quality = "fast"
	// QualityBalanced is the default.
	QualityBalanced Quality = "balanced"
	// QualityThorough looks at four times the candidates of the others, and leaves no
	// pass out: relations, stored vectors of all leading candidates, and where a brain
	// walks, that from their exact cosines. What each spends on a search: efforts.
	QualityThorough Quality = "thorough"
)

// KnownQuality reports whether there is such a quality.
func KnownQuality(q Quality) bool {
	return q == QualityFast || q == QualityBalanced || q == QualityThorough
}

// Settings is what holds for a partition: what its settings say, and the server's
// defaults for what they do not. It is immutable.
type Settings struct {
	Quality Quality
	// Learn says whether cognition and the brain learn from what is taken in.
	Learn bool
}

// SettingsFrom reads a record of settings; what it does not say is the default.
func SettingsFrom(rec *pb.Settings) Settings {
	s := Settings{Quality: QualityBalanced, Learn: true}
	if q := Quality(rec.GetQualityMode()); KnownQuality(q) {
		s.Quality = q
	}
	if rec.LearnModeDefault != nil {
		s.Learn = rec.GetLearnModeDefault()
	}
	return s
}

// Settings returns a partition's settings, from memory where it is in memory.
func (r *Residents) Settings(st storage.Reader, part *Ref) (Settings, error) {
	e := r.find(part)
	if e == nil {
		return readSettings(st, part)
	}
	if s := e.settings.Load(); s != nil {
		return *s, nil
	}
	// Under the lock, so that what is read now cannot replace what is put after it.
	e.setting.Lock()
	defer e.setting.Unlock()
	if s := e.settings.Load(); s != nil {
		return *s, nil
	}
	s, err := readSettings(st, part)
	if err == nil {
		e.settings.Store(&s)
	}
	return s, err
}

func readSettings(st storage.Reader, part *Ref) (Settings, error) {
	rec := &pb.Settings{}
	if _, err := st.Get(part.Space.Key(storage.TableSettings), rec); err != nil {
		return Settings{}, err
	}
	return SettingsFrom(rec), nil
}

// PutSettings makes committed settings what readers see. Commits of one partition
// come here in their order. What is not in memory is read from the store.
func (r *Residents) PutSettings(part *Ref, s Settings) {
	e, _ := r.peek(part.ID)
	if e == nil {
		return
	}
	e.setting.Lock()
	defer e.setting.Unlock()
	e.settings.Store(&s)
}
