package console

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"net/netip"
	"sync"

	"github.com/go-json-experiment/json"

	"orgmem/api/problems"
	"orgmem/api/web"
	pb "orgmem/proto"
)

// maxGuesses are the wrong codes after which an offer is withdrawn. Codes have 128 bits, so
// guesses never find one; a wrong code was not copied from what the start printed.
const maxGuesses = 10

// SignIn hands out one key for one code, once: a start prints an address that has the code, so
// that nobody needs to copy a key to have a first look. The zero value offers nothing. Safe for
// concurrent use.
type SignIn struct {
	mu      sync.Mutex
	code    [sha256.Size]byte
	key     string // empty: nothing is offered
	guesses int
}

// Offer replaces what was offered before. The code is not kept, only its hash.
func (s *SignIn) Offer(code, key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.code, s.key, s.guesses = sha256.Sum256([]byte(code)), key, 0
}

// spend returns the key for the code and withdraws the offer; false for any other code.
func (s *SignIn) spend(code string) (string, bool) {
	given := sha256.Sum256([]byte(code))
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == "" {
		return "", false
	}
	if subtle.ConstantTimeCompare(given[:], s.code[:]) != 1 {
		if s.guesses++; s.guesses >= maxGuesses {
			s.key = ""
		}
		return "", false
	}
	key := s.key
	s.key = ""
	return key, true
}

// maxSignIn bounds the body that has the code.
const maxSignIn = 1 << 10

// answer gives the key to a page of this machine's that has the code.
func (s *SignIn) answer(ex *web.Exchange) {
	from, err := netip.ParseAddrPort(ex.R.RemoteAddr)
	if err != nil || !from.Addr().Unmap().IsLoopback() || !web.MayCall(ex.R) {
		ex.Refuse(problems.Newf(pb.CodePermissionDenied,
			"A code signs in on the machine that the service runs on, and nowhere else."), nil)
		return
	}
	if !web.JSONContent(ex.R.Header) {
		ex.Refuse(problems.New(pb.CodeUnsupportedMediaType), nil)
		return
	}
	if !ex.ReadWhole(maxSignIn) {
		return
	}
	var given struct {
		Code string `json:"code"`
	}
	if err := json.Unmarshal(ex.Body, &given); err != nil {
		ex.Refuse(problems.Newf(pb.CodeMalformed, "The body is not {\"code\": \"…\"}."), nil)
		return
	}
	key, ok := s.spend(given.Code)
	if !ok {
		ex.Refuse(problems.Newf(pb.CodeAuthentication, "This code is not valid, or was used before."), nil)
		return
	}
	ex.WriteJSON(http.StatusOK, web.ContentJSON, struct {
		Key string `json:"key"`
	}{key})
}
