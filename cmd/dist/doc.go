// Command dist makes what is released: static binaries for three systems, archives, packages
// for Debian and for RPM systems, an OCI image, a bill of materials for each binary, and the
// sums of all. `make dist` runs it.
//
// Order of calls in main.go: version and time come from the commit; each target is built
// (build.go); the binary of this machine prints the manual, the completions and the
// configuration file, so that they say what it does; payload.go gathers what goes along, once;
// archive.go, packages.go and image.go put it into their forms; sbom.go says what is inside, and
// provenance.go where the models come from.
//
// The same commit and the same Go make the same bytes: nothing here asks the clock, the name of
// the machine, the user or the order of a folder, and every time is that of the commit.
//
// It is a module of its own, so that what builds packages is no dependency of the service.
package main
