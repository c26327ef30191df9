package manifold

// Refresh brings the state up to the signals: all of them, each time, those that
// the last state knew in any order. It returns false below [MinSignals].
func Refresh(last State, signals []Signal, nowMS int64) (Reading, bool) { return Reading{}, false }
