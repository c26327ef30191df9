package config

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
)

// setTracesEndpoint takes the address of a collector. The configuration is shown to operators, so what is secret of an
// address must not stand in it.
func setTracesEndpoint(s *Server, v string) error {
	if v == "" {
		return nil
	}
	u, err := url.Parse(v)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return fmt.Errorf("%q is not an absolute http or https address", v)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return errors.New("has a user, a query or a fragment; what the collector wants to know goes into traces-headers-file")
	case len(v) > maxPath:
		return fmt.Errorf("is longer than %d bytes", maxPath)
	}
	s.TracesEndpoint = v
	return nil
}

func setRatio(into *float64, v string) error {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f <= 1) { // which no NaN is
		return fmt.Errorf("%q is not a number from 0 to 1", v)
	}
	*into = f
	return nil
}

func setBool(into *bool, v string) error {
	if v != "true" && v != "false" {
		return fmt.Errorf("%q is neither true nor false", v)
	}
	*into = v == "true"
	return nil
}
