package text

import "testing"

// A list of who was there is told from one of what was said, or is to be done.
func TestOnRoll(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"* Ilse Brandt @ilse (chair)":               true,
		"  - Bruno Vogt <bruno@example.org>":        true,
		"3. Mina Park (@mina)":                      true,
		"- @ilse":                                   true,
		"* @ilse to ask the landlord for a new key": false,
		"* Ilse Brandt brings the kiln back @ noon": false,
		"* ask Bruno @bruno":                        false,
		"* Kiln repair":                             false,
		"- Dinner @7pm":                             false,
		"- Call Bruno @home tonight":                false,
		"- Upgrade react@18.2 today":                false,
		"Ilse Brandt @ilse":                         false,
		"":                                          false,
	} {
		if OnRoll(line) != want {
			t.Errorf("%q: %v, want %v", line, !want, want)
		}
	}
}
