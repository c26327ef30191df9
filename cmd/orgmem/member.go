package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/client"
	pb "orgmem/proto"
)

func newMember(w world) *cobra.Command {
	var at operatorFlags
	c := group("member", "Manage an organization's human members (operator)",
		newMemberAdd(w, &at), newMemberList(w, &at), newMemberRemove(w, &at))
	at.register(w, c)
	return c
}

func newMemberAdd(w world, at *operatorFlags) *cobra.Command {
	var order client.NewMember
	c := &cobra.Command{
		Use: "add ORG", Short: "Add a member", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			org, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			m, err := operator.AddMember(c.Context(), org, order)
			if err != nil {
				return fmt.Errorf("member add: %w", err)
			}
			return w.answer(c, map[string]string{"userId": m.UserID}, func(out io.Writer) {
				fmt.Fprintf(out, "Member %s (%s, %s)\n\nNext: orgmem key create %s --user %s --scopes read,write --label NAME\n",
					m.UserID, m.Email, m.Role, org, m.UserID)
			})
		},
	}
	c.Flags().StringVar(&order.Email, "email", "", "e-mail address")
	c.Flags().StringVar(&order.Role, "role", pb.RoleMember, "owner, admin or member")
	required(c, "email")
	return c
}

func newMemberList(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "list ORG", Short: "List members", Args: wantArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			org, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			members, err := operator.Members(c.Context(), org)
			if err != nil {
				return fmt.Errorf("member list: %w", err)
			}
			return w.answer(c, listed(members), func(out io.Writer) {
				table(out, "ID\tROLE\tEMAIL\tCREATED", members, func(m client.Member) string {
					return fmt.Sprintf("%s\t%s\t%s\t%s", m.UserID, m.Role, m.Email, m.CreatedAt)
				})
			})
		},
	}
}

func newMemberRemove(w world, at *operatorFlags) *cobra.Command {
	return &cobra.Command{
		Use: "remove ORG USER", Short: "Remove a member and their keys", Args: wantArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			operator, err := at.client(w)
			if err != nil {
				return err
			}
			org, err := organization(c.Context(), operator, args[0])
			if err != nil {
				return err
			}
			user, err := userID(args[1])
			if err != nil {
				return err
			}
			if err := operator.RemoveMember(c.Context(), org, user); err != nil {
				return fmt.Errorf("member remove: %w", err)
			}
			return w.answer(c, map[string]any{"userId": user.String(), "removed": true}, func(out io.Writer) {
				fmt.Fprintf(out, "Member %s is removed.\n", user)
			})
		},
	}
}

func userID(arg string) (pb.UserID, error) {
	user, err := pb.ParseUserID(arg)
	if err != nil {
		return user, fmt.Errorf("%w: %q is not a user id; see orgmem member list", errUsage, arg)
	}
	return user, nil
}
