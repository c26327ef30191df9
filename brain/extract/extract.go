package extract

// Extract reads a document. See the package comment for what it promises.
func Extract(d Document) Extraction {
	return Extraction{}
}
