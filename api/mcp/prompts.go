package mcp

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	pb "orgmem/proto"
)

// addPrompts adds what conditions a model: before a session, and before one prompt.
func addPrompts(server *sdk.Server, scopes []string) {
	if !slices.Contains(scopes, pb.ScopeRead) {
		return
	}
	server.AddPrompt(&sdk.Prompt{
		Name: "start_session", Description: "What memory knows for a session in a folder: who works there, what was recent",
		Arguments: []*sdk.PromptArgument{{Name: "cwd", Description: "The folder", Required: true}},
	}, prompted((*session).startSession))
	server.AddPrompt(&sdk.Prompt{
		Name: "with_memory", Description: "A prompt, behind the passages of memory that are about it",
		Arguments: []*sdk.PromptArgument{
			{Name: "prompt", Description: "The prompt", Required: true},
			{Name: "maxTokens", Description: "How long it may become, 1 to 32000; 1500 where it is left out"},
		},
	}, prompted((*session).withMemory))
}

// prompted finds who asks.
func prompted(
	run func(*session, context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error),
) sdk.PromptHandler {
	return func(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
		s, err := sessionOf(ctx)
		if err != nil {
			return nil, err
		}
		return run(s, ctx, r)
	}
}

// sessionPack is the answer of the session's conditioning, with what it quotes.
type sessionPack struct {
	Note         string `json:"note"`
	SystemPrompt text   `json:"about"`
	VoiceHint    text   `json:"voiceHint,omitempty"`
	Recent       []text `json:"recent"`
}

func (s *session) startSession(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	cwd, taken := s.clean(r.Params.Arguments["cwd"])
	if cwd == "" {
		return nil, badPrompt("cwd is missing")
	}
	who := s.who
	if who.Org.ID == "" { // the service could not be asked when the session began
		if err := ask(ctx, s, WhoAmI(), &who); err != nil {
			return nil, protocolError(err)
		}
	}
	var answer struct {
		SystemPrompt, UserVoiceHint string
		OrgRecentContext            []string
	}
	body := map[string]string{"orgId": who.Org.ID, "userId": who.User.ID, "cwd": cwd}
	if err := post(ctx, s, "/v1/condition/session", body, "", &answer); err != nil {
		return nil, protocolError(err)
	}
	pack := sessionPack{Note: note, SystemPrompt: text(answer.SystemPrompt), VoiceHint: text(answer.UserVoiceHint)}
	for _, recent := range answer.OrgRecentContext {
		pack.Recent = append(pack.Recent, passage(recent))
	}
	said, err := s.quotation(pack)
	if err != nil {
		return nil, err
	}
	return userPrompt(said, taken), nil
}

// withMemory puts what memory knows before a prompt. What the service answers ends with the
// prompt itself, which is the user's own word; what stands before it is quoted. What was
// taken out of the prompt for the service stays in that which the user gets back.
func (s *session) withMemory(ctx context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
	prompt := r.Params.Arguments["prompt"]
	if strings.TrimSpace(prompt) == "" {
		return nil, badPrompt("prompt is missing")
	}
	sent, taken := s.clean(prompt)
	body := map[string]any{"prompt": sent}
	if given := r.Params.Arguments["maxTokens"]; given != "" {
		n, err := strconv.Atoi(given)
		if err != nil {
			return nil, badPrompt("maxTokens is no number")
		}
		body["maxTokens"] = n
	}
	var answer struct{ Prompt string }
	if err := post(ctx, s, "/v1/condition/scaffold", body, "", &answer); err != nil {
		return nil, protocolError(err)
	}
	passages, found := strings.CutSuffix(answer.Prompt, sent)
	passages = strings.TrimSpace(passages)
	if !found || passages == "" {
		return userPrompt(prompt, taken), nil
	}
	said, err := s.quotation(text(passages))
	if err != nil {
		return nil, err
	}
	return userPrompt(said+"\n\n"+prompt, taken), nil
}

// quotation is what memory says as text between marks.
func (s *session) quotation(v any) (string, error) {
	raw, err := encode(v)
	if err != nil {
		return "", err
	}
	return quoted(s.Random, raw)
}

// userPrompt is the prompt; what was taken out of its arguments is said in a message before it.
func userPrompt(said string, taken int) *sdk.GetPromptResult {
	messages := []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: said}}}
	if taken > 0 {
		notice := &sdk.PromptMessage{Role: "user", Content: &sdk.TextContent{Text: takenOut(taken)}}
		messages = []*sdk.PromptMessage{notice, messages[0]}
	}
	return &sdk.GetPromptResult{Messages: messages}
}

func badPrompt(why string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why}
}

// protocolError is a refusal as an error of the protocol: prompts and resources have no other way to fail.
func protocolError(err error) error {
	var r *refusal
	if !errors.As(err, &r) {
		return err
	}
	code := int64(jsonrpc.CodeInternalError)
	if r.status >= 400 && r.status < 500 {
		code = jsonrpc.CodeInvalidParams
	}
	return &jsonrpc.Error{Code: code, Message: r.Error() + " " + r.Next}
}
