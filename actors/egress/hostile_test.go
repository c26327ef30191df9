package egress

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// hostile are addresses that lead, or might lead somebody's resolver, into a
// private network, in every spelling that is known to have worked somewhere.
var hostile = strings.Fields(`
https://127.0.0.1/ https://127.0.0.1:443/ https://127.1/ https://127.0.1/ https://127.255.255.254/ https://127.0.0.1./
https://0/ https://0.0.0.0/ https://00000/ https://0.0/ https://0x0/ https://0.0.0.0:443/
https://2130706433/ https://2130706433./ https://0x7f000001/ https://0X7F000001/ https://0x7f.1/ https://0x7f.0.0.1/
https://0x7f.0x0.0x0.0x1/
https://017700000001/ https://0177.0.0.1/ https://0177.1/ https://00000177.0.0.1/ https://127.0.0.0x1/
https://127.000.000.001/ https://127.0.0.01/
https://4294967295/ https://4294967296/ https://3232235521/ https://0xc0a80001/ https://0300.0250.0.1/
https://0xa9fea9fe/ https://2852039166/ https://0251.0376.0251.0376/ https://169.254.43518/ https://169.16689662/
https://10.0.0.1/ https://10.255.255.255/ https://10.1/ https://012.0.0.1/ https://172.16.0.1/ https://172.31.255.255/
https://172.16.1/ https://192.168.0.1/ https://192.168.1/ https://192.168.65535/
https://169.254.169.254/ https://169.254.169.254/latest/meta-data/ https://169.254.170.2/ https://169.254.0.1/
https://100.64.0.1/ https://100.100.100.200/ https://100.127.255.255/
https://192.0.0.1/ https://192.0.0.170/ https://192.0.2.1/ https://192.88.99.1/ https://192.31.196.1/
https://192.52.193.1/ https://192.175.48.1/
https://198.18.0.1/ https://198.19.255.255/ https://198.51.100.1/ https://203.0.113.1/
https://224.0.0.1/ https://239.255.255.255/ https://240.0.0.1/ https://255.255.255.255/ https://0.1.2.3/
https://[::]/ https://[::1]/ https://[::1]:443/ https://[0:0:0:0:0:0:0:1]/
https://[0000:0000:0000:0000:0000:0000:0000:0001]/ https://[::127.0.0.1]/ https://[::7f00:1]/ https://[::10.0.0.1]/
https://[::ffff:127.0.0.1]/ https://[::ffff:7f00:1]/ https://[::FFFF:7F00:0001]/ https://[0:0:0:0:0:ffff:127.0.0.1]/
https://[::ffff:10.0.0.1]/ https://[::ffff:192.168.0.1]/ https://[::ffff:169.254.169.254]/ https://[::ffff:a9fe:a9fe]/
https://[::ffff:0.0.0.0]/ https://[::ffff:100.64.0.1]/ https://[::ffff:0:127.0.0.1]/
https://[64:ff9b::127.0.0.1]/ https://[64:ff9b::7f00:1]/ https://[64:ff9b::10.0.0.1]/ https://[64:ff9b::a9fe:a9fe]/
https://[64:ff9b::93.184.216.34]/ https://[64:ff9b:1::1]/ https://[64:ff9b:1::10.0.0.1]/
https://[2002:7f00:1::]/ https://[2002:7f00:0001::1]/ https://[2002:a00:1::]/ https://[2002:c0a8:1::]/
https://[2002:a9fe:a9fe::]/ https://[2002:5db8:d822::1]/ https://[2002::]/
https://[2001::1]/ https://[2001:0:7f00:1::]/ https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/
https://[2001:0:4136:e378:8000:63bf:f5ff:fffe]/ https://[2001:0:5ef5:79fd:0:0:5601:5601]/
https://[2001:4860::5efe:10.0.0.1]/ https://[2001:4860::5efe:7f00:1]/ https://[2001:4860::200:5efe:192.168.0.1]/
https://[2a00:1450::200:5efe:a9fe:a9fe]/ https://[fe80::5efe:127.0.0.1]/
https://[fe80::1]/ https://[fe80::1%25eth0]/ https://[fe80::1%25lo]/ https://[2606:2800:220:1::1%25eth0]/
https://[febf::1]/ https://[fec0::1]/ https://[fc00::1]/ https://[fd00::1]/ https://[fd00:ec2::254]/
https://[fdff:ffff::1]/
https://[ff01::1]/ https://[ff02::1]/ https://[ff0e::1]/ https://[ffff::1]/ https://[100::1]/ https://[2001:db8::1]/
https://[2001:2::1]/ https://[2001:10::1]/ https://[2001:20::1]/ https://[3fff::1]/ https://[5f00::1]/
https://[4000::1]/ https://[8000::1]/ https://[2620:4f:8000::1]/ https://[0100::]/
https://localhost/ https://LOCALHOST/ https://localhost./ https://localhost:443/ https://sub.localhost/
https://localhost.localdomain/ https://ip6-localhost/ https://metadata.google.internal/ https://metadata/
https://kubernetes.default.svc/
https://inside.example/ https://inside6.example/ https://mapped.example/ https://nat64.example/
https://sixtofour.example/ https://teredo.example/ https://isatap.example/ https://mixed.example/
https://mixed6.example/ https://meta.example/ https://cgnat.example/ https://zero.example/ https://empty.example/
https://many.example/
http://good.example/ HTTP://good.example/ ftp://good.example/ file:///etc/passwd gopher://good.example/
ws://good.example/ wss://good.example/ dict://good.example/ ldap://good.example/ javascript:alert(1) data:text/plain,x
unix:///var/run/docker.sock //good.example/ good.example /good.example ?x #x https: https:/ https:// https:///
https:////good.example/ https:///good.example/ https:good.example https:/good.example httpss://good.example/
https://good.example:80/ https://good.example:22/ https://good.example:0443x/ https://good.example:8443/
https://good.example:0/ https://good.example:65536/ https://good.example:-443/ https://good.example:/
https://good.example:443:443/ https://good.example:443@127.0.0.1/ https://:443/ https://good.example:+443/
https://user@good.example/ https://user:password@good.example/ https://@good.example/ https://:@good.example/
https://good.example@127.0.0.1/ https://127.0.0.1@good.example/ https://good.example%40127.0.0.1/
https://good.example%2f@127.0.0.1/ https://good.example\@127.0.0.1/ https://good.example\127.0.0.1/
https:\\good.example\ https://good.example:1#@127.0.0.1/
https://127.0.0.1%00.good.example/ https://127.0.0.1%09/ https://127.0.0.1%20/ https://%31%32%37.0.0.1/
https://127%2e0%2e0%2e1/ https://127。0。0。1/ https://１２７.0.0.1/ https://①②⑦.⓪.⓪.①/ https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/
https://lоcalhost/
https://[127.0.0.1]/ https://[::1 https://::1/ https://[::1]]/ https://[[::1]]/ https://[::1].good.example/
https://[::1]good.example/ https://[good.example]/ https://[::ffff:127.0.0.1%2500]/ https://[::g]/
https://[0:0:0:0:0:ffff:7f00:0001:1]/ https://[::1]:80/ https://[]/
https://1.1.1.1.1/ https://256.256.256.256/ https://1e3/ https://0x/ https://0xg.0.0.1/ https://1./ https://.1/
https://good.example.0x7f/ https://good.example.127/ https://good..example/ https://.good.example/
`)

// hostileNames are what the names in the list mean; every other does not resolve,
// but for good.example.
var hostileNames = names{
	"good.example": {"93.184.216.34"}, "localhost": {"127.0.0.1", "::1"}, "LOCALHOST": {"127.0.0.1"},
	"localhost.": {"127.0.0.1"}, "sub.localhost": {"127.0.0.1"},
	"localhost.localdomain": {"127.0.0.1"}, "ip6-localhost": {"::1"}, "metadata.google.internal": {"169.254.169.254"},
	"metadata":               {"169.254.169.254"},
	"kubernetes.default.svc": {"10.96.0.1"}, "inside.example": {"10.0.0.1"}, "inside6.example": {"fd00::1"},
	"mapped.example": {"::ffff:192.168.0.1"},
	"nat64.example":  {"64:ff9b::a00:1"}, "sixtofour.example": {"2002:a00:1::"},
	"teredo.example": {"2001:0:4136:e378:8000:63bf:f5ff:fffe"},
	"isatap.example": {"2001:4860::5efe:10.0.0.1"}, "mixed.example": {"93.184.216.34", "127.0.0.1"},
	"mixed6.example": {"93.184.216.34", "fe80::1"},
	"meta.example":   {"169.254.169.254"}, "cgnat.example": {"100.64.0.1"}, "zero.example": {"0.0.0.0"},
	"empty.example": {},
	"many.example":  strings.Fields(strings.Repeat("93.184.216.34 ", maxAddresses+1)),
	// What a resolver that reads numbers as inet_aton does would say.
	"127.1": {"93.184.216.34"}, "2130706433": {"93.184.216.34"}, "0x7f.1": {"93.184.216.34"},
	"0177.0.0.1": {"93.184.216.34"}, "0": {"93.184.216.34"},
}

// TestHostileAddresses: not one of them is accepted or dialled, when it is
// registered, when it is delivered to, or by a session that stands.
//
// interface: Limits/Webhook URL
func TestHostileAddresses(t *testing.T) {
	if len(hostile) < 150 {
		t.Fatalf("%d addresses", len(hostile))
	}
	client := newClient(t, Config{Resolver: hostileNames, Dialer: noDial{t}})
	for _, address := range hostile {
		if err := client.Check(t.Context(), address); !errors.Is(err, ErrAddress) {
			t.Errorf("%s is accepted: %v", address, err)
		}
		if _, err := client.Do(t.Context(), Request{Method: "POST", Address: address}); !errors.Is(err, ErrAddress) {
			t.Errorf("%s is tried: %v", address, err)
		}
		if s, err := client.Session(address); err == nil {
			if _, err := s.Do(t.Context(), Request{Method: "POST", Address: address}); !errors.Is(err, ErrAddress) {
				t.Errorf("%s is tried by a session: %v", address, err)
			}
			s.Close()
		}
	}
	t.Logf("%d addresses", len(hostile))
}

// FuzzAddress: whatever text it is, an address that is let pass is https, of a
// host that resolves to public addresses, at the default port and without user.
func FuzzAddress(f *testing.F) {
	for _, address := range hostile {
		f.Add(address)
	}
	f.Add("https://good.example/in?x=1")
	f.Fuzz(func(t *testing.T, address string) {
		u, err := Rules{}.parse(address)
		if err != nil {
			if !errors.Is(err, ErrAddress) || Reason(err) == "" {
				t.Fatal(err)
			}
			return
		}
		if u.Scheme != "https" || u.User != nil || portOf(u) != 443 || u.Hostname() == "" || len(address) > MaxURL {
			t.Fatalf("%q became %v", address, u)
		}
		if a, err := netip.ParseAddr(u.Hostname()); err == nil && !Public(a) {
			if err := newClient(t, Config{Resolver: hostileNames, Dialer: noDial{t}}).Check(t.Context(), address); err == nil {
				t.Fatalf("%q is accepted", address)
			}
		}
	})
}
