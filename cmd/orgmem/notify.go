package main

import (
	"context"
	"log/slog"
	"net"
	"strings"

	"orgmem/cmd/orgmem/internal/config"
)

// The messages to a service manager (sd_notify(3)).
const (
	notifyReady    = "READY=1"
	notifyStopping = "STOPPING=1"
)

// notify tells the service manager that started this process how it is, where it asked to be
// told: `systemctl start` then returns when the first request would be answered. Nobody's
// start fails because the manager cannot be reached.
func notify(ctx context.Context, w world, log *slog.Logger, state string) {
	address := w.env(config.EnvNotify, "")
	if address == "" {
		return
	}
	if name, abstract := strings.CutPrefix(address, "@"); abstract {
		address = "\x00" + name
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unixgram", address)
	if err == nil {
		_, err = conn.Write([]byte(state))
		conn.Close() //nolint:errcheck // a datagram is sent when Write returns
	}
	if err != nil {
		log.Warn("the service manager was not told", "state", state, "err", err)
	}
}
