package mesh

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/memberlist"
	"google.golang.org/protobuf/proto"

	"orgmem/cluster/clustertest"
	"orgmem/cluster/wire"
	pb "orgmem/proto"
	"orgmem/proto/clock"
)

func TestLeavingIsToldFromFailing(t *testing.T) {
	w := newCampus(t, clock.Real())
	leaver, failer := w.grow(), w.grow()
	acquainted(t, w.first, leaver, failer)

	var mu sync.Mutex
	var seen []MemberState // of the leaver, as told
	stop := w.first.Watch(func(all []Member) {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range all {
			if m.Server == leaver.Server() && (len(seen) == 0 || seen[len(seen)-1] != m.State) {
				seen = append(seen, m.State)
			}
		}
	})
	clustertest.WaitFor(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(seen) > 0 // the present state comes first
	})

	if err := leaver.Close(); err != nil {
		t.Fatal(err)
	}
	if err := failer.shut(); err != nil {
		t.Fatal(err)
	}
	clustertest.WaitFor(t, func() bool { return state(w.first, leaver.Server()) == MemberLeft })
	clustertest.WaitFor(t, func() bool { return state(w.first, failer.Server()) == MemberFailed })
	if s := state(w.first, leaver.Server()); s != MemberLeft {
		t.Errorf("who left is %v later", s)
	}
	clustertest.WaitFor(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return seen[len(seen)-1] == MemberLeft
	})
	stop()
	mu.Lock()
	told := slices.Clone(seen) // on a busy machine it may have been missed before it left
	mu.Unlock()
	if told[0] != MemberAlive || slices.Index(told, MemberLeft) != len(told)-1 {
		t.Errorf("told %v of who left", told)
	}

	// Both come back, at other addresses.
	back := w.open(leaver.creds.Load(), func(c *Config) { c.Join = []string{w.first.Addr()} })
	clustertest.WaitFor(t, func() bool { return state(w.first, back.Server()) == MemberAlive })
	if back.Instance() == leaver.Instance() {
		t.Error("two starts have one instance")
	}
	clustertest.WaitFor(t, func() bool {
		address, alive := w.first.members.address(back.Server())
		return alive && address == back.Addr()
	})
	mu.Lock()
	defer mu.Unlock()
	if len(seen) != len(told) {
		t.Errorf("told %v after it was stopped", seen[len(told):])
	}
}

// An echo of who said goodbye does not bring it back, and nobody can say goodbye
// for another.
func TestGoodbyeIsForOneInstance(t *testing.T) {
	w := newCampus(t, clock.Real())
	m := w.first.members
	meta := func(instance string) *pb.NodeMeta { return &pb.NodeMeta{Instance: instance, Address: "127.0.0.1:1"} }
	bye := func(instance string) {
		if _, err := m.goodbye(t.Context(), "x", byeArm(instance)); err != nil {
			t.Fatal(err)
		}
	}
	steps := []struct {
		what string
		do   func()
		want MemberState
	}{
		{"heard", func() { m.heard("x", meta("1")) }, MemberAlive},
		{"goodbye of an earlier start", func() { bye("0") }, MemberAlive},
		{"goodbye", func() { bye("1") }, MemberLeft},
		{"its dead message", func() { m.lost("x") }, MemberLeft},
		{"an echo", func() { m.heard("x", meta("1")) }, MemberLeft},
		{"the next start", func() { m.heard("x", meta("2")) }, MemberAlive},
		{"the goodbye again", func() { bye("1") }, MemberAlive},
		{"its failure", func() { m.lost("x") }, MemberFailed},
		{"it was only slow", func() { m.heard("x", meta("2")) }, MemberAlive},
	}
	for _, s := range steps {
		s.do()
		if got := state(w.first, "x"); got != s.want {
			t.Errorf("%s: %v, want %v", s.what, got, s.want)
		}
	}
}

// What a node says of itself reaches the others, and fits.
func TestLoadAndLeavingAreGossiped(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow(func(c *Config) {
		c.Name, c.Zone = strings.Repeat("n", maxNameBytes), strings.Repeat("z", maxNameBytes)
	})
	acquainted(t, w.first, two)
	of := func() Member {
		i := slices.IndexFunc(w.first.Members(), func(m Member) bool { return m.Server == two.Server() })
		return w.first.Members()[i]
	}
	two.gossip.setLoad(400)
	two.SetLeaving(true)
	clustertest.WaitFor(t, func() bool { m := of(); return m.Load == 400 && m.Leaving })
	since := of().Since
	two.gossip.setLoad(400 + loadStep - 1) // not worth telling
	two.SetLeaving(false)
	clustertest.WaitFor(t, func() bool { return !of().Leaving })
	if m := of(); m.Load != 400 || m.Since != since {
		t.Errorf("%+v after a small change, want load 400 since %v", m, since)
	}

	full := proto.CloneOf(two.gossip.meta)
	full.Load, full.Trusts, full.Issuer, full.Leaving, full.Version = 1<<31, 1<<40, 1<<40, true, 1<<31
	if grown := proto.Size(full) - proto.Size(
		&pb.NodeMeta{Address: full.GetAddress(), Name: full.GetName(), Zone: full.GetZone(), Instance: full.GetInstance()},
	); grown > metaSlack {
		t.Errorf("numbers take %d bytes, metaSlack is %d", grown, metaSlack)
	}
	cfg := w.config(w.admitted())
	cfg.Advertise = strings.Repeat("h", 400) + ":1"
	if n, err := Open(t.Context(), cfg); err == nil {
		n.shut()
		t.Errorf("an address that leaves no room in %d bytes was taken", memberlist.MetaMaxSize)
	}
}

// A cluster is found by a name of many addresses, most of which lead nowhere.
func TestFoundByName(t *testing.T) {
	w := newCampus(t, clock.Real())
	_, port, err := net.SplitHostPort(w.first.Addr())
	if err != nil {
		t.Fatal(err)
	}
	names := resolver{"cluster.test": {"127.0.0.9", "::1", "127.0.0.1"}}
	tok := w.token()
	tok.pb.Addresses = nil
	cfg := w.joinConfig(tok)
	cfg.Addresses, cfg.Resolver = []string{"gone.test:1", "cluster.test:" + port}, names
	creds, err := Join(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	two := w.open(creds, func(c *Config) { c.Join, c.Resolver = cfg.Addresses, names })
	acquainted(t, w.first, two)

	got := resolveAll(t.Context(), names, []string{"cluster.test:1", "127.0.0.1:1", "gone.test:2", "nonsense", "[::1]:1"})
	if want := []string{"127.0.0.9:1", "[::1]:1", "127.0.0.1:1"}; !slices.Equal(got, want) {
		t.Errorf("resolved to %v, want %v", got, want)
	}
	many := resolver{"many.test": nil}
	for i := range 2 * maxDiscover {
		many["many.test"] = append(many["many.test"], fmt.Sprintf("10.0.%d.%d", i/256, i%256))
	}
	if got := resolveAll(t.Context(), many, []string{"many.test:1"}); len(got) != maxDiscover {
		t.Errorf("%d addresses of a name that has too many", len(got))
	}
}

type resolver map[string][]string

func (r resolver) LookupHost(_ context.Context, host string) ([]string, error) {
	if addrs, ok := r[host]; ok {
		return addrs, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
}

// Nodes that were all down find each other by the node table, with no address
// given.
func TestFoundByTheTable(t *testing.T) {
	fake := clock.NewFake(time.Now())
	w := newCampus(t, fake)
	two := w.grow()
	acquainted(t, w.first, two)
	clustertest.WaitFor(t, func() bool {
		return w.meta.entry("one").GetAddress() != "" && w.meta.entry(two.Server()).GetAddress() != ""
	})
	if err := errors.Join(two.shut(), w.first.shut()); err != nil {
		t.Fatal(err)
	}
	eager := func(c *Config) { c.discover = 50 * time.Millisecond }
	one := w.open(w.first.creds.Load(), eager)
	if state(one, two.Server()) != MemberFailed {
		t.Error("a node that nobody has heard of is not missing")
	}
	again := w.open(two.creds.Load(), eager)
	polls := 0
	clustertest.WaitFor(t, func() bool {
		if polls++; polls%10 == 0 { // handshakes have a deadline on this clock
			fake.Advance(50 * time.Millisecond) // they may have sought before they had the table
		}
		return state(one, again.Server()) == MemberAlive && state(again, one.Server()) == MemberAlive
	})
}

func TestNetworkConfigIsChecked(t *testing.T) {
	w := newCampus(t, clock.Real())
	creds := w.first.creds.Load()
	for name, change := range map[string]func(*Config){
		"no credentials":       func(c *Config) { c.Credentials = nil },
		"no clock":             func(c *Config) { c.Clock = nil },
		"no port":              func(c *Config) { c.Listen = "127.0.0.1" },
		"bad port":             func(c *Config) { c.Listen = "127.0.0.1:70000" },
		"advertise without":    func(c *Config) { c.Advertise = "host" },
		"advertise port 0":     func(c *Config) { c.Advertise = "host:0" },
		"long name":            func(c *Config) { c.Name = strings.Repeat("x", maxNameBytes+1) },
		"taken":                func(c *Config) { c.Listen = w.first.Addr() },
		"advertise is unknown": func(c *Config) { c.Advertise, c.Resolver = "gone.test:1", resolver{} },
	} {
		cfg := w.config(creds)
		change(&cfg)
		if n, err := Open(t.Context(), cfg); err == nil {
			n.shut()
			t.Errorf("%s was taken", name)
		}
	}
	for address, want := range map[string]string{
		"127.0.0.1:1": "127.0.0.1:1", "[::1]:2": "[::1]:2",
	} {
		tcp, err := net.ResolveTCPAddr("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := advertised("", tcp); err != nil || got != want {
			t.Errorf("%s is advertised as %q, %v", address, got, err)
		}
	}
	if got, err := advertised("", &net.TCPAddr{IP: net.IPv4zero, Port: 3}); err == nil &&
		strings.HasPrefix(got, "0.0.0.0") {
		t.Errorf("every address is advertised as %q", got)
	}
}

// FuzzGossip throws packets at a node that do not come from members, and meta that
// no member would write.
func FuzzGossip(f *testing.F) {
	meta, err := proto.Marshal(&pb.NodeMeta{Address: "127.0.0.1:1", Name: "n", Instance: "i", Version: 1})
	if err != nil {
		f.Fatal(err)
	}
	f.Add("n-1", meta)
	f.Add("", []byte{0xff})
	f.Fuzz(func(t *testing.T, name string, meta []byte) {
		got, err := metaOf(&memberlist.Node{Name: name, Meta: meta})
		if err == nil && (got == nil || wire.CheckServerID(name) != nil) {
			t.Errorf("%q with %x was taken", name, meta)
		}
	})
}

// Packets of strangers change nothing.
func TestStrangersPacketsAreIgnored(t *testing.T) {
	w := newCampus(t, clock.Real())
	two := w.grow()
	acquainted(t, w.first, two)
	conn, err := net.Dial("udp", w.first.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	stranger := newCampus(t, clock.Real()).first
	for range 50 {
		conn.Write([]byte("noise"))
		conn.Write(make([]byte, 1400))
	}
	// Another cluster's member knows the protocol and has another key.
	if n, err := stranger.gossip.list.Join([]string{w.first.Addr()}); err == nil {
		t.Errorf("a stranger joined %d nodes", n)
	}
	if _, err := stranger.gossip.WriteTo([]byte{byte(12), 0, 0}, w.first.Addr()); err != nil {
		t.Fatal(err)
	}
	if _, err := two.Call(t.Context(), "one", probe()); err != nil {
		t.Error(err)
	}
	for _, m := range w.first.Members() {
		if m.Server != "one" && m.Server != two.Server() {
			t.Errorf("%s became a member", m.Server)
		}
	}
}
