package text

// Document is a text to be cut into chunks. Body may be Markdown.
type Document struct {
	Title string
	Body  string
}

// ChunkOptions bounds the chunks.
type ChunkOptions struct {
	// TargetTokens is the size at which a chunk is closed at the next good
	// border; 0 means 200.
	TargetTokens int
	// MaxTokens is never exceeded by more than the rounding of Count; 0 means
	// TargetTokens*3/2. A sentence that is longer is cut.
	MaxTokens int
	// Count gives the number of tokens of a text; nil means a quarter of its
	// letters. It is called once per sentence and line, so the whole costs one
	// pass of it over the body.
	Count func(string) int
}

// Chunk is one passage of a document.
type Chunk struct {
	// Text is Body[Start:End].
	Text string
	// TitlePath is the document's title (if any) and the headings above the
	// chunk, outermost first. Chunks of one section share the slice.
	TitlePath []string
	// Start and End are byte offsets into Body. Chunks are in order and do not
	// overlap; what no chunk covers is white space.
	Start, End int
	// Tokens is the sum of Count over the chunk's parts.
	Tokens int
}

// Chunks cuts a document. A blank body gives no chunks.
func Chunks(doc Document, opts ChunkOptions) []Chunk { panic("not yet") }
