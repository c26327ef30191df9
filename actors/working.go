package actors

import (
	"orgmem/actors/partition"
	"orgmem/brain/claim"
	"orgmem/brain/conflict"
	"orgmem/brain/index"
	"orgmem/brain/text"
)

// reader is the working memory of one read worker.
type reader struct {
	partition.QueryEncoder

	scratch index.Scratch
	matcher index.Matcher
	vectors partition.VectorReader
}

// computer is the working memory of one CPU worker.
type computer struct {
	partition.QueryEncoder

	comparer comparer // of cognition
}

// comparer is the working memory of one CPU worker.
type comparer struct {
	scratch  index.Scratch
	analyzer text.Analyzer
	reader   claim.Reader
	judge    conflict.Judge
}
