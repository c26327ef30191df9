package format

import (
	"strings"
	"testing"

	"orgmem/brain/format/reading"
)

// TestExportsAsPeopleHaveThem reads exports with what their documentation does not
// dwell on, and finds what people said in them: once, and by whom.
func TestExportsAsPeopleHaveThem(t *testing.T) {
	const users = `[{"id":"U1","name":"ann","profile":{"display_name":"Ann"}},{"id":"U2","name":"bob","profile":{}}]`
	const day = `[
		{"type":"message","user":"U1","text":"Deploy by <https://x.example|the book> &amp; tell <@U2>",
			"ts":"1700000000.0001"},
		{"type":"message","user":"U2","text":"done","ts":"1700000300.0001","thread_ts":"1700000000.0001",
			"edited":{"user":"U2","ts":"1700000400.0"}},
		{"type":"message","subtype":"bot_message","bot_profile":{"name":"CI"},"text":"",
			"attachments":[{"title":"Build 7","text":"failed on main","fallback":"Build 7"}],"ts":"1700000500.0"},
		{"type":"message","user":"U1","text":"","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"in a section"}},
			{"type":"rich_text","elements":[{"type":"rich_text_section",
			"elements":[{"type":"text","text":"in "},{"type":"text","text":"blocks"}]}]}],"ts":"1700000600.0"},
		{"type":"message","user":"U1","text":"see",
			"attachments":[{"title":"A linked page","text":"of somebody else"}],"ts":"1700000650.0"},
		{"type":"message","user":"U9","user_profile":{"real_name":"Guest Gus"},"text":"from outside","ts":"1700000800.0"}]`
	const slack = "Ann: Deploy by the book & tell @bob\n\n  bob: done\n\nCI: Build 7\nfailed on main\n\nAnn: in a " +
		"section\nin blocks\n\nAnn: see\n\nGuest Gus: from outside"
	const page = "0123456789abcdef0123456789abcdef"
	type found struct{ title, id, content string }
	for name, c := range map[string]struct {
		file, data string
		want       []found
	}{
		"Slack": {
			"slack.zip", zipped(t, "users.json", users, "ops/2023-11-14.json", day),
			[]found{{"#ops 2023-11-14", "slack:ops/2023-11-14", slack}},
		},
		"Slack, unpacked and packed again": {
			"slack.zip", zipped(t, "Acme export/users.json", users, "Acme export/ops/2023-11-14.json", day,
				"__MACOSX/Acme export/._users.json", "x"),
			[]found{{"#ops 2023-11-14", "slack:ops/2023-11-14", slack}},
		},
		"Slack, with channels whose names were not written in UTF-8": {
			"slack.zip", zipped(t, "users.json", users, "k\x81che/2023-11-14.json", day, "k\x94che/2023-11-14.json", day),
			[]found{
				{"#küche 2023-11-14", "slack:küche/2023-11-14", slack}, {"#köche 2023-11-14", "slack:köche/2023-11-14", slack},
			},
		},
		"ChatGPT, by voice": {
			"conversations.json", `[{"title":"Boiler","id":"c","current_node":"e","mapping":{
			"a":{"parent":null,"message":null},
			"b":{"parent":"a","message":{"author":{"role":"user"},"content":{"content_type":"multimodal_text","parts":[
				{"content_type":"audio_transcription","text":"What is the pressure?"},
				{"content_type":"real_time_user_audio_video_asset_pointer","text":7}]}}},
			"c":{"parent":"b","message":{"author":{"role":"assistant"},
				"content":{"content_type":"text","parts":["It is 1.5 bar.","Look monthly."]}}},
			"x":{"parent":"b","message":{"author":{"role":"assistant"},
				"content":{"content_type":"text","parts":["Another branch."]}}},
			"d":{"parent":"c","message":{"author":{"role":"tool"},
				"content":{"content_type":"execution_output","text":"said a tool"}}},
			"e":{"parent":"d","message":{"author":{"role":"assistant"},"content":{"content_type":"code","text":"print(1)"}}}}}]`,
			[]found{{"Boiler", "chatgpt:c", "User: What is the pressure?\n\nAssistant: It is 1.5 bar.\nLook monthly."}},
		},
		"ChatGPT, of before there was a current node": {
			"conversations.json", `[{"title":"Old","mapping":{
			"a":{"parent":null,"message":null},
			"b":{"parent":"a","message":{"create_time":1,"author":{"role":"user"},"content":{"parts":["asked"]}}},
			"c":{"parent":"b","message":{"create_time":2,"author":{"role":"assistant"},"content":{"parts":["first answer"]}}},
			"d":{"parent":"b","message":{"create_time":3,"author":{"role":"assistant"},
				"content":{"parts":["second answer"]}}}}}]`,
			[]found{{"Old", "", "User: asked\n\nAssistant: second answer"}},
		},
		"Claude": {
			"conversations.json", `[{"uuid":"c","name":"Lease","chat_messages":[
			{"text":"Sum up","sender":"human","attachments":[{"file_name":"lease.txt","extracted_content":"The rent is 900."}]},
			{"text":"","sender":"assistant",
				"content":[{"type":"text","text":"900 a month."},{"type":"tool_use","input":{}}]}]}]`,
			[]found{{"Lease", "claude:c", "User: Sum up\n\nlease.txt: The rent is 900.\n\nAssistant: 900 a month."}},
		},
		"Claude's projects": {
			"projects.json",
			`[{"uuid":"p","name":"House","prompt_template":"be brief","docs":[{"uuid":"d","filename":"roof.md",` +
				`"content":"The roof is slate."}]},{"uuid":"q","docs":[],"prompt_template":""}]`,
			[]found{{"roof.md", "claude:d", "The roof is slate."}},
		},
		"Notion's tables": {
			"export.zip", zipped(t, "Tasks "+page+".csv", "Name,Due\nPaint,May\n", "Tasks "+page+"_all.csv",
				"\ufeffName,Due,Tags\nPaint,May,x\nSand,,y\n"),
			[]found{{"Tasks", "notion:" + page, "Name: Paint; Due: May; Tags: x\nName: Sand; Tags: y"}},
		},
		"an Obsidian vault": {
			"vault.zip", zipped(t, "Board.canvas",
				`{"nodes":[{"id":"2","type":"file","file":"Note.md","x":0,"y":9},{"id":"1","type":"text",`+
					`"text":"About [[Note|turbines]]","x":0,"y":-9}],"edges":[{"id":"e","label":"leads to"}]}`,
				"Note.md", "---\r\ntags: one, two\r\n---\r\nWords\r\n"),
			[]found{{"Board", "", "About turbines\n\nNote.md\n\nleads to"}, {"Note", "", "Words\n"}},
		},
		"CSV of Excel": {
			"a.csv", "sep=;\r\nName;Preis\r\nSchraube;1,50\r\n", []found{{"a", "", "Name: Schraube; Preis: 1,50"}},
		},
		"a title above a table": {
			"a.csv", "Sales,,\nDay,Amount,Share\nMay 3,7,half\n",
			[]found{{"a", "", "Sales\nDay: May 3; Amount: 7; Share: half"}},
		},
		"one column and a wider row": {"a.csv", "Name\nAnn\nBob,x\n", []found{{"a", "", "Name: Ann\nName: Bob; x"}}},
		"Word, edited and with a box": {
			"a.docx", zipped(t, "word/document.xml", `<w:document><w:body>
				<w:p><w:r><w:t>Before </w:t></w:r><w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>
					<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>
					<w:moveTo><w:r><w:t>moved</w:t></w:r></w:moveTo></w:p>
				<w:p><w:r><mc:AlternateContent>
					<mc:Choice><w:p><w:r><w:t>In a box</w:t></w:r></w:p></mc:Choice>
					<mc:Fallback><w:p><w:r><w:t>In a box</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:r></w:p>
				<w:p><w:r><w:t>Behind</w:t></w:r></w:p></w:body></w:document>`),
			[]found{{"a", "", "Before moved\n\nIn a box\n\nBehind"}},
		},
	} {
		docs, _, err := Documents(c.file, []byte(c.data), reading.Limits{})
		if err != nil || len(docs) != len(c.want) {
			t.Errorf("%s: %d documents, %v", name, len(docs), err)
			continue
		}
		for i, want := range c.want {
			d := docs[i]
			if got := (found{d.Title, d.ExternalID, d.Content}); got != want {
				t.Errorf("%s: got %+q, want %+q (refused %q)", name, got, want, d.Refused)
			}
		}
		if name == "an Obsidian vault" && !strings.Contains(string(docs[1].Metadata), `"tags":["one","two"]`) {
			t.Errorf("%s", docs[1].Metadata)
		}
	}
}
