package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	pb "orgmem/proto"
	"orgmem/proto/canon"
)

// tool is one tool: what is said of it, which scope lists it, and what it does. Schemas are
// written by hand, because every word of them is read by a model in every conversation.
type tool struct {
	name, description string
	// scopes of which any one lists the tool; none: every key does.
	scopes []string
	// input is an object's properties, and which of them are required.
	input    string
	required []string
	output   string
	// needs are the fields that every answer has.
	needs                             []string
	writes, destroys, repeatsHarmless bool
	// plain answers quote nothing from memory.
	plain bool
	// long arguments may be as large as a message.
	long bool
	read func(arguments json.RawMessage) (action, error)
}

// action is a call whose arguments were read.
type action func(ctx context.Context, s *session) (any, error)

// tools in the order of their names, as tools/list sends them.
var tools = []tool{
	{
		name: "add_memory",
		description: "Store one text in long-term memory. Repeating it is harmless. " +
			"While pending, it is not found yet.",
		scopes: []string{pb.ScopeWrite},
		input: `"content":{"type":"string"},"title":{"type":"string"},` +
			`"externalId":{"type":"string","description":"Your id; new text under it replaces the old"},` +
			`"kind":{"enum":["document","belief","preference","event"]},` +
			`"occurredAt":{"type":"string","description":"RFC 3339"}`,
		required: []string{"content"},
		output:   `"status":{"type":"string"},"nodeId":{"type":"string"},"jobId":{"type":"string"}`,
		needs:    []string{"status"},
		writes:   true, repeatsHarmless: true, plain: true, long: true, read: typed(addMemory),
	},
	{
		name:        "forget_memory",
		description: "Erase a memory's content. Only when the user asks.",
		scopes:      []string{pb.ScopeForget, pb.ScopeWrite},
		input:       `"nodeId":{"type":"string"}`,
		required:    []string{"nodeId"},
		output:      `"nodeId":{"type":"string"},"status":{"type":"string"}`,
		needs:       []string{"nodeId", "status"},
		writes:      true, destroys: true, repeatsHarmless: true, plain: true, read: typed(forgetMemory),
	},
	{
		name:        "get_context",
		description: "What memory knows about a task, within a token budget. Call it before one.",
		scopes:      []string{pb.ScopeRead},
		input:       `"query":{"type":"string"},"maxTokens":{"type":"integer","minimum":200,"maximum":8000,"default":1500}`,
		required:    []string{"query"},
		output: `"passages":{"type":"array"},"about":{"type":"array"},"contradictions":{"type":"array"},` +
			`"omitted":{"type":"integer"}`,
		needs: []string{"passages"},
		read:  typed(getContext),
	},
	{
		name:        "get_memory",
		description: "Read one memory in full.",
		scopes:      []string{pb.ScopeRead},
		input:       `"nodeId":{"type":"string"},"offset":{"type":"integer","description":"nextOffset of a long text"}`,
		required:    []string{"nodeId"},
		output: `"nodeId":{"type":"string"},"content":{"type":"string"},"status":{"type":"string"},` +
			`"nextOffset":{"type":"integer"}`,
		needs: []string{"nodeId", "status"},
		read:  typed(getMemory),
	},
	{
		name:        "list_contradictions",
		description: "Memories that contradict each other. Ask the user which one holds.",
		scopes:      []string{pb.ScopeRead},
		input:       `"limit":{"type":"integer","minimum":1,"maximum":50},"cursor":{"type":"string"}`,
		output:      `"contradictions":{"type":"array"},"nextCursor":{"type":"string"}`,
		needs:       []string{"contradictions"},
		read:        typed(listContradictions),
	},
	{
		name:        "memory_status",
		description: "Whose memory this is, what the key may do, how much is stored.",
		output:      `"organization":{"type":"string"},"scopes":{"type":"array"},"nodes":{"type":"integer"}`,
		needs:       []string{"organization", "scopes"},
		read:        typed(memoryStatus),
	},
	{
		name:        "recall",
		description: "A view of all memory: who the user is, topics, insights, or what happens when.",
		scopes:      []string{pb.ScopeRead},
		input: `"view":{"enum":["identity","graph","insights","temporal"]},` +
			`"asOf":{"type":"string","description":"RFC 3339; not for identity"},` +
			`"limit":{"type":"integer","minimum":1,"maximum":200}`,
		required: []string{"view"},
		output:   `"items":{"type":"array"},"omitted":{"type":"integer"}`,
		needs:    []string{"items"},
		read:     typed(recall),
	},
	{
		name:        "search_memory",
		description: "Find memories by meaning and by word, best first.",
		scopes:      []string{pb.ScopeRead},
		input: `"query":{"type":"string"},"limit":{"type":"integer","minimum":1,"maximum":20},` +
			`"scope":{"enum":["user","org"]}`,
		required: []string{"query"},
		output: `"hits":{"type":"array","items":{"type":"object","properties":` +
			`{"nodeId":{"type":"string"},"text":{"type":"string"},"score":{"type":"number"}}}}`,
		needs: []string{"hits"},
		read:  typed(searchMemory),
	},
}

// ToolNames are the names of all tools, in order.
func ToolNames() []string {
	names := make([]string, 0, len(tools))
	for i := range tools {
		names = append(names, tools[i].name)
	}
	return names
}

// CheckTools says what is wrong with an allow-list of tools.
func CheckTools(names []string) error {
	for _, name := range names {
		if !slices.Contains(ToolNames(), name) {
			return fmt.Errorf("%q is no tool: there are %s", name, strings.Join(ToolNames(), ", "))
		}
	}
	return nil
}

// defined is a tool as the SDK and the checks of arguments want it.
type defined struct {
	*tool
	said      *sdk.Tool
	arguments *jsonschema.Resolved
}

// define reads the schemas.
func define(t *tool) (defined, error) {
	input, err := schema(t.input, t.required)
	if err != nil {
		return defined{}, fmt.Errorf("input schema of %s: %w", t.name, err)
	}
	output, err := schema(t.output, t.needs)
	if err != nil {
		return defined{}, fmt.Errorf("output schema of %s: %w", t.name, err)
	}
	resolved, err := input.Resolve(nil)
	if err != nil {
		return defined{}, fmt.Errorf("input schema of %s: %w", t.name, err)
	}
	closedWorld := false
	hints := &sdk.ToolAnnotations{
		ReadOnlyHint: !t.writes, IdempotentHint: !t.writes || t.repeatsHarmless, OpenWorldHint: &closedWorld,
	}
	if t.writes { // of a tool that only reads it would say nothing
		hints.DestructiveHint = &t.destroys
	}
	return defined{t, &sdk.Tool{
		Name: t.name, Description: t.description, InputSchema: input, OutputSchema: output, Annotations: hints,
	}, resolved}, nil
}

func schema(properties string, required []string) (*jsonschema.Schema, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{`+properties+`}}`), &s); err != nil {
		return nil, err
	}
	s.Required = required
	return &s, nil
}

// allowed reports whether a key with these scopes may use the tool.
func (t *tool) allowed(scopes []string) bool {
	return len(t.scopes) == 0 || slices.ContainsFunc(t.scopes, func(scope string) bool {
		return slices.Contains(scopes, scope)
	})
}

// typed reads arguments into a type of their own, which has a place for what the schema
// knows and no other.
func typed[In any](run func(context.Context, *session, In) (any, error)) func(json.RawMessage) (action, error) {
	return func(arguments json.RawMessage) (action, error) {
		var in In
		decoder := json.NewDecoder(bytes.NewReader(arguments))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			return nil, err
		}
		return func(ctx context.Context, s *session) (any, error) { return run(ctx, s, in) }, nil
	}
}

// prepare reads and checks arguments. The typed reading comes first: what passes it is flat,
// so that the second one, as the schema wants it, cannot make many values of a few bytes.
func (d defined) prepare(arguments json.RawMessage) (action, error) {
	if !d.long && len(arguments) > maxArguments {
		return nil, fmt.Errorf("the arguments are %d bytes, and may be %d", len(arguments), maxArguments)
	}
	run, err := d.read(arguments)
	if err != nil {
		return nil, err
	}
	var instance any
	if err := json.Unmarshal(arguments, &instance); err != nil {
		return nil, err
	}
	return run, d.arguments.Validate(instance)
}

// badArguments is the refusal of arguments that do not fit the tool's schema. The error
// names fields and types, and quotes values of the caller's own.
func badArguments(err error) *refusal {
	detail := canon.Prefix(strings.TrimPrefix(err.Error(), "json: "), 400)
	return &refusal{
		Code: codeArguments, Detail: detail, Next: "Correct the arguments as the input schema says, and call again.",
	}
}

// call runs a tool, and makes its answer or refusal what the protocol carries.
func (s *session) call(ctx context.Context, d defined, arguments json.RawMessage) (*sdk.CallToolResult, error) {
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = json.RawMessage("{}")
	}
	run, err := d.prepare(arguments)
	taken := 0
	if err == nil && s.Redact != nil {
		if arguments, taken, err = s.cleanArguments(arguments); err != nil {
			return nil, err
		}
		run, err = d.read(arguments)
	}
	if err != nil {
		return refused(badArguments(err))
	}
	answer, err := s.answer(ctx, d, run, taken)
	if err == nil {
		sayTakenOut(answer, taken)
	}
	return answer, err
}

// answer runs a tool out of whose arguments so many secrets were taken.
func (s *session) answer(ctx context.Context, d defined, run action, taken int) (*sdk.CallToolResult, error) {
	answer, err := run(ctx, s)
	if err != nil {
		return refused(err)
	}
	structured, err := encode(answer)
	if err != nil {
		return nil, err
	}
	structured = withCount(structured, taken)
	said := string(structured)
	if !d.plain {
		if said, err = quoted(s.Random, structured); err != nil {
			return nil, err
		}
	}
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: said}}, StructuredContent: json.RawMessage(structured),
	}, nil
}

// refused is a refusal as the answer of a tool. What is no refusal is a fault of ours, and
// an error of the protocol.
func refused(err error) (*sdk.CallToolResult, error) {
	r, ok := err.(*refusal) //nolint:errorlint // never wrapped: it is made where it is returned
	if !ok {
		return nil, err
	}
	said, err := encode(struct {
		Error *refusal `json:"error"`
	}{r})
	if err != nil {
		return nil, err
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(said)}}, IsError: true}, nil
}
