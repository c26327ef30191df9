package mcptest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Source is a mcp.Source of what the suite's scenarios call, for keys with any scopes.
func Source(server *sdk.Server, _ []string) {
	for name, content := range contents {
		addTool(server, name, anything, func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
			return &sdk.CallToolResult{Content: content}, nil
		})
	}
	addTool(server, "test_error_handling", anything, fails)
	addTool(server, "test_tool_with_progress", anything, reports)
	addTool(server, "test_missing_capability", anything, needsSampling)
	addTool(server, "test_streaming_elicitation", anything, asksBack)
	addTool(server, "test_logging_tool", anything, logs)
	addTool(server, "json_schema_2020_12_tool", schemaOf2020, says("called"))
	addTool(server, "test_x_mcp_header", mirrored, says("called"))
	addQuestions(server)
	addResources(server)
	addPrompts(server)
}

type toolHandler = func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error)

// anything is the schema of a tool without arguments.
const anything = `{"type":"object"}`

func addTool(server *sdk.Server, name, schema string, handler toolHandler) {
	server.AddTool(&sdk.Tool{
		Name: name, Description: "Made up for a test", InputSchema: json.RawMessage(schema),
	}, handler)
}

// says is a tool that answers with a text.
func says(format string, args ...any) toolHandler {
	return func(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		return said(format, args...), nil
	}
}

func said(format string, args ...any) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{text(fmt.Sprintf(format, args...))}}
}

func text(s string) sdk.Content { return &sdk.TextContent{Text: s} }

func picture() sdk.Content { return &sdk.ImageContent{Data: pixel, MIMEType: "image/png"} }

func embedded(uri string) sdk.Content {
	return &sdk.EmbeddedResource{Resource: &sdk.ResourceContents{
		URI: uri, MIMEType: "text/plain", Text: "This is an embedded resource content.",
	}}
}

// contents are what the tools answer that the suite calls for each kind of content.
var contents = map[string][]sdk.Content{
	"test_simple_text":            {text("This is a simple text response for testing.")},
	"test_image_content":          {picture()},
	"test_audio_content":          {&sdk.AudioContent{Data: silence, MIMEType: "audio/wav"}},
	"test_embedded_resource":      {embedded("test://embedded-resource")},
	"test_multiple_content_types": {text("Several kinds:"), picture(), embedded("test://mixed-content-resource")},
}

// pixel is a picture of one red pixel.
var pixel = func() []byte {
	one := image.NewRGBA(image.Rect(0, 0, 1, 1))
	one.Set(0, 0, color.RGBA{R: 0xff, A: 0xff})
	var out bytes.Buffer
	if err := png.Encode(&out, one); err != nil { // a buffer takes everything
		return nil
	}
	return out.Bytes()
}()

// silence is one sample of sound: a header of RIFF and two bytes.
var silence = []byte("RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x80\x3e\x00\x00" +
	"\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00")

func fails(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	var result sdk.CallToolResult
	result.SetError(errors.New("this tool intentionally returns an error for testing"))
	return &result, nil
}

// reports tells how far it has come, three times.
func reports(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	for _, progress := range []float64{0, 50, 100} {
		if err := r.Session.NotifyProgress(ctx, &sdk.ProgressNotificationParams{
			ProgressToken: r.Params.GetProgressToken(), Progress: progress, Total: 100,
		}); err != nil {
			return nil, err
		}
	}
	return said("done"), nil
}

// asksBack tries what a server without sessions must not do: to ask the client in the middle of
// a call. The suite looks that nothing of it leaves.
func asksBack(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if _, err := r.Session.Elicit(ctx, askName()); err == nil {
		return nil, errors.New("a server without sessions has asked the client")
	}
	return said("done"), nil
}

// logs tries to log to a client that has not asked for logs. The suite looks that nothing of
// it leaves.
func logs(ctx context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if err := r.Session.Log(ctx, &sdk.LoggingMessageParams{Level: "info", Data: "called"}); err != nil {
		return nil, err
	}
	return said("done"), nil
}

// needsSampling can only work where the client lends its model.
func needsSampling(_ context.Context, r *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	if has := r.ClientCapabilities(); has != nil && has.Sampling != nil {
		return said("the client has it"), nil
	}
	data, err := json.Marshal(sdk.MissingRequiredClientCapabilityData{
		RequiredCapabilities: &sdk.ClientCapabilities{Sampling: &sdk.SamplingCapabilities{}},
	})
	if err != nil {
		return nil, err
	}
	return nil, &jsonrpc.Error{
		Code: sdk.CodeMissingRequiredClientCapabilities, Message: "the client lends no model", Data: data,
	}
}

// schemaOf2020 uses what came with JSON Schema 2020-12; a list of tools must show it as it is.
const schemaOf2020 = `{
	"$schema": "https://json-schema.org/draft/2020-12/schema",
	"type": "object",
	"$defs": {"address": {
		"$anchor": "addressDef", "type": "object",
		"properties": {"street": {"type": "string"}, "city": {"type": "string"}}
	}},
	"properties": {
		"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"},
		"contactMethod": {"type": "string", "enum": ["phone", "email"]},
		"phone": {"type": "string"}, "email": {"type": "string"}
	},
	"allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
	"if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
	"then": {"required": ["phone"]}, "else": {"required": ["email"]},
	"additionalProperties": false
}`

// mirrored has an argument that a client repeats in a header, Mcp-Param-Region.
const mirrored = `{"type": "object", "properties": {
	"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}
}}`

func addResources(server *sdk.Server) {
	add := func(uri, mimeType string, content sdk.ResourceContents) {
		server.AddResource(&sdk.Resource{URI: uri, Name: uri, Description: "Made up for a test", MIMEType: mimeType},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				read := content
				read.URI, read.MIMEType = uri, mimeType
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{&read}}, nil
			})
	}
	add("test://static-text", "text/plain", sdk.ResourceContents{Text: "This is the content of the static text resource."})
	add("test://static-binary", "image/png", sdk.ResourceContents{Blob: pixel})
	const prefix, suffix = "test://template/", "/data"
	server.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: prefix + "{id}" + suffix, Name: "template", Description: "Made up for a test",
		MIMEType: "application/json",
	}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		id := strings.TrimSuffix(strings.TrimPrefix(r.Params.URI, prefix), suffix)
		raw, err := json.Marshal(map[string]any{"id": id, "templateTest": true, "data": "Data for ID: " + id})
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{
			URI: r.Params.URI, MIMEType: "application/json", Text: string(raw),
		}}}, nil
	})
}

func addPrompts(server *sdk.Server) {
	add := func(name string, arguments []string, messages func(arguments map[string]string) []sdk.Content) {
		prompt := &sdk.Prompt{Name: name, Description: "Made up for a test"}
		for _, argument := range arguments {
			prompt.Arguments = append(prompt.Arguments, &sdk.PromptArgument{
				Name: argument, Description: "Made up for a test", Required: true,
			})
		}
		server.AddPrompt(prompt, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			result := &sdk.GetPromptResult{Description: "Made up for a test"}
			for _, content := range messages(r.Params.Arguments) {
				result.Messages = append(result.Messages, &sdk.PromptMessage{Role: "user", Content: content})
			}
			return result, nil
		})
	}
	add("test_simple_prompt", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{text("This is a simple prompt for testing.")}
	})
	add("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	})
	add("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []sdk.Content {
		return []sdk.Content{embedded(a["resourceUri"]), text("Please process the embedded resource above.")}
	})
	add("test_prompt_with_image", nil, func(map[string]string) []sdk.Content {
		return []sdk.Content{picture(), text("Please analyze the image above.")}
	})
}

// Complete is a mcp.Complete of what the suite asks to complete: the arguments of a prompt.
func Complete(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	values := []string{}
	for _, word := range []string{"paris", "park", "party"} {
		if strings.HasPrefix(word, r.Params.Argument.Value) {
			values = append(values, word)
		}
	}
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
