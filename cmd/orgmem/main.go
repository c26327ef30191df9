package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"orgmem/proto/clock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks for a clean end. Restoring the default then lets a
	// second one end the process at once: nothing acknowledged can be lost by it.
	context.AfterFunc(ctx, stop)
	os.Exit(run(ctx, os.Args[1:], world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr, lookupEnv: os.LookupEnv, environ: os.Environ, clock: clock.Real(),
		program: os.Args[0],
	}))
}
