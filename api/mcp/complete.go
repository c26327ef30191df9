package mcp

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	pb "orgmem/proto"
	"orgmem/proto/canon"
)

const (
	// maxCompletions is the protocol's own bound of what one answer suggests.
	maxCompletions = 100
	// sessionsRead are the latest sessions whose folders are suggested: one page, since a
	// client asks again for each letter.
	sessionsRead = 100
	// maxFolder bounds the bytes of one.
	maxFolder = 4 << 10
)

// budgets are suggested for maxTokens.
var budgets = []int{500, 1000, 1500, 3000, 6000, 12000, 32000}

// Complete suggests values of an argument that begin with what was typed. It keeps nothing:
// each request is answered from what the memory holds then.
type Complete func(context.Context, *sdk.CompleteRequest) (*sdk.CompleteResult, error)

// completed are the arguments of each prompt and template.
var completed = map[string][]string{
	"start_session": {"cwd"},
	"with_memory":   {"prompt", "maxTokens"},
	viewTemplate:    {"view", "asOf"},
	nodeTemplate:    {"id"},
}

// complete suggests for the arguments that a person would otherwise have to know by heart: the
// view and the time of memory://recall, the folder of start_session, the budget of with_memory.
// For all others, a prompt's own text and a node's id, there is nothing to choose from.
func complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	s, err := sessionOf(ctx)
	if err != nil {
		return nil, err
	}
	of, argument := r.Params.Ref.Name+r.Params.Ref.URI, r.Params.Argument
	if !slices.Contains(completed[of], argument.Name) {
		return nil, badPrompt("there is no such argument")
	}
	var values []string
	switch argument.Name {
	case "view":
		for _, v := range recallViews {
			values = append(values, v.name)
		}
	case "asOf":
		if r.Params.Context == nil || r.Params.Context.Arguments["view"] != pb.RecallIdentity { // which is of now
			values = s.days()
		}
	case "cwd":
		if values, err = s.folders(ctx); err != nil {
			return nil, protocolError(err)
		}
	case "maxTokens":
		for _, n := range budgets {
			values = append(values, strconv.Itoa(n))
		}
	}
	return suggested(argument.Value, values), nil
}

// suggested are the values that begin with what was typed, each once, within the bound.
func suggested(typed string, values []string) *sdk.CompleteResult {
	fits := []string{}
	for _, v := range values {
		if strings.HasPrefix(strings.ToLower(v), strings.ToLower(typed)) && !slices.Contains(fits, v) {
			fits = append(fits, v)
		}
	}
	shown := fits[:min(len(fits), maxCompletions)]
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{
		Values: shown, Total: len(fits), HasMore: len(fits) > len(shown),
	}}
}

// days are moments to look back at: today's begin, a week ago, and the begins of the last twelve months.
func (s *session) days() []string {
	const day = time.RFC3339
	now := s.Clock.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	first := today.AddDate(0, 0, 1-today.Day())
	out := []string{today.Format(day), today.AddDate(0, 0, -7).Format(day)}
	for back := range 12 {
		out = append(out, first.AddDate(0, -back, 0).Format(day))
	}
	return out
}

// folders are those of the latest sessions that the memory holds, the latest first.
func (s *session) folders(ctx context.Context) ([]string, error) {
	var page struct{ Data []struct{ Cwd string } }
	path := "/v1/recall/sessions?" + url.Values{"pageSize": {strconv.Itoa(sessionsRead)}}.Encode()
	if err := get(ctx, s, path, &page); err != nil {
		return nil, err
	}
	var out []string
	for _, one := range page.Data {
		if cwd := canon.Prefix(canon.Seen(one.Cwd), maxFolder); cwd != "" {
			out = append(out, cwd)
		}
	}
	return out, nil
}

// mayComplete reports whether anything that the key may use has arguments to complete.
func mayComplete(scopes []string) bool { return slices.Contains(scopes, pb.ScopeRead) }
