package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orgmem/cluster/mesh"
	"orgmem/cluster/wire"
	"orgmem/proto/clock"
	"orgmem/storage"
)

// station is a node on the real disk and the real network, as cmd makes one.
type station struct {
	network *mesh.Network
	node    *storage.Node
	host    *Host
}

// credentialsOf is where a station's credentials lie, beside its data.
func credentialsOf(dir string) string { return dir + ".credentials" }

func credentialsIn(dir string) (*mesh.Credentials, error) {
	text, err := os.ReadFile(credentialsOf(dir))
	if err != nil {
		return nil, err
	}
	return mesh.ParseCredentials(text)
}

// openNetwork opens a station's network and nothing else.
func openNetwork(ctx context.Context, dir, listen string, join ...string) (*mesh.Network, error) {
	creds, err := credentialsIn(dir)
	if err != nil {
		return nil, err
	}
	return mesh.Open(ctx, mesh.Config{
		Listen: listen, Join: join, Credentials: creds, Clock: clock.Real(), Logger: slog.New(slog.DiscardHandler),
	})
}

// openStation opens a node that has credentials.
func openStation(
	ctx context.Context, dir, listen string, configure ...func(*Config, *storage.Options),
) (*station, error) {
	creds, err := credentialsIn(dir)
	if err != nil {
		return nil, err
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError}))
	o := storage.Options{Dir: dir, Clock: clock.Real(), Logger: logger, MinFreeBytes: -1, BallastBytes: -1}
	c := Config{Clock: clock.Real(), Logger: logger, Join: true, Server: creds.Server(), Shards: creds.Shards()}
	for _, f := range configure {
		f(&c, &o)
	}
	s := &station{}
	if s.node, err = storage.Open(o); err != nil {
		return nil, err
	}
	s.network, err = mesh.Open(ctx, mesh.Config{Listen: listen, Credentials: creds, Clock: clock.Real(), Logger: logger})
	if err != nil {
		return nil, errors.Join(err, s.node.Close())
	}
	c.Storage, c.Network = s.node, s.network
	if s.host, err = Start(ctx, c); err != nil {
		return nil, errors.Join(err, s.network.Close(), s.node.Close())
	}
	return s, nil
}

func (s *station) close() error {
	return errors.Join(s.host.Close(), s.network.Close(), s.node.Close())
}

// foundStation makes a directory the first node of a cluster; fill may put
// something into it before.
func foundStation(ctx context.Context, dir string, shards int, fill func(*Host) error) (err error) {
	logger := slog.New(slog.DiscardHandler)
	node, err := storage.Open(
		storage.Options{Dir: dir, Clock: clock.Real(), Logger: logger, MinFreeBytes: -1, BallastBytes: -1},
	)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	host, err := Start(ctx, Config{Storage: node, Clock: clock.Real(), Logger: logger, Shards: shards})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, host.Close()) }()
	if err := host.WaitReady(ctx); err != nil {
		return err
	}
	if fill != nil {
		if err := fill(host); err != nil {
			return err
		}
	}
	creds, err := Found(ctx, host)
	if err != nil {
		return err
	}
	return keepStation(dir, creds)
}

func keepStation(dir string, creds *mesh.Credentials) error {
	text, err := creds.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(credentialsOf(dir), text, 0o600)
}

// joinStation lets a new directory join; openStation opens it then.
func joinStation(ctx context.Context, dir, listen string, by *station) error {
	token, _, err := by.network.NewToken(ctx, time.Hour)
	if err != nil {
		return err
	}
	creds, err := mesh.Join(
		ctx, mesh.JoinConfig{Token: token, Advertise: listen, Clock: clock.Real(), Logger: slog.New(slog.DiscardHandler)},
	)
	if err != nil {
		return err
	}
	return keepStation(dir, creds)
}

// stationPort is an address that nobody listens at.
func stationPort(t testing.TB) string {
	t.Helper()
	var config net.ListenConfig
	l, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// district is three stations that have all groups.
type district struct {
	dirs, ports [3]string
	stations    [3]*station
}

// newDistrict makes a cluster of three and waits until every group has three voters
// and the leaderships are spread.
func newDistrict(t testing.TB, shards int, configure ...func(*Config, *storage.Options)) *district {
	t.Helper()
	d := &district{}
	dir := t.TempDir()
	for i := range d.dirs {
		d.dirs[i], d.ports[i] = filepath.Join(dir, fmt.Sprintf("n%d", i)), stationPort(t)
	}
	ctx := t.Context()
	if err := foundStation(ctx, d.dirs[0], shards, nil); err != nil {
		t.Fatal(err)
	}
	for i := range d.dirs {
		var err error
		if i > 0 {
			err = joinStation(ctx, d.dirs[i], d.ports[i], d.stations[0])
		}
		if err == nil {
			d.stations[i], err = openStation(ctx, d.dirs[i], d.ports[i], configure...)
		}
		if err == nil {
			err = d.stations[i].host.WaitReady(ctx)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(d.close)
	if err := spreadOver(ctx, d.stations[:]...); err != nil {
		t.Fatal(err)
	}
	return d
}

// close may be called twice.
func (d *district) close() {
	for i, s := range d.stations {
		if s != nil {
			_ = s.close() // flushed or not: the log has it
			d.stations[i] = nil
		}
	}
}

// spreadOver waits until every group has a voter on each of the stations, and each
// leads its share of the shards.
func spreadOver(ctx context.Context, stations ...*station) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	for {
		if spreadNow(ctx, stations) {
			return nil
		}
		if err := clock.Wait(ctx, clock.Real(), 50*time.Millisecond); err != nil {
			return fmt.Errorf("the groups are not spread: %w", err)
		}
	}
}

func spreadNow(ctx context.Context, stations []*station) bool {
	h := stations[0].host
	for g := range h.groups {
		m, err := h.Membership(ctx, uint32(g))
		if err != nil {
			return false
		}
		voters := 0
		for _, r := range m.Replicas {
			if r.Voter {
				voters++
			}
		}
		if voters != len(stations) {
			return false
		}
	}
	for _, s := range stations {
		leads := 0
		for _, g := range s.host.hosted() {
			if g.id != wire.MetaGroup && g.leading.Load() != 0 {
				leads++
			}
		}
		if leads < h.Shards()/len(stations) {
			return false
		}
	}
	return true
}
