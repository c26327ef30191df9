package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/hooks"
)

// envWebhookSecret holds the secret of an endpoint that is registered already.
const envWebhookSecret = "ORGMEM_WEBHOOK_SECRET"

const (
	// listenGrace is how long what is under way may take when the command ends.
	listenGrace = 5 * time.Second
	// listenHeader bounds how slowly a request may begin.
	listenHeader = 10 * time.Second
)

type listenFlags struct {
	memory      memoryFlags
	address     string
	certificate string
	types       []string
	plain       bool
}

func newWebhook(w world) *cobra.Command {
	var f listenFlags
	listen := &cobra.Command{
		Use: "listen", Short: "Print webhook deliveries on this machine, verified",
		Long: "Registers an endpoint on this machine, prints each delivery whose signature it has\n" +
			"verified, and removes the endpoint when it ends. With --json it prints one object per\n" +
			"delivery. The service refuses loopback unless it is told otherwise; docs/webhooks.md\n" +
			"says how. With --plain it speaks HTTP, for something in front of it that the internet\n" +
			"can reach; register that address yourself and set " + envWebhookSecret + ".",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return f.listen(c, w) },
	}
	f.memory.register(w, listen)
	listen.Flags().StringVar(&f.address, "listen", "127.0.0.1:4443", "address to receive on")
	listen.Flags().StringVar(&f.certificate, "certificate", "webhook-listen.pem",
		"file with the certificate and its key; made when it is missing")
	listen.Flags().StringSliceVar(&f.types, "types", []string{"*"}, "types of events to register for")
	listen.Flags().BoolVar(&f.plain, "plain", false, "speak HTTP, behind something that speaks HTTPS")
	return group("webhook", "Work with webhooks", listen)
}

func (f *listenFlags) listen(c *cobra.Command, w world) (err error) {
	asJSON, err := c.Flags().GetBool("json")
	if err != nil {
		return err
	}
	secret := w.env(envWebhookSecret, "")
	if f.plain && secret == "" {
		return fmt.Errorf("%w: --plain needs the secret of the endpoint that you have registered, in %s", errUsage,
			envWebhookSecret)
	}
	listener, err := (&net.ListenConfig{}).Listen(c.Context(), "tcp", f.address)
	if err != nil {
		return err
	}
	var certificates []tls.Certificate
	if !f.plain {
		pair, err := hooks.Certificate(f.certificate, w.clock.Now())
		if err != nil {
			return errors.Join(err, listener.Close())
		}
		certificates = []tls.Certificate{pair}
	}
	if secret == "" {
		var remove func() error
		if secret, remove, err = f.registered(c, w, listener); err != nil {
			return errors.Join(err, listener.Close())
		}
		defer func() { err = errors.Join(err, remove()) }()
	}
	var mu sync.Mutex // of what is printed
	server := &http.Server{
		Handler: hooks.Handler(secret, w.clock, func(d hooks.Delivery) {
			mu.Lock()
			defer mu.Unlock()
			printDelivery(w.out, d, asJSON)
		}, func(why error) {
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintf(w.err, "orgmem: %v\n", why)
		}),
		ReadHeaderTimeout: listenHeader,
		TLSConfig:         &tls.Config{Certificates: certificates, MinVersion: tls.VersionTLS12},
	}
	ended := make(chan error, 1)
	go func() { // ends with Shutdown
		if f.plain {
			ended <- server.Serve(listener)
			return
		}
		ended <- server.ServeTLS(listener, "", "")
	}()
	fmt.Fprintf(w.err, "Listening on %s; interrupt to end.\n", listener.Addr())
	select {
	case err := <-ended:
		return err
	case <-c.Context().Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), listenGrace)
	defer cancel()
	return server.Shutdown(grace)
}

// registered makes an endpoint for the listener. remove takes it away again.
func (f *listenFlags) registered(c *cobra.Command, w world,
	listener net.Listener,
) (secret string, remove func() error, err error) {
	service, err := f.memory.client(w)
	if err != nil {
		return "", nil, err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		return "", nil, err
	}
	made, err := service.CreateWebhook(c.Context(), "https://localhost:"+port+"/", f.types)
	if p, ok := errors.AsType[*client.Problem](err); ok && p.Status == http.StatusUnprocessableEntity {
		return "", nil, fmt.Errorf("the service refuses an endpoint on this machine: %w\n"+
			"Start it with ORGMEM_EGRESS_ALLOW_CIDRS=127.0.0.0/8,::1/128 ORGMEM_EGRESS_ALLOW_PORTS=%s ORGMEM_EGRESS_CA_FILE=%s",
			err, port, f.certificate)
	}
	if err != nil {
		return "", nil, fmt.Errorf("register: %w", err)
	}
	return made.Secret, func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.Context()), listenGrace)
		defer cancel()
		if err := service.DeleteWebhook(ctx, made.ID); err != nil {
			return fmt.Errorf("remove the endpoint %s: %w", made.ID, err)
		}
		return nil
	}, nil
}

func printDelivery(out io.Writer, d hooks.Delivery, asJSON bool) {
	if !asJSON {
		fmt.Fprintf(out, "%s  %s\n    %s\n", printable(d.Type), printable(d.Delivery), printable(string(d.Envelope)))
		return
	}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(d) // what was received is valid JSON; a closed output ends the command soon
}
