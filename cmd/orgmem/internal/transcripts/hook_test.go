package transcripts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestHookIsMergedAndRemoved(t *testing.T) {
	for name, before := range map[string]string{
		"none":  "",
		"empty": "{}\n",
		"others": `{
  "model": "opus",
  "big": 123456789012345678901234567890,
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": []
      }
    ],
    "SessionEnd": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "say bye"
          }
        ]
      }
    ]
  },
  "env": {
    "B": "1",
    "A": "2"
  }
}
`,
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), ".claude", "settings.json")
			if before != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			changed, err := InstallHook(path, "/bin/orgmem", " --base 'http://x'")
			if err != nil || !changed {
				t.Fatal(changed, err)
			}
			if changed, err = InstallHook(path, "/other/orgmem", ""); err != nil || changed {
				t.Errorf("installed twice: %v", err)
			}
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			settings, err := objectOf(raw)
			if err != nil {
				t.Fatal(err)
			}
			hooks, err := objectOf(settings[indexOf(settings, "hooks")].value)
			if err != nil {
				t.Fatal(err)
			}
			groups, err := arrayOf(hooks[indexOf(hooks, hookEvent)].value)
			if err != nil {
				t.Fatal(err)
			}
			last := groups[len(groups)-1]
			if err := last.Compact(); err != nil {
				t.Fatal(err)
			}
			if want := `{"hooks":[{"type":"command","command":"/bin/orgmem sessions push --hook --base 'http://x'",` +
				`"timeout":60}]}`; string(last) != want {
				t.Errorf("installed %s", last)
			}
			if changed, err = RemoveHook(path); err != nil || !changed {
				t.Fatal(changed, err)
			}
			after, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if want := before; want != "" && string(after) != want || want == "" && string(after) != "{}\n" {
				t.Errorf("left\n%s", after)
			}
			info, err := os.Stat(path)
			if err != nil || before != "" && info.Mode().Perm() != 0o644 {
				t.Errorf("mode %v: %v", info.Mode(), err)
			}
			if changed, err = RemoveHook(path); err != nil || changed {
				t.Errorf("removed twice: %v", err)
			}
		})
	}
}

func TestSettingsThatCannotBeReadStay(t *testing.T) {
	for _, text := range []string{
		"", "[]", "{\"a\":1,}", "// why\n{}", `{"a":1,"a":2}`, `{"hooks":[]}`,
		`{"hooks":{"SessionEnd":{}}}`, `{"hooks":{"SessionEnd":[1]}}`,
	} {
		path := filepath.Join(t.TempDir(), "settings.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := InstallHook(path, "orgmem", ""); !errors.Is(err, ErrSettings) {
			t.Errorf("%q: %v", text, err)
		}
		if raw, err := os.ReadFile(path); err != nil || string(raw) != text {
			t.Errorf("%q became %q: %v", text, raw, err)
		}
	}
}
