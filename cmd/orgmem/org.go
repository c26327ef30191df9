package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
)

func newOrg(w world) *cobra.Command {
	var at operatorFlags
	c := group("org", "Make and manage organizations (operator)",
		newOrgCreate(w, &at), newOrgList(w, &at), newOrgShow(w, &at), newOrgSetPlan(w, &at), newOrgDelete(w, &at))
	at.register(w, c)
	return c
}

func newOrgCreate(w world, at *operatorFlags) *cobra.Command {
	var order client.NewOrg
	c := &cobra.Command{
		Use: "create", Short: "Make an organization with its owner and first key", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			made, err := operator.CreateOrg(c.Context(), order)
			if err != nil {
				return fmt.Errorf("org create: %w", err)
			}
			return w.answer(c, made, func(out io.Writer) {
				fmt.Fprintf(out, "Organization %s (%s)\nOwner        %s\nAPI key      %s\n\nThe key is shown this once: keep it.\n",
					made.OrgID, made.Slug, made.UserID, made.APIKey)
			})
		},
	}
	flags := c.Flags()
	flags.StringVar(&order.Name, "name", "", "display name")
	flags.StringVar(&order.OwnerEmail, "owner-email", "", "the owner's e-mail address")
	flags.BoolVar(&order.Personal, "personal", false, "one member, for ever")
	flags.StringVar(&order.Plan, "plan", "", "free, standard (default), scale or unlimited")
	required(c, "name", "owner-email")
	return c
}

func newOrgList(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List organizations", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			orgs, err := operator.Orgs(c.Context())
			if err != nil {
				return fmt.Errorf("org list: %w", err)
			}
			return w.answer(c, listed(orgs), func(out io.Writer) {
				table(out, "ID\tSLUG\tNAME\tCREATED\tSTATE", orgs, func(o client.OrgEntry) string {
					state := "in service"
					if o.OutOfService != "" {
						state = "OUT OF SERVICE: damaged, see orgmem doctor"
					}
					return fmt.Sprintf("%s\t%s\t%s\t%s\t%s", o.OrgID, o.Slug, o.Name, o.CreatedAt, state)
				})
			})
		},
	}
}

func newOrgShow(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "show ORG", Short: "Show one organization, by id or slug", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			id, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			o, err := operator.Org(c.Context(), id)
			if err != nil {
				return fmt.Errorf("org show: %w", err)
			}
			return w.answer(c, o, func(out io.Writer) {
				if o.OutOfService != "" {
					fmt.Fprintf(out, "Organization %s\nName         %s\nSlug         %s\nCreated      %s\nOUT OF SERVICE: %s\n",
						o.OrgID, o.Name, o.Slug, o.CreatedAt, o.OutOfService)
					return
				}
				fmt.Fprintf(out, "Organization %s\nName         %s\nSlug         %s\nPersonal     %t\nPlan         %s\nMembers   "+
					"   %d\nSubjects     %d\nCreated      %s\n",
					o.OrgID, o.Name, o.Slug, o.Personal, o.Plan, o.Members, o.Subjects, o.CreatedAt)
			})
		},
	}
}

func newOrgSetPlan(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "set-plan ORG PLAN", Short: "Change the rate limits: free, standard, scale or unlimited", Args: wantArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			id, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			if err := operator.SetPlan(c.Context(), id, args[1]); err != nil {
				return fmt.Errorf("org set-plan: %w", err)
			}
			return w.answer(c, map[string]string{"orgId": id.String(), "plan": args[1]}, func(out io.Writer) {
				fmt.Fprintf(out, "Organization %s is on plan %s.\n", id, args[1])
			})
		},
	}
}

func newOrgDelete(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "delete ORG", Short: "Remove an organization and everything in it, for good", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			id, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			if err := operator.DeleteOrg(c.Context(), id); err != nil {
				return fmt.Errorf("org delete: %w", err)
			}
			return w.answer(c, map[string]any{"orgId": id.String(), "deleted": true}, func(out io.Writer) {
				fmt.Fprintf(out, "Organization %s is removed.\n", id)
			})
		},
	}
}

// listed is how lists look with --json: one object, always an array inside.
func listed[T any](rows []T) any {
	if rows == nil {
		rows = []T{}
	}
	return map[string][]T{"data": rows}
}

// table prints rows in columns separated by tabs.
func table[T any](out io.Writer, head string, rows []T, row func(T) string) {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, head)
	for _, r := range rows {
		fmt.Fprintln(t, row(r))
	}
	t.Flush() //nolint:errcheck // the writer below reports its own failure on the next line printed
}

// required makes flags mandatory. cobra's own mark is not used, since its error
// cannot be distinguished from a failure of the command.
func required(c *cobra.Command, names ...string) {
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		for _, name := range names {
			if !c.Flags().Changed(name) {
				return fmt.Errorf("%w: %s needs --%s", errUsage, c.CommandPath(), name)
			}
		}
		return nil
	}
}
