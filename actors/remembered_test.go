package actors

import (
	"reflect"
	"strings"
	"sync"
	"unsafe"

	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/actors/webhook"
	pb "orgmem/proto"
)

// remembered collects every string and every byte that the node keeps in memory where
// a request can be served from it: the partitions' indexes and settings, the vectors of
// what was asked, the streams, and all that the organizations' actors hold, with their
// commits, exports and brains. Nothing may be under way.
func (n *testNode) remembered() []byte {
	n.t.Helper()
	m := &memory{seen: map[visited]bool{}}
	mu := fieldOf[sync.Mutex](n.sys.System, "mu")
	mu.Lock()
	var orgs []pb.OrgID
	for id := range *fieldOf[map[pb.OrgID]*tenant.Activation](n.sys.System, "orgs") {
		orgs = append(orgs, id)
	}
	mu.Unlock()
	for _, id := range orgs {
		err := n.sys.Visit(n.t.Context(), id, func(o *tenant.Org, done func(error)) {
			held := fieldOf[sync.Mutex](o.Committer, "mu")
			held.Lock()
			defer held.Unlock()
			hot := fieldOf[sync.Mutex](n.sys.Memory, "mu")
			hot.Lock()
			defer hot.Unlock()
			m.collect(reflect.ValueOf(o))
			done(nil)
		})
		if err != nil {
			n.t.Logf("not looked at: %v", err) // it is removed
		}
	}
	held := fieldOf[sync.Mutex](n.sys.Memory, "mu")
	held.Lock()
	defer held.Unlock()
	m.collect(reflect.ValueOf(n.sys.Memory))
	hub := tenant.FeatureOf[*webhook.Feature](n.sys.System).Streams
	held = fieldOf[sync.Mutex](hub, "mu")
	held.Lock()
	defer held.Unlock()
	m.collect(reflect.ValueOf(hub))
	return m.bytes
}

// fieldOf is a private field of what another package holds: a test that damages it, or that walks memory.
func fieldOf[T any](holder any, name string) *T {
	return (*T)(reflect.ValueOf(holder).Elem().FieldByName(name).Addr().UnsafePointer())
}

// memory walks values by their types, private fields too.
type memory struct {
	bytes []byte
	seen  map[visited]bool
}

type visited struct {
	at unsafe.Pointer
	of reflect.Type
}

// followed reports whether a type belongs to what holds the content of a memory. The
// rest are tools: files, clocks, actors, the model.
func followed(t reflect.Type) bool {
	switch at := t.PkgPath(); {
	case t == reflect.TypeFor[tenant.System](), t == reflect.TypeFor[tenant.Activation](),
		t == reflect.TypeFor[webhook.Feature]():
		return false
	case at == "", at == "orgmem/actors", strings.HasPrefix(at, "orgmem/actors/"), at == "orgmem/proto",
		at == "container/list", strings.HasPrefix(at, "orgmem/brain/"):
		return true
	default:
		return strings.HasPrefix(at, "github.com/hashicorp/golang-lru/")
	}
}

func (m *memory) collect(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		m.bytes = append(append(m.bytes, v.String()...), '\n')
	case reflect.Pointer:
		if v.IsNil() || !followed(v.Type().Elem()) && v.Type().Elem().PkgPath() != "sync/atomic" {
			return
		}
		key := visited{v.UnsafePointer(), v.Type()}
		if !m.seen[key] {
			m.seen[key] = true
			m.collect(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() && v.Type() != reflect.TypeFor[partition.Owner]() { // a subject's actor
			m.collect(v.Elem())
		}
	case reflect.Struct:
		if v.Type().PkgPath() == "sync/atomic" {
			if load := v.Addr().MethodByName("Load"); load.IsValid() {
				m.collect(load.Call(nil)[0])
			}
			return
		}
		if !followed(v.Type()) {
			return
		}
		if !v.CanAddr() { // of a map, or an interface: a copy has an address
			c := reflect.New(v.Type()).Elem()
			c.Set(v)
			v = c
		}
		for _, f := range v.Fields() {
			m.collect(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem())
		}
	case reflect.Slice, reflect.Array:
		switch v.Type().Elem().Kind() {
		case reflect.Uint8:
			if v.Kind() == reflect.Slice { // an array is an id
				m.bytes = append(append(m.bytes, v.Bytes()...), '\n')
			}
		case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Slice, reflect.Array, reflect.Map:
			for i := range v.Len() {
				m.collect(v.Index(i))
			}
		default: // numbers
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			m.collect(it.Key())
			m.collect(it.Value())
		}
	default: // numbers, functions and channels
	}
}
