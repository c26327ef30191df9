package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
)

func newKey(w world) *cobra.Command {
	var at operatorFlags
	c := group("key", "Make API keys (operator)", newKeyCreate(w, &at))
	at.register(w, c)
	return c
}

func newKeyCreate(w world, at *operatorFlags) *cobra.Command {
	var order client.NewKey
	c := &cobra.Command{
		Use: "create ORG", Short: "Make a key for a member", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			user, err := userID(order.UserID)
			if err != nil {
				return err
			}
			order.UserID = user.String()
			org, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			made, err := operator.CreateKey(c.Context(), org, order)
			if err != nil {
				return fmt.Errorf("key create: %w", err)
			}
			return w.answer(c, made, func(out io.Writer) {
				fmt.Fprintf(out, "API key %s\nId      %s\n\nThe key is shown this once: keep it.\n", made.APIKey, made.ID)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&order.UserID, "user", "", "the member it acts for")
	flags.StringSliceVar(&order.Scopes, "scopes", nil,
		"read, write, admin, graph:write, memory:forget, subjects:provision, usage:read")
	flags.StringVar(&order.Label, "label", "", "what it is for")
	required(c, "user", "scopes", "label")
	return c
}
