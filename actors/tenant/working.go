package tenant

import (
	"orgmem/actors/partition"
	"orgmem/brain/claim"
	"orgmem/brain/conflict"
	"orgmem/brain/index"
	"orgmem/brain/reader"
	"orgmem/brain/text"
)

// Reader is the working memory of one read worker.
type Reader struct {
	partition.QueryEncoder

	Scratch index.Scratch
	Matcher index.Matcher
	Vectors partition.VectorReader
}

// computer is the working memory of one CPU worker.
type computer struct {
	partition.QueryEncoder

	Comparer Comparer // of cognition
}

// Comparer is the working memory of one CPU worker.
type Comparer struct {
	Scratch  index.Scratch
	Analyzer text.Analyzer
	Reader   claim.Reader
	Judge    conflict.Judge
	Pairs    *reader.Worker // nil until the first is read
}
