package pdf

import "orgmem/brain/format/meter"

// bounds are those that tests make smaller, to get there sooner.
type bounds struct{ decoded, stream, written int }

// measure counts what the reading of a file costs, and ends it at a bound.
type measure struct {
	meter   *meter.Meter
	most    bounds
	decoded int
	stopped error // by the meter, or by a bound
}

// stop ends the reading; what is read from then on is nothing.
func (m *measure) stop(err error) {
	if m.stopped == nil && err != nil {
		m.stopped = err
	}
}

// spend counts bytes that were worked through.
func (m *measure) spend(n int) bool {
	if m.stopped != nil {
		return false
	}
	if m.decoded += n; m.decoded > m.most.decoded {
		m.stop(ErrTooLarge)
		return false
	}
	m.stop(m.meter.Step(n))
	return m.stopped == nil
}

// hold counts memory that is about to be taken.
func (m *measure) hold(n int) bool {
	m.stop(m.meter.Hold(n))
	return m.stopped == nil
}

// buffer is room for what a filter makes: at most one stream.
func (m *measure) buffer() *meter.Buffer { return &meter.Buffer{Meter: m.meter} }

// full reports that no more can be added to what a filter makes.
func (m *measure) full(out *meter.Buffer, err error) bool {
	m.stop(err)
	if out.Len() > m.most.stream {
		m.stop(ErrTooLarge)
	}
	return m.stopped != nil
}

// nothing gives back what a filter has made for nothing.
func (m *measure) nothing(out *meter.Buffer) []byte {
	m.meter.Release(cap(out.Bytes()))
	return nil
}
