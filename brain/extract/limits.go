package extract

// Bounds of an Extraction. A text that reaches one is a table, a log or a blob,
// whose further items say nothing new; what lies beyond is left out, in the order
// of the text.
const (
	// MaxText is how many bytes of a document are read: the longest that ingestion
	// takes is about as long, and an hour's transcript a tenth of it.
	MaxText = 8 << 20
	// MaxMentions of one document: the longest standards name as many things.
	MaxMentions = 20_000
	// MaxName is the length of a name in bytes. A longer run of capitals is a
	// headline.
	MaxName = 160
	// MaxRelations of one document.
	MaxRelations = 5_000
	// MaxDates of one document: a log has one on each line.
	MaxDates = 5_000
	// MaxStatements of one document.
	MaxStatements = 2_000
	// MaxTurns of one document: a day of meetings.
	MaxTurns = 20_000

	// MinConfidence is what a mention or relation needs: below it more are wrong
	// than right.
	MinConfidence = 0.3
)
