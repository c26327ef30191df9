package storage

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// BeginAnew makes a collected store the beginning of another log: it forgets how
// far it had come in the log that it was written from, and who held it. It is for
// a store that is restored into a new cluster, before Adopt. With the old applied
// index the store would take the new log's first entries for replays and skip
// them: acknowledged writes would be lost. The version stays, as it only counts.
// Call it when no file is missing; a second call changes nothing. What was collected
// must be a store that has taken an entry: anything else, which Pebble would be glad
// to make an empty store beside, is ErrCorrupt.
func (s *Stage) BeginAnew() error {
	o := s.node.storeOptions()
	o.ErrorIfNotExists = true
	db, err := pebble.Open(s.dir, o)
	if errors.Is(err, pebble.ErrDBDoesNotExist) {
		return fmt.Errorf("restore %v: no store was collected: %w", s.id, ErrCorrupt)
	}
	if err != nil {
		return wrapPebble("open restored store", err)
	}
	err = beginAnew(db)
	if err = errors.Join(err, wrapPebble("close restored store", db.Close())); err != nil {
		return fmt.Errorf("restore %v: %w", s.id, err)
	}
	return nil
}

func beginAnew(db *pebble.DB) error {
	st, found, err := findState(db)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("a store without its state: %w", ErrCorrupt)
	}
	if err := db.Set(stateKey, State{Version: st.Version}.encode(), pebble.NoSync); err != nil {
		return wrapPebble("begin anew", err)
	}
	// Without a WAL a flush is what makes it durable.
	return wrapPebble("begin anew", db.Flush())
}
