package text

// Truncate returns the longest prefix of s of at most maxBytes bytes that ends
// between two graphemes (what a reader sees as one character).
func Truncate(s string, maxBytes int) string { panic("not yet") }

// TruncateRunes returns the first maxRunes characters of s.
func TruncateRunes(s string, maxRunes int) string { panic("not yet") }
