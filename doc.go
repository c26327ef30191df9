// Package orgmem is the root of the module and holds no code of the service,
// only its house rules, as tests: which folder may import which, and which
// technology; that each package explains itself; that time and chance come in
// through constructors; that files stay short.
//
// The service is cmd/orgmem; a request goes from api to actors, and what it
// changes through cluster to storage. brain computes, proto names things.
package orgmem
