package apitest

import "strings"

// Form builds a multipart form with the boundary "sample", of name, file name and content
// triples; an empty file name makes a field.
func Form(parts ...string) string {
	var b strings.Builder
	for i := 0; i < len(parts); i += 3 {
		b.WriteString("--sample\r\nContent-Disposition: form-data; name=\"" + parts[i] + "\"")
		if parts[i+1] != "" {
			b.WriteString("; filename=\"" + parts[i+1] + "\"")
		}
		b.WriteString("\r\n\r\n" + parts[i+2] + "\r\n")
	}
	return b.String() + "--sample--\r\n"
}
