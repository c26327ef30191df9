package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"orgmem/cmd/orgmem/internal/config"
	"orgmem/cmd/orgmem/internal/doctor"
)

// report is what `orgmem doctor` prints. Server is the running server's own
// report, absent when none answers.
type report struct {
	Version string          `json:"version"`
	Config  []config.Value  `json:"config"`
	Checks  []doctor.Check  `json:"checks"`
	Server  json.RawMessage `json:"server,omitempty"`
}

func newDoctor(w world) *cobra.Command {
	var (
		settings settingFlags
		at       operatorFlags
	)
	c := &cobra.Command{
		Use: "doctor", Short: "Show the effective configuration and what is wrong with it and the machine", Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			server, values, invalid := settings.load(c, w)
			at.data = server.Data
			if at.address == "" {
				at.address = "http://" + server.OperatorListen
			}
			checks, serverAnswers := doctor.Examine(c.Context(), doctor.Patient{
				Server: server, Invalid: invalid, Environ: w.environ(), Kernel: kernelName(), Now: w.clock.Now(),
			})
			r := report{Version: version, Config: values, Checks: checks}
			if serverAnswers {
				r.Checks, r.Server = askServer(c, w, at, checks)
			}
			if err := w.answer(c, r, func(out io.Writer) { printReport(out, r) }); err != nil {
				return err
			}
			for _, check := range r.Checks {
				if !check.OK {
					return errSilent
				}
			}
			return nil
		},
	}
	settings.register(c)
	c.Flags().StringVar(&at.address, "operator", w.env(config.EnvOperator, ""),
		"address of the operator interface (default: operator-listen)")
	c.Flags().StringVar(&at.tokenFile, "operator-token", w.env(config.EnvOperatorToken, ""),
		"file with the operator's token (default: operator.token in --data)")
	return c
}

// askServer adds the running server's report, if the token is at hand.
func askServer(c *cobra.Command, w world, at operatorFlags, checks []doctor.Check) ([]doctor.Check, json.RawMessage) {
	operator, err := at.client(w)
	if err == nil {
		var own json.RawMessage
		if own, err = operator.Doctor(c.Context()); err == nil {
			return append(checks, doctor.Check{Name: "operator token", OK: true, Detail: "accepted"}), own
		}
	}
	return append(checks, doctor.Check{Name: "operator token", Detail: err.Error()}), nil
}

func printReport(out io.Writer, r report) {
	fmt.Fprintf(out, "orgmem %s\n\n", r.Version)
	table(out, "SETTING\tVALUE\tFROM", r.Config, func(v config.Value) string {
		return v.Name + "\t" + v.Value + "\t" + string(v.Origin)
	})
	fmt.Fprintln(out)
	table(out, "CHECK\t\tFINDING", r.Checks, func(check doctor.Check) string {
		verdict := "ok"
		if !check.OK {
			verdict = "WRONG"
		}
		return check.Name + "\t" + verdict + "\t" + check.Detail
	})
}
