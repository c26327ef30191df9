package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/actors/account"
	"orgmem/api/console"
	"orgmem/cmd/orgmem/internal/config"
)

// quickstartKey is the file in the data directory that holds the first key.
const quickstartKey = "quickstart.key"

// started is what `serve` tells once it is ready; with --json it is the one
// object on standard output. The key fields are set on a first quickstart only.
type started struct {
	BaseURL     string `json:"baseUrl"`
	OperatorURL string `json:"operatorUrl"`
	DocsURL     string `json:"docsUrl"`
	// ConsoleURL signs in by itself, once and from this machine, where a first key is known.
	ConsoleURL string `json:"consoleUrl"`
	Data       string `json:"data"`
	OrgID      string `json:"orgId,omitempty"`
	UserID     string `json:"userId,omitempty"`
	APIKey     string `json:"apiKey,omitempty"`
	KeyFile    string `json:"keyFile,omitempty"`

	program string // as it was called; see welcome
}

// announce tells where the service is. On a quickstart of an empty data
// directory it makes the personal organization first. On every quickstart the console's
// address has a code that stands for the first key.
func announce(c *cobra.Command, w world, server config.Server, l listeners, operator account.Operator,
	signIn *console.SignIn, quickstart bool,
) error {
	scheme := "http://"
	if server.TLSCert != "" {
		scheme = "https://"
	}
	s := started{
		BaseURL: scheme + reachable(l.public), OperatorURL: "http://" + reachable(l.operator), Data: server.Data,
		program: w.program,
	}
	s.DocsURL, s.ConsoleURL = s.BaseURL+"/docs", s.BaseURL+console.Path
	keyFile := filepath.Join(server.Data, quickstartKey)
	if !quickstart {
		return w.answer(c, s, func(out io.Writer) { fmt.Fprintf(out, "Serving %s\n", s.BaseURL) })
	}
	page, err := operator.Orgs(c.Context(), "", 1)
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	if len(page.Orgs) > 0 {
		if key, err := os.ReadFile(keyFile); err == nil {
			s.ConsoleURL = offerSignIn(s.ConsoleURL, signIn, strings.TrimSpace(string(key)))
		}
		return w.answer(c, s, func(out io.Writer) { remind(out, s, keyFile) })
	}
	made, err := operator.CreateOrg(c.Context(), account.NewOrg{
		Name: "Personal", OwnerEmail: "owner@localhost.localdomain", Personal: true,
	})
	if err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	if err := writeSecret(keyFile, made.APIKey); err != nil {
		return fmt.Errorf("quickstart: %w", err)
	}
	s.OrgID, s.UserID, s.APIKey, s.KeyFile = made.Org.String(), made.Owner.String(), made.APIKey, keyFile
	s.ConsoleURL = offerSignIn(s.ConsoleURL, signIn, made.APIKey)
	return w.answer(c, s, func(out io.Writer) { welcome(out, s) })
}

// offerSignIn adds a code to the console's address that stands for the key. It is in the
// fragment, which no browser sends anywhere.
func offerSignIn(console string, signIn *console.SignIn, key string) string {
	code := rand.Text()
	signIn.Offer(code, key)
	return console + "/#code=" + code
}

// welcome prints commands to paste, so they call the program as it was called now.
func welcome(out io.Writer, s started) {
	fmt.Fprintf(out, `Your memory is ready. Look at it in a browser (this address signs in once):

  Console   %[7]s

  Address   %[1]s
  Key       %[2]s   (also in %[3]s)
  Docs      %[4]s
  Operator  %[5]s

Try it in another terminal:

  export ORGMEM_BASE_URL=%[1]s ORGMEM_API_KEY=$(cat %[3]s)
  curl -sH "X-Svc-API-Key: $ORGMEM_API_KEY" --json '{"content":"The boiler was serviced in May."}' `+
		`$ORGMEM_BASE_URL/v1/ingest
  %[6]s search who looked after the heating
  %[6]s import ~/notes

`, s.BaseURL, s.APIKey, s.KeyFile, s.DocsURL, s.OperatorURL, s.program, s.ConsoleURL)
}

func remind(out io.Writer, s started, keyFile string) {
	fmt.Fprintf(out, "Your memory is ready again.\n\n  Console   %s\n  Address   %s\n  Docs      %s\n", s.ConsoleURL,
		s.BaseURL, s.DocsURL)
	if _, err := os.Stat(keyFile); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(out, "  Key       make one: %[1]s org list, %[1]s member list ORG, %[1]s key create ORG ...\n\n",
			s.program)
		return
	}
	fmt.Fprintf(out, "  Key       the first one is in %s\n\n", keyFile)
}

// reachable is the listener's address as a client on this machine can use it.
func reachable(l net.Listener) string {
	addr, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return l.Addr().String()
	}
	host := addr.IP.String()
	if addr.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, strconv.Itoa(addr.Port))
}
