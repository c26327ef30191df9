// Package egress is the one way out of the service: what webhooks and
// connectors send to addresses that a tenant chose.
//
// # Promises
//
//   - Only https to the default port of a host whose every address is public
//     (rules.go), unless the operator exempted a range or a port. The scheme is
//     never exempted.
//   - The address that was checked is the address that is dialled: the name is
//     resolved for each attempt, and the connection goes to what came out. A
//     name that means another address the next moment gains nothing.
//   - Redirects are not followed, proxies of the environment are not used, and
//     a connection is used again only by the Session that opened it, and only
//     while the name still means the address that it leads to.
//   - An attempt has a time-out, a response is read up to a bound, and a bounded
//     number of attempts run at a time, of which those at receivers that are slow
//     are a part: they wait for each other, and nobody waits for them.
//   - What an attempt says of a failure names no internal address.
//
// # Order of calls
//
// New once; then Check when an address is registered and Do for each attempt, or
// Enter, and an attempt by Once or a Session's Do, and out again; from any
// goroutine.
//
// # Why below actors
//
// Its users are two children of the organization, and nobody else may reach the
// network. A folder of its own at the top would be an eighth technology to
// hide; api must not have it, since checking a name at the edge would be a
// second opinion.
package egress
