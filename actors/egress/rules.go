package egress

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// MaxURL is the interface's bound of a webhook's address, in bytes.
const MaxURL = 2048

// ErrAddress is wrapped by every refusal of an address. The text behind it
// completes the sentence "the URL …", for the tenant.
var ErrAddress = errors.New("address refused")

func refusef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrAddress, fmt.Sprintf(format, args...))
}

// Reason is what a tenant may read of an error of Check or Do: the rule that an
// address breaks, or how an attempt failed, without internal detail.
func Reason(err error) string {
	if text, ok := strings.CutPrefix(err.Error(), ErrAddress.Error()+": "); ok && errors.Is(err, ErrAddress) {
		return text
	}
	if attempt, ok := errors.AsType[attemptError](err); ok {
		return attempt.reason
	}
	return "could not be reached"
}

// defaultPort is that of https.
const defaultPort = 443

// Rules are the interface's restrictions of an address, and what the operator
// exempts from them. The zero value exempts nothing.
type Rules struct {
	AllowCIDRs []netip.Prefix
	AllowPorts []uint16
}

// parse checks everything about an address that can be seen without resolving
// it.
func (r Rules) parse(text string) (*url.URL, error) {
	if len(text) > MaxURL {
		return nil, refusef("is longer than %d bytes", MaxURL)
	}
	for i := range len(text) {
		if text[i] <= ' ' || text[i] >= 0x7f {
			return nil, refusef("must be ASCII without spaces: write the host in punycode and escape the path")
		}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, refusef("is not well-formed")
	case u.Scheme != "https":
		return nil, refusef("must begin with https://")
	case u.Opaque != "" || u.Hostname() == "":
		return nil, refusef("names no host")
	case u.User != nil || strings.Contains(u.Host, "@"):
		return nil, refusef("must not hold a user name or password")
	case numeric(u.Hostname()):
		return nil, refusef("spells an address in a way that is read in more than one way")
	}
	if port := u.Port(); port != "" || strings.HasSuffix(u.Host, ":") {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || !r.port(uint16(n)) {
			return nil, refusef("must use the default port")
		}
	}
	return u, nil
}

// numeric reports whether a host ends in a number and is still no address in its
// one canonical spelling: 127.1, 0x7f.0.0.1, 017700000001, 2130706433. Some
// resolvers take those for addresses (WHATWG's URL standard, "ends in a number").
func numeric(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(strings.ToLower(last), "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return strings.Trim(last, "0123456789") == ""
}

func (r Rules) port(n uint16) bool {
	return n == defaultPort || slices.Contains(r.AllowPorts, n)
}

// portOf is the port that an address which parse let pass is dialled at.
func portOf(u *url.URL) uint16 {
	if n, err := strconv.ParseUint(u.Port(), 10, 16); err == nil {
		return uint16(n)
	}
	return defaultPort
}

// allows reports whether an address may be connected to.
func (r Rules) allows(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	for _, p := range r.AllowCIDRs {
		if p.Contains(a) {
			return true
		}
	}
	return Public(a)
}

// special are the ranges that are not public, from IANA's registries of
// special-purpose addresses and the lists of multicast and reserved space. For
// IPv6 all that lies outside 2000::/3 is refused before this list is looked at:
// loopback, unspecified, mapped, NAT64, unique local, link local, site local,
// multicast.
var special = prefixes(
	"0.0.0.0/8",       // this network
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link local; metadata services of clouds
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.31.196.0/24", // AS112
	"192.52.193.0/24", // AMT
	"192.88.99.0/24",  // relays of 6to4
	"192.168.0.0/16",  // private
	"192.175.48.0/24", // AS112
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/4",     // multicast
	"240.0.0.0/4",     // reserved, broadcast
	"2001::/23",       // protocol assignments: Teredo, ORCHID, benchmarks
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4, whatever address it embeds
	"2620:4f:8000::/48",
	"3fff::/20", // documentation
)

var global6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, 0, len(texts))
	for _, t := range texts {
		list = append(list, netip.MustParsePrefix(t))
	}
	return list
}

// Public reports whether an address is one of the public internet.
func Public(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsValid() || a.Zone() != "" || a.Is6() && !global6.Contains(a) {
		return false
	}
	for _, p := range special {
		if p.Contains(a) {
			return false
		}
	}
	return !isatap(a)
}

// isatap reports whether an address's last half says that it is a tunnel to the
// IPv4 address in its last quarter (RFC 5214, section 6.1), which any prefix may
// lead to.
func isatap(a netip.Addr) bool {
	raw := a.As16()
	return a.Is6() && raw[8]&^0x02 == 0 && raw[9] == 0 && raw[10] == 0x5e && raw[11] == 0xfe
}
