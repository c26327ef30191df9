package moving

import (
	"sync"
	"time"

	"orgmem/actors/tenant"
	pb "orgmem/proto"
	"orgmem/storage"
)

// remembered is how long an organization's figures are remembered: counting the largest takes 0.1 s.
const remembered = 10 * time.Second

// Module tells how far an organization, or a sandbox, is embedded.
type Module struct {
	tenant.NoModule

	view *tenant.View

	mu   sync.Mutex // guards what follows
	at   time.Time
	last *pb.Embedding // nil: nobody has counted
}

// Handle leaves all requests to the other modules.
func (*Module) Handle(*tenant.Call) bool { return false }

// Known returns what was counted moments ago; nil: nobody has. The caller must not change it.
func (m *Module) Known() *pb.Embedding {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last == nil || m.last.GetModel() != m.view.System.Embedders.Current().ID() ||
		m.view.System.Clock.Now().Sub(m.at) >= remembered {
		return nil
	}
	return m.last
}

// Count counts the organization's chunks, and remembers that.
func (m *Module) Count(st *storage.Store) (*pb.Embedding, error) {
	sys := m.view.System
	model, now := sys.Embedders.Current().ID(), sys.Clock.Now()
	c, _, err := countAll(&sys.Embedders, st, m.view.Store, model)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at, m.last = now, &pb.Embedding{Model: model, Chunks: c.chunks, Embedded: c.embedded}
	return m.last, nil
}
