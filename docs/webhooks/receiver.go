//go:build ignore

// Command receiver receives webhooks, with nothing but the standard library. Run it with
//
//	WEBHOOK_SECRET=whsec_… go run receiver.go CERTIFICATE KEY ADDRESS
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

// tolerance is how old a delivery may be: enough for a clock that is off, little
// enough that a delivery somebody recorded cannot be played again tomorrow.
const tolerance = 5 * time.Minute

// verify returns nil when a delivery was signed with the secret, now. body is what
// came over the wire, byte for byte: JSON that was parsed and written again has
// another signature.
func verify(secret, header string, body []byte, now time.Time) error {
	var t, v1 string
	for _, part := range strings.Split(header, ",") {
		switch name, value, _ := strings.Cut(part, "="); name {
		case "t":
			t = value
		case "v1":
			v1 = value
		}
	}
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil {
		return errors.New("the signature names no time")
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return errors.New("the delivery is too old, or from the future")
	}
	mac := hmac.New(sha256.New, []byte(secret)) // the whole secret, whsec_ included
	mac.Write([]byte(t + "."))
	mac.Write(body)
	got, err := hex.DecodeString(v1)
	if err != nil || !hmac.Equal(got, mac.Sum(nil)) { // in constant time
		return errors.New("the signature does not fit")
	}
	return nil
}

func main() {
	secret := os.Getenv("WEBHOOK_SECRET")
	if secret == "" || len(os.Args) != 4 {
		log.Fatal("WEBHOOK_SECRET=whsec_… receiver CERTIFICATE KEY ADDRESS")
	}
	listener, err := net.Listen("tcp", os.Args[3])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening", listener.Addr())
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
		if err == nil {
			err = verify(secret, r.Header.Get("X-Svc-Signature"), body, time.Now())
		}
		var event struct{ ID, Type string }
		if err == nil {
			err = json.Unmarshal(body, &event)
		}
		if err != nil {
			fmt.Println("refused", err)
			http.Error(w, "refused", http.StatusBadRequest)
			return
		}
		// An event may come twice: remember event.ID before you act on it.
		fmt.Println("verified", event.ID, event.Type)
		w.WriteHeader(http.StatusNoContent) // within ten seconds, or it counts as failed
	}
	log.Fatal(http.ServeTLS(listener, http.HandlerFunc(handler), os.Args[1], os.Args[2]))
}
