package account

import (
	"errors"
	"testing"

	"orgmem/actors/tenant"
)

// FuzzOrgPositions: what says where a list of organizations goes on is a position or none.
func FuzzOrgPositions(f *testing.F) {
	f.Add([]byte("1772366400000.00000000-0000-0000-0000-000000000001"))
	f.Add([]byte("-1.x"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		created, org, err := parsePosition(string(raw))
		if err != nil {
			if !errors.Is(err, tenant.ErrInvalid) {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		again, same, err := parsePosition(formatPosition(created, org))
		if err != nil || again != created || same != org {
			t.Fatalf("%q is %d %v, then %d %v, %v", raw, created, org, again, same, err)
		}
	})
}
