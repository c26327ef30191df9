package hooks

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"orgmem/proto/clock"
)

const (
	// Tolerance is how far the time of a signature may be from now: enough for a
	// clock that is off, little enough that a recorded delivery is soon worth nothing.
	Tolerance = 5 * time.Minute
	// maxBody bounds a delivery; one is at most some kilobytes.
	maxBody = 1 << 20
)

var (
	errNoTime    = errors.New("the signature names no time")
	errTime      = errors.New("its time is not near now")
	errSignature = errors.New("the signature does not fit")
)

// Verify returns nil when a delivery's raw body was signed with the secret, about
// now. header is X-Svc-Signature.
func Verify(secret, header string, body []byte, now time.Time) error {
	var t, v1 string
	for part := range strings.SplitSeq(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			t = value
		case "v1":
			v1 = value
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return errNoTime
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > Tolerance || age < -Tolerance {
		return errTime
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	if got, err := hex.DecodeString(v1); err != nil || !hmac.Equal(got, mac.Sum(nil)) {
		return errSignature
	}
	return nil
}

// Delivery is one that was verified.
type Delivery struct {
	Delivery string          `json:"delivery"` // X-Svc-Delivery
	Type     string          `json:"type"`
	Envelope json.RawMessage `json:"envelope"` // the body
}

// Handler answers 204 to what it believes, after got has had it, and 400 to what it
// does not, after refused has had the reason. Both may be called from several
// goroutines.
func Handler(secret string, c clock.Clock, got func(Delivery), refused func(error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err == nil {
			err = Verify(secret, r.Header.Get("X-Svc-Signature"), body, c.Now())
		}
		var envelope struct {
			Type string `json:"type"`
		}
		if err == nil {
			err = json.Unmarshal(body, &envelope)
		}
		if err != nil {
			refused(fmt.Errorf("a request that is no delivery of this endpoint: %w", err))
			http.Error(w, "refused", http.StatusBadRequest)
			return
		}
		got(Delivery{Delivery: r.Header.Get("X-Svc-Delivery"), Type: envelope.Type, Envelope: body})
		w.WriteHeader(http.StatusNoContent)
	})
}
