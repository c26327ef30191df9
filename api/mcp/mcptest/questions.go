package mcptest

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// What the protocol of 2026-07-28 calls a result that needs input: an answer that asks the
// client something, and a second call that brings what it said, with a state that the server
// gave it to keep. It needs no session, so a server without any can do it.

// asked is what a client answers to a tool or a prompt.
type asked struct {
	responses sdk.InputResponseMap
	state     string
	client    *sdk.ClientCapabilities
}

// form is what a user accepted; nil where nothing was, or not under this name.
func (a asked) form(name string) map[string]any {
	if said, ok := a.responses[name].(*sdk.ElicitResult); ok && said != nil && said.Action == "accept" {
		return said.Content
	}
	return nil
}

func (a asked) field(name, field string) string {
	value, _ := a.form(name)[field].(string)
	return value
}

// sampled is what the client's model said.
func (a asked) sampled(name string) (string, bool) {
	said, ok := a.responses[name].(*sdk.CreateMessageWithToolsResult)
	if !ok || said == nil {
		return "", false
	}
	var b strings.Builder
	for _, content := range said.Content {
		if t, ok := content.(*sdk.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String(), true
}

func (a asked) roots(name string) (int, bool) {
	said, ok := a.responses[name].(*sdk.ListRootsResult)
	if !ok || said == nil {
		return 0, false
	}
	return len(said.Roots), true
}

// reply is a text that ends a tool, or what it needs before.
type reply struct {
	text  string
	needs sdk.InputRequestMap
	state string
}

func formOf(message, field, kind string) *sdk.ElicitParams {
	return &sdk.ElicitParams{Message: message, RequestedSchema: map[string]any{
		"type": "object", "properties": map[string]any{field: map[string]any{"type": kind}}, "required": []string{field},
	}}
}

func sampleOf(prompt string) *sdk.CreateMessageParams {
	return &sdk.CreateMessageParams{
		MaxTokens: 100, Messages: []*sdk.SamplingMessage{{Role: "user", Content: text(prompt)}},
	}
}

func askName() *sdk.ElicitParams { return formOf("What is your name?", "name", "string") }

// questions are the suite's tools that ask, by the end of their names.
var questions = map[string]func(asked) (reply, error){
	"elicitation": func(a asked) (reply, error) {
		if name := a.field("user_name", "name"); name != "" {
			return reply{text: "Hello, " + name + "!"}, nil
		}
		return reply{needs: sdk.InputRequestMap{"user_name": askName()}}, nil
	},
	"sampling": func(a asked) (reply, error) {
		if said, ok := a.sampled("capital_question"); ok {
			return reply{text: "The model said: " + said}, nil
		}
		return reply{needs: sdk.InputRequestMap{"capital_question": sampleOf("What is the capital of France?")}}, nil
	},
	"list_roots": func(a asked) (reply, error) {
		if n, ok := a.roots("client_roots"); ok {
			return reply{text: fmt.Sprintf("%d roots", n)}, nil
		}
		return reply{needs: sdk.InputRequestMap{"client_roots": &sdk.ListRootsParams{}}}, nil
	},
	"request_state":  confirm,
	"tampered_state": confirm,
	"multiple_inputs": func(a asked) (reply, error) {
		greeting, greeted := a.sampled("greeting")
		n, rooted := a.roots("client_roots")
		if name := a.field("user_name", "name"); name != "" && greeted && rooted {
			return reply{text: fmt.Sprintf("%s %s, %d roots", greeting, name, n)}, nil
		}
		return reply{needs: sdk.InputRequestMap{
			"user_name": askName(), "greeting": sampleOf("Generate a greeting"), "client_roots": &sdk.ListRootsParams{},
		}, state: sealed(nil)}, nil
	},
	"multi_round":  rounds,
	"capabilities": withinCapabilities,
}

// confirm believes an answer only with the state that was given out for it.
func confirm(a asked) (reply, error) {
	if a.state != "" {
		if _, err := opened(a.state); err != nil {
			return reply{}, err
		}
		if a.form("confirm") != nil {
			return reply{text: "state-ok"}, nil
		}
	}
	return reply{
		needs: sdk.InputRequestMap{"confirm": formOf("Please confirm", "ok", "boolean")}, state: sealed(nil),
	}, nil
}

// rounds asks twice; what the first answer was is in the state, since nothing is kept here.
func rounds(a asked) (reply, error) {
	if a.state == "" {
		return reply{
			needs: sdk.InputRequestMap{"step1": formOf("Step 1: What is your name?", "name", "string")}, state: sealed(nil),
		}, nil
	}
	known, err := opened(a.state)
	if err != nil {
		return reply{}, err
	}
	if name := a.field("step1", "name"); name != "" {
		return reply{
			needs: sdk.InputRequestMap{"step2": formOf("Step 2: What is your favorite color?", "color", "string")},
			state: sealed([]string{name}),
		}, nil
	}
	if color := a.field("step2", "color"); color != "" && len(known) == 1 {
		return reply{text: known[0] + " likes " + color}, nil
	}
	return reply{}, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "no answer to what was asked"}
}

// withinCapabilities asks for no more than the client has said that it can.
func withinCapabilities(a asked) (reply, error) {
	if len(a.responses) > 0 {
		return reply{text: "done"}, nil
	}
	needs := sdk.InputRequestMap{}
	if a.client != nil && a.client.Elicitation != nil {
		needs["user_name"] = askName()
	}
	if a.client != nil && a.client.Sampling != nil {
		needs["greeting"] = sampleOf("Generate a greeting")
	}
	if a.client != nil && a.client.RootsV2 != nil {
		needs["client_roots"] = &sdk.ListRootsParams{}
	}
	if len(needs) == 0 {
		return reply{text: "the client can be asked nothing"}, nil
	}
	return reply{needs: needs}, nil
}

// sealKey signs states. They live for one test.
var sealKey = []byte("a key of tests, which protects nothing")

func seal(body []byte) []byte {
	mac := hmac.New(sha256.New, sealKey)
	mac.Write(body)
	return mac.Sum(nil)
}

// sealed is a state that a client cannot change unseen.
func sealed(known []string) string {
	body, err := json.Marshal(known)
	if err != nil { // texts become JSON
		return ""
	}
	return base64.RawURLEncoding.EncodeToString(append(seal(body), body...))
}

func opened(state string) (known []string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(raw) < sha256.Size || !hmac.Equal(raw[:sha256.Size], seal(raw[sha256.Size:])) ||
		json.Unmarshal(raw[sha256.Size:], &known) != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the state is not one of this server's"}
	}
	return known, nil
}

func addQuestions(server *sdk.Server) {
	for name, ask := range questions {
		addTool(server, "test_input_required_result_"+name, anything,
			func(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
				said, err := ask(asked{r.Params.InputResponses, r.Params.RequestState, r.ClientCapabilities()})
				if err != nil {
					return nil, err
				}
				if said.needs != nil {
					return &sdk.CallToolResult{InputRequests: said.needs, RequestState: said.state}, nil
				}
				return &sdk.CallToolResult{Content: []sdk.Content{text(said.text)}}, nil
			})
	}
	server.AddPrompt(&sdk.Prompt{Name: "test_input_required_result_prompt", Description: "Made up for a test"},
		func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			said := asked{responses: r.Params.InputResponses}.field("user_context", "context")
			if said == "" {
				return &sdk.GetPromptResult{InputRequests: sdk.InputRequestMap{
					"user_context": formOf("Please provide context for the prompt", "context", "string"),
				}}, nil
			}
			return &sdk.GetPromptResult{Messages: []*sdk.PromptMessage{{Role: "user", Content: text("Context: " + said)}}}, nil
		})
}
