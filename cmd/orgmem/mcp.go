package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"orgmem/api/mcp"
	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/secrets"
)

// mcpFlags are those of mcp.
type mcpFlags struct {
	memory  memoryFlags
	keyFile string
	tools   []string
}

func newMCP(w world) *cobra.Command {
	var f mcpFlags
	c := &cobra.Command{
		Use: "mcp", Short: "Offer the memory to a coding assistant over the Model Context Protocol",
		Long: "Speaks the Model Context Protocol on standard input and output, for an assistant that starts it\n" +
			"(docs/mcp.md). Secrets are taken out of what the assistant sends before it leaves this machine.\n" +
			"The service itself speaks the protocol over HTTP, at /mcp.",
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runMCP(c, w, f) },
	}
	f.memory.register(w, c)
	c.Flags().StringVar(&f.keyFile, "key-file", "", "file with the API key (default: "+config.EnvAPIKey+")")
	c.Flags().StringSliceVar(&f.tools, "tools", nil, "offer only these tools: "+strings.Join(mcp.ToolNames(), ", "))
	return c
}

func runMCP(c *cobra.Command, w world, f mcpFlags) error {
	if c.Flags().Changed("tools") && len(f.tools) == 0 {
		return fmt.Errorf("%w: --tools names none", errUsage)
	}
	if err := mcp.CheckTools(f.tools); err != nil {
		return fmt.Errorf("%w: --tools: %w", errUsage, err)
	}
	key, err := readKey(w, f.keyFile)
	if err != nil {
		return err
	}
	remote, err := client.New(client.Options{
		Base: f.memory.base, APIKey: key, Subject: f.memory.subject, Clock: w.clock, Advice: baseAdvice,
	})
	if err != nil {
		return err
	}
	service, err := mcp.New(mcp.Settings{
		Version: version, Clock: w.clock, Random: rand.Reader, Logger: newLogger(w, config.Server{}), Tools: f.tools,
		// As with sessions and hooks: what an assistant passes on holds what it has read.
		Redact: secrets.Text,
	})
	if err != nil {
		return err
	}
	caller := overHTTP{remote}
	who, err := whoAsks(c.Context(), w, caller)
	if err != nil {
		return fmt.Errorf("mcp: %s: %w Is %s, or --key-file, a key of this service?", remote.Base(), err, config.EnvAPIKey)
	}
	served := service.ServeStdio(c.Context(), w.in, w.out, caller, who, f.memory.subject)
	if c.Context().Err() != nil { // an assistant ends its servers by a signal
		served = nil
	}
	return served
}

// whoAsks asks who the key stands for. A key that is wrong ends the program, with a message
// that the assistant shows. A service that is not there does not: it may be started later,
// and until then every tool says so.
func whoAsks(ctx context.Context, w world, caller mcp.Caller) (mcp.Principal, error) {
	reply, err := caller.Call(ctx, mcp.WhoAmI())
	if err == nil && reply.Status < http.StatusInternalServerError && reply.Status != http.StatusTooManyRequests {
		return mcp.ReadPrincipal(reply)
	}
	if err == nil {
		_, err = mcp.ReadPrincipal(reply)
	}
	if ctx.Err() != nil {
		return mcp.Principal{}, ctx.Err()
	}
	fmt.Fprintf(w.err, "orgmem: mcp: all tools are offered, since the service could not be asked which of them the key "+
		"allows: %v\n", err)
	return mcp.Principal{}, nil
}

// overHTTP sends requests to a service elsewhere.
type overHTTP struct{ client *client.Client }

// Call implements mcp.Caller.
func (o overHTTP) Call(ctx context.Context, call mcp.Call) (mcp.Reply, error) {
	status, header, body, err := o.client.Raw(ctx, call.Method, call.Path, call.Body, call.IdempotencyKey)
	return mcp.Reply{Status: status, Header: header, Body: body}, err
}

// readKey reads the API key from a file, or else from the environment.
func readKey(w world, file string) (string, error) {
	key := w.env(config.EnvAPIKey, "")
	if file != "" {
		var err error
		if key, err = keyFrom(file); err != nil {
			return "", err
		}
	}
	if key == "" {
		return "", fmt.Errorf("no API key: set %s or --key-file", config.EnvAPIKey)
	}
	return key, nil
}
