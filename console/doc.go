// Package console holds the built files of the web console (README.md): what a memory
// holds, seen in a browser. Nothing else of the console's is part of the program, and
// nothing here knows the service.
package console
