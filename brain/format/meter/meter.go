// Package meter counts what the reading of one file costs: how much was worked
// through, and how much memory is held. The readers of package format and of package
// pdf say both to one Meter before they do it, so that a file ends at the bounds of
// its reading, whatever it is and however its parts lie in each other.
package meter

import "io"

// quantum is how much is worked through between two questions whether to go on: some
// milliseconds.
const quantum = 256 << 10

// step is by how much more memory is asked for at least.
const step = 4 << 20

// Meter counts the costs of one file. The zero value bounds nothing.
type Meter struct {
	// GoOn is asked between two steps of the work; an error ends the reading, and is
	// returned. It may wait. nil: it goes on.
	GoOn func() error
	// More is asked before more memory is held than ever before, by how much more; it
	// may wait. An error ends the reading, and is returned. nil: there is enough.
	More func(bytes int) error
	// Memory and Work are the most that one file may hold and cost; beyond them the
	// errors are returned. 0: there is no bound.
	Memory, Work              int
	ErrMemory, ErrWork, ended error

	held, most, worked, todo int
}

// Step counts work. A unit is what it takes to look at a byte: some ten nanoseconds.
func (m *Meter) Step(n int) error {
	if m.ended != nil {
		return m.ended
	}
	if m.worked += n; m.Work > 0 && m.worked > m.Work {
		m.ended = m.ErrWork // nothing else of the file is begun
		return m.ended
	}
	if m.todo += n; m.todo < quantum || m.GoOn == nil {
		return nil
	}
	m.todo = 0
	return m.GoOn()
}

// Hold counts memory that is about to be taken. What is refused is not held.
func (m *Meter) Hold(n int) error {
	if m.Memory > 0 && m.held+n > m.Memory {
		return m.ErrMemory
	}
	if more := m.held + n - m.most; more > 0 {
		more = max(more, step) // so that it is not asked for each name
		if m.Memory > 0 {
			more = min(more, m.Memory-m.most)
		}
		if m.More != nil {
			if err := m.More(more); err != nil {
				return err
			}
		}
		m.most += more
	}
	m.held += n
	return nil
}

// Release counts memory that is held no more.
func (m *Meter) Release(n int) { m.held = max(0, m.held-n) }

// Worked is how much was worked through.
func (m *Meter) Worked() int { return m.worked }

// Held is what is held.
func (m *Meter) Held() int { return m.held }

// Settle says what is held behind a part of the work, whatever became of it.
func (m *Meter) Settle(n int) { m.held = n }

// Buffer gathers bytes, and asks before it grows.
type Buffer struct {
	*Meter
	data []byte
}

// Len is how many bytes there are.
func (b *Buffer) Len() int { return len(b.data) }

// Bytes are the bytes; Release of their capacity gives them back.
func (b *Buffer) Bytes() []byte { return b.data }

// Grow makes room for n more bytes.
func (b *Buffer) Grow(n int) error {
	if len(b.data)+n <= cap(b.data) {
		return nil
	}
	return b.Resize(max(len(b.data)+n, 2*cap(b.data)))
}

// GrowTo makes room for size bytes in all, by as much as is likely to be needed but no
// more than most.
func (b *Buffer) GrowTo(size, most int) error {
	if size <= cap(b.data) {
		return nil
	}
	next := 2 * cap(b.data)
	if next > most/4*3 { // the next time, nearly twice as much would be held
		next = most
	}
	return b.Resize(max(size, next))
}

// Resize makes room for size bytes in all, and no more.
func (b *Buffer) Resize(size int) error {
	if err := b.Hold(size); err != nil {
		return err
	}
	grown := make([]byte, len(b.data), size)
	copy(grown, b.data)
	b.Release(cap(b.data))
	b.data = grown
	return nil
}

// Append adds bytes.
func (b *Buffer) Append(p []byte) error {
	if err := b.Grow(len(p)); err != nil {
		return err
	}
	b.data = append(b.data, p...)
	return nil
}

// Fill reads n bytes, or as many as there are. err is the reader's; held is why they
// may not be held.
func (b *Buffer) Fill(in io.Reader, n int) (read int, err, held error) {
	const least = 4 << 10
	for read < n {
		if held := b.Grow(min(n-read, max(least, cap(b.data)-len(b.data)))); held != nil {
			return read, nil, held
		}
		k, err := in.Read(b.data[len(b.data):min(cap(b.data), len(b.data)+n-read)])
		b.data = b.data[:len(b.data)+k]
		if read += k; err != nil {
			return read, err, nil
		}
	}
	return read, nil, nil
}
