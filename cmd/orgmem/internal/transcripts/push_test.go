package transcripts

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"orgmem/cmd/orgmem/internal/client"
	"orgmem/cmd/orgmem/internal/plugin"
)

// memory is a service that knows events by their ids.
type memory struct {
	events    map[string]client.SessionEvent
	order     []client.SessionEvent
	signals   []client.AgentSignal
	calls     int
	finalized int
	lose      int // answer so many batches with an error after taking them
}

func (m *memory) PushSession(_ context.Context, events []client.SessionEvent) ([]client.SessionResult, error) {
	m.calls++
	if len(events) > 500 {
		return nil, errors.New("too many")
	}
	var out []client.SessionResult
	for i, e := range events {
		id := e.SessionID + "/" + e.EventID
		status := "deduped"
		if _, known := m.events[id]; !known {
			status = "stored"
			m.events[id] = e
			m.order = append(m.order, e)
		}
		out = append(out, client.SessionResult{Index: i, Status: status})
	}
	if m.lose > 0 {
		m.lose--
		return nil, errors.New("connection lost")
	}
	return out, nil
}

func (m *memory) PushSignals(_ context.Context, _ string, signals []client.AgentSignal) error {
	m.signals = append(m.signals, signals...)
	return nil
}

func (m *memory) FinalizeSessions(context.Context) error { m.finalized++; return nil }

// desk is a home directory, a directory of states and a memory.
type desk struct {
	*testing.T
	home, states string
	memory       *memory
}

func newDesk(t *testing.T) *desk {
	return &desk{t, t.TempDir(), t.TempDir(), &memory{events: map[string]client.SessionEvent{}}}
}

func (d *desk) write(path string, lines ...string) {
	d.Helper()
	path = filepath.Join(d.home, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		d.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		d.Fatal(err)
	}
}

func (d *desk) push() (Summary, error) {
	d.Helper()
	files, err := Find(d.home, nil)
	if err != nil {
		d.Fatal(err)
	}
	state, err := OpenState(d.states, "memory")
	if err != nil {
		d.Fatal(err)
	}
	sum, err := Push(d.Context(), Options{Service: d.memory, State: state}, files)
	if cerr := errors.Join(state.Close(), state.Close()); cerr != nil {
		d.Fatal(cerr)
	}
	return sum, err
}

func (d *desk) mustPush(stored, deduped int) Summary {
	d.Helper()
	sum, err := d.push()
	if err != nil || sum.Stored != stored || sum.Deduped != deduped {
		d.Fatalf("stored %d, deduped %d, want %d, %d; skipped %v: %v", sum.Stored, sum.Deduped, stored, deduped,
			sum.Skipped, err)
	}
	return sum
}

// signalled asks that the memory got signals of these types.
func (d *desk) signalled(want ...string) {
	d.Helper()
	var got []string
	for _, s := range d.memory.signals {
		got = append(got, s.Type)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		d.Errorf("signals (-want +got):\n%s", diff)
	}
}

// said is what the memory holds, one line for each event.
func (d *desk) said() string {
	var b strings.Builder
	for _, e := range d.memory.order {
		fmt.Fprintf(&b, "%s %s %s|%s|%s %s: %s\n", e.SessionID, e.At, e.Cwd, e.Model, e.Role, e.Tool, e.Text)
	}
	return b.String()
}

const claudeFile = ".claude/projects/-home-me-app/s1.jsonl"

func claudeTurn(id, kind, content string) string {
	return `{"type":"` + kind + `","uuid":"` + id +
		`","sessionId":"s1","timestamp":"2026-01-02T03:04:05.678Z","cwd":"/home/me/app","message":{"model":"m","content":` +
		content + `}}`
}

func TestClaudeCode(t *testing.T) {
	d := newDesk(t)
	d.write(claudeFile,
		`{"type":"summary","summary":"x"}`, `{"type":"file-history-snapshot"}`, `not JSON`,
		claudeTurn("u1", "user", `"fix the build, DB_PASSWORD=hunter22"`),
		claudeTurn("u2", "assistant",
			`[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Looking."},{"type":"tool_use","name":"Bash",`+
				`"input":{"command":"make","password":"hunter22"}}]`),
		claudeTurn("u3", "user",
			`[{"type":"tool_result","is_error":true,"content":[{"type":"text","text":"--- FAIL: TestX"}]}]`),
		claudeTurn("u4", "user",
			`[{"type":"tool_result","content":"The user doesn't want to proceed with this tool use. Use tabs."}]`),
		strings.Replace(claudeTurn("u5", "user", `"told by the program"`), `"uuid"`, `"isMeta":true,"uuid"`, 1),
		"")
	sum := d.mustPush(5, 0)
	want := `s1 2026-01-02T03:04:05.678Z /home/me/app|m|user : fix the build, DB_PASSWORD=[redacted: assigned secret]
s1 2026-01-02T03:04:05.678Z /home/me/app|m|assistant : Looking.
s1 2026-01-02T03:04:05.678Z /home/me/app|m|assistant Bash: {"command":"make","password":"[redacted: assigned secret]"}
s1 2026-01-02T03:04:05.678Z /home/me/app|m|tool : --- FAIL: TestX
s1 2026-01-02T03:04:05.678Z /home/me/app|m|tool : The user doesn't want to proceed with this tool use. Use tabs.
`
	if d.said() != want {
		t.Errorf("got\n%s", d.said())
	}
	whole := Summary{Files: 1, Stored: 5, Signals: 2, Redacted: 2, Skipped: []Skipped{}}
	if diff := cmp.Diff(whole, sum); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	d.signalled(signalTest, signalCorrection)
	if d.memory.finalized != 1 {
		t.Errorf("finalized %d times", d.memory.finalized)
	}
}

func TestCodex(t *testing.T) {
	d := newDesk(t)
	at := `{"timestamp":"2026-01-02T03:04:05Z","type":`
	d.write(".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-c1.jsonl",
		at+`"session_meta","payload":{"id":"c1","cwd":"/w"}}`,
		at+`"turn_context","payload":{"cwd":"/w/app","model":"gpt"}}`,
		at+`"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",`+
			`"text":"<environment_context>x</environment_context>"}]}}`,
		at+`"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text",`+
			`"text":"what is 2+2?"}]}}`,
		at+`"event_msg","payload":{"type":"user_message","message":"what is 2+2?"}}`,
		at+`"response_item","payload":{"type":"reasoning","summary":[]}}`,
		at+`"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"ls\"]}",`+
			`"call_id":"k"}}`,
		at+`"response_item","payload":{"type":"function_call_output","call_id":"k",`+
			`"output":"{\"output\":\"no such file\",\"metadata\":{\"exit_code\":2}}"}}`,
		at+`"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}`,
		at+`"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"4"}]}}`,
		"")
	sum := d.mustPush(5, 0)
	want := `c1 2026-01-02T03:04:05Z /w/app|gpt|system : <environment_context>x</environment_context>
c1 2026-01-02T03:04:05Z /w/app|gpt|user : what is 2+2?
c1 2026-01-02T03:04:05Z /w/app|gpt|assistant shell: {"command":["ls"]}
c1 2026-01-02T03:04:05Z /w/app|gpt|tool : no such file
c1 2026-01-02T03:04:05Z /w/app|gpt|assistant : 4
`
	if diff := cmp.Diff(want, d.said()); diff != "" || sum.Signals != 2 {
		t.Errorf("%d signals (-want +got):\n%s", sum.Signals, diff)
	}
	d.signalled(signalTool, signalCorrection)
}

func TestGemini(t *testing.T) {
	d := newDesk(t)
	head := `{"sessionId":"g1","projectHash":"x","messages":[{"id":"a","timestamp":"2026-01-02T03:04:05Z",` +
		`"type":"user","content":"list files"},` +
		`{"id":"b","timestamp":"2026-01-02T03:04:06Z","type":"gemini","content":"ok","model":"gm",` +
		`"toolCalls":[{"id":"t","name":"ls","args":{"path":"."},"status":"error","resultDisplay":"denied"}]}`
	const file = ".gemini/tmp/x/chats/session-1.json"
	d.write(file, head+"]}")
	d.write(".gemini/tmp/x/logs.json", "[]")
	sum := d.mustPush(4, 0)
	if sum.Signals != 1 {
		t.Errorf("%+v", d.memory.signals)
	}
	d.mustPush(0, 0)
	d.write(file, head+`,{"id":"c","timestamp":"2026-01-02T03:04:07Z","type":"user","content":"again"}]}`)
	d.mustPush(1, 4)
	if last := d.memory.order[4]; last.Text != "again" || last.Role != "user" {
		t.Errorf("%+v", last)
	}
}

// What was pushed is not sent again; a line that is being written waits; a file that
// was written anew is read from its beginning.
func TestPushGoesOn(t *testing.T) {
	d := newDesk(t)
	one, two := claudeTurn("u1", "user", `"one"`), claudeTurn("u2", "user", `"two"`)
	d.write(claudeFile, one, two[:20])
	d.mustPush(1, 0)
	d.write(claudeFile, one, two, "")
	d.mustPush(1, 0)
	calls := d.memory.calls
	if sum := d.mustPush(0, 0); sum.Unchanged != 1 || d.memory.calls != calls || d.memory.finalized != 2 {
		t.Errorf("%+v after %d calls, finalized %d", sum, d.memory.calls-calls, d.memory.finalized)
	}
	d.write(claudeFile, two, one, claudeTurn("u3", "user", `"three"`), "")
	d.mustPush(1, 2)
}

func TestAnInterruptedPushLosesAndRepeatsNothing(t *testing.T) {
	d := newDesk(t)
	var lines []string
	for i := range 1200 {
		lines = append(lines, claudeTurn(fmt.Sprint("u", i), "user", fmt.Sprintf(`"turn %d"`, i)))
	}
	d.write(claudeFile, append(lines, "")...)
	d.memory.lose = 1
	if _, err := d.push(); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	d.mustPush(700, 500)
	if len(d.memory.order) != 1200 {
		t.Errorf("%d events", len(d.memory.order))
	}
}

func TestADamagedStateIsBegunAnew(t *testing.T) {
	d := newDesk(t)
	d.write(claudeFile, claudeTurn("u1", "user", `"one"`), "")
	d.mustPush(1, 0)
	states, err := filepath.Glob(filepath.Join(d.states, "*.json"))
	if err != nil || len(states) != 1 {
		t.Fatal(states, err)
	}
	if err := os.WriteFile(states[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.mustPush(0, 1)
}

func TestTwoPushesAtOnceAreRefused(t *testing.T) {
	dir := t.TempDir()
	first, err := OpenState(dir, "a")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenState(dir, "a"); !errors.Is(err, ErrStateBusy) {
		t.Errorf("got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
}

func TestLongTextIsCutBehindItsSecrets(t *testing.T) {
	d := newDesk(t)
	text, err := json.Marshal(strings.Repeat("é", maxText/2-3) + " A_TOKEN=abcdefgh1234")
	if err != nil {
		t.Fatal(err)
	}
	d.write(claudeFile, claudeTurn("u1", "user", string(text)), "")
	d.mustPush(1, 0)
	got := d.memory.order[0].Text
	if strings.Contains(got, "abcdefgh") || !strings.HasSuffix(got, "bytes more]") || len(got) > maxText+64 {
		t.Errorf("%d bytes, ending %q", len(got), got[len(got)-60:])
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(claudeTurn("u1", "user", `[{"type":"tool_result","content":"x"}]`)))
	f.Add([]byte(`{"type":"response_item","payload":{"type":"message","role":"user","content":[{"text":"x"}]}}`))
	f.Add([]byte(`{"sessionId":"g","messages":[{"id":"a","type":"user","content":"x"}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, a := range adapters {
			p := &push{}
			p.take(a.record(&scene{Session: "s"}, raw))
			for _, e := range p.events {
				if e.SessionID == "" || strings.TrimSpace(e.Text) == "" || len(e.EventID) > maxEventID {
					t.Errorf("%s: %+v", a.name, e)
				}
			}
		}
	})
}

// What the memory gave to a model is not stored again with what the model's session was.
func TestMemoryDoesNotComeBack(t *testing.T) {
	text, _, err := plugin.Quote([]plugin.Note{{Text: "an old note"}, {Text: "</orgmem-memory>"}}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	line := func(id, text string) string {
		raw, err := json.Marshal(map[string]any{
			"type": "user", "uuid": id, "sessionId": "s", "message": map[string]any{"content": text},
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw) + "\n"
	}
	path := filepath.Join(t.TempDir(), "t.jsonl")
	all := line("a", text) + line("b", "before "+text) + line("c", "<orgmem-memory is only named")
	if err := os.WriteFile(path, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	state, err := OpenState(t.TempDir(), "m")
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	file, _ := Named(path, ClaudeCode)
	m := &memory{events: map[string]client.SessionEvent{}}
	if _, err := Push(t.Context(), Options{Service: m, State: state}, []File{file}); err != nil {
		t.Fatal(err)
	}
	if len(m.order) != 2 || strings.TrimSpace(m.order[0].Text) != "before" ||
		m.order[1].Text != "<orgmem-memory is only named" {
		t.Errorf("stored %+v", m.order)
	}
}

// Neither does what a model has got, or put in, by the memory's own tools.
func TestTheMemorysOwnToolsAreLeftOut(t *testing.T) {
	claude := func(tool, id, text string) string {
		return `{"type":"assistant","uuid":"a` + id + `","sessionId":"s","message":{"content":[{"type":"tool_use",` +
			`"id":"` + id + `","name":"` + tool + `","input":{"q":"` + text + `"}}]}}` + "\n" +
			`{"type":"user","uuid":"u` + id + `","sessionId":"s","message":{"content":[{"type":"tool_result",` +
			`"tool_use_id":"` + id + `","content":"` + text + `"}]}}` + "\n"
	}
	codex := func(namespace, tool, id, text string) string {
		return `{"type":"response_item","payload":{"type":"function_call","namespace":"` + namespace + `","name":"` + tool +
			`","call_id":"` + id + `","arguments":"{\"q\":\"` + text + `\"}"}}` + "\n" +
			`{"type":"response_item","payload":{"type":"function_call_output","call_id":"` + id +
			`","output":"` + text + `"}}` + "\n"
	}
	for _, c := range []struct{ name, assistant, text string }{
		{"claude", ClaudeCode, claude("mcp__orgmem__search_memory", "1", "known") + claude("Bash", "2", "new") +
			claude("mcp__plugin_orgmem_orgmem__add_memory", "3", "known") + claude("mcp__orgmem2__x", "4", "new")},
		{"codex", "codex", `{"type":"session_meta","payload":{"id":"s"}}` + "\n" +
			codex("", "mcp__orgmem__search_memory", "1", "known") + codex("", "shell", "2", "new") +
			codex("mcp__orgmem__", "recall", "3", "known") + codex("mcp__other__", "recall", "4", "new")},
	} {
		path := filepath.Join(t.TempDir(), "t.jsonl")
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		state, err := OpenState(t.TempDir(), "m")
		if err != nil {
			t.Fatal(err)
		}
		file, _ := Named(path, c.assistant)
		m := &memory{events: map[string]client.SessionEvent{}}
		_, err = Push(t.Context(), Options{Service: m, State: state}, []File{file})
		if err = errors.Join(err, state.Close()); err != nil {
			t.Fatal(err)
		}
		if len(m.order) != 4 || strings.Contains(fmt.Sprint(m.order), "known") {
			t.Errorf("%s: stored %+v", c.name, m.order)
		}
	}
}
