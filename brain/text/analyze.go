package text

// Analyzer turns text into terms. The zero value is ready to use. It caches
// words, so it is for one goroutine at a time; keep one per worker.
type Analyzer struct{}

// Passage analyses a chunk: its title path (joined by newlines) and its body.
func (a *Analyzer) Passage(title, body string) Passage { panic("not yet") }

// Query analyses a query for passages in the given languages (those of the
// snapshots to be searched). Stop words are left out unless there is nothing
// else. A query without any word gives an empty slice.
func (a *Analyzer) Query(query string, langs LangSet) []QueryTerm { panic("not yet") }
