package console

import (
	"embed"
	"io/fs"
)

// The files are committed as npm run build writes them, so that building the program
// needs no Node.js.
//
//go:embed dist
var built embed.FS

// The two pages. Each asks for scripts and a style sheet below assets, whose names change
// with what is in them.
const (
	Page         = "index.html"    // on the public interface
	OperatorPage = "operator.html" // on the operator interface
)

// Files returns the built files, by their path below /console.
func Files() fs.FS {
	files, err := fs.Sub(built, "dist")
	if err != nil {
		panic(err) //nolint:forbidigo // a broken invariant: "dist" is a valid path
	}
	return files
}
