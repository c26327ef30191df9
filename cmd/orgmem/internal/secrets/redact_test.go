package secrets

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// r repeats, so that no line of this file is itself a secret that scanners find.
func r(s string, n int) string { return strings.Repeat(s, n) }

// leak is a text with a secret, and the name of its kind.
type leak struct{ name, before, secret, after string }

// leaks are of each kind that has a form or a place of its own.
var leaks = []leak{
	{
		"private key", "", "-----BEGIN RSA PRIVATE KEY-----\n" + r("MIIEow\n", 6) + "-----END RSA PRIVATE KEY-----",
		"\nnext",
	},
	{"private key", "", "-----BEGIN OPENSSH PRIVATE KEY-----\n" + r("b3BlbnNz\n", 6), ""}, // cut off
	{"private key", `{"key":"`, `-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----`, `"}`},
	{"AWS access key", "id ", "AKIA" + r("Q7", 8), " used"},
	{"Google key", "?key=", "AIza" + r("Sy0aB", 7), ""},
	{"Azure key", "DefaultEndpointsProtocol=https;AccountKey=", r("aB3+", 20) + "==", ";EndpointSuffix=core"},
	{"GitHub token", "git clone https://", "ghp_" + r("aB1", 12), "@github.com/o/r"},
	{"GitHub token", "", "github_pat_" + r("A1b2", 8), ""},
	{"GitLab token", "", "glpat-" + r("aB3_", 5), ""},
	{"npm token", "//registry/:_authToken=", "npm_" + r("aB3", 12), ""},
	{"PyPI token", "", "pypi-AgEIcHlwaS5vcmc" + r("aB3", 20), ""},
	{"API key", "", "sk-ant-api03-" + r("aB3-", 10), ""},
	{"API key", "", "sk-proj-" + r("aB3_", 10), ""},
	{"Hugging Face token", "", "hf_" + r("aBcD", 9), ""},
	{"orgmem key", "", "svc_prod_" + r("aB3", 14) + "x", ""},
	{"webhook secret", "", "whsec_" + r("aB3/", 8), ""},
	{"Slack token", "", "xoxb-" + r("12345-", 3) + "abcdef", ""},
	{"Slack webhook", "https://hooks.slack.com/services/", r("T0B/", 8), ""},
	{"Telegram token", "bot", "1234567890:AA" + r("aB3", 11), "/send"},
	{"Stripe key", "", "sk_live_" + r("aB3d", 6), ""},
	{"SendGrid key", "", "SG." + r("aB3d", 5) + "." + r("eF4g", 10), ""},
	{"Databricks token", "", "dapi" + r("0a1b", 8), ""},
	{"JWT", "", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0." + r("aB3_", 8), ""},
	{"password in a URL", "postgres://app:", "s3cr3t!pw", "@db.internal:5432/app"},
	{"password in a URL", "redis://:", "hunter22", "@cache:6379"},
	{"token in a URL", "https://", r("0a1b2c3d", 4), "@git.example.com/r.git"},
	{"token in a URL", "https://x.example/cb?access_token=", r("aB3", 8), "&state=1"},
	{"authorization", "curl -H 'Authorization: Bearer ", "abc.def-123456", "'"},
	{"authorization", "Authorization: Basic ", "dXNlcjpwYXNz", "\n"},
	{"bearer token", "with bearer ", r("aB3", 8), ""},
	{"cookie", "Cookie: ", "session=" + r("aB3", 8), "\nHost: x"},
	{"password of a login", "machine api.example.com login me password ", "hunter2!", "\n"},
	{"password of a command", "curl -sS -u admin:", "hunter2", " https://x.example"},
	{"password of a command", "mysql -u root -p", "hunter2", " app"},
	{"password of a command", "tool --password ", "correct-horse", " run"},
	{"password of a command", "tool --token=", "abcdefgh", ""},
	{"assigned secret", "DB_PASSWORD=", "letmein", "\nNEXT=1"},
	{"assigned secret", "export AWS_SECRET_ACCESS_KEY=", r("wJalr/7", 5), ""},
	{"assigned secret", `password: "`, "correcthorse", `"`},
	{"assigned secret", `api_key = '`, "0123456789ab", `'`},
	{"assigned secret", `{\"client_secret\": \"`, "zyx987wvu654", `\"}`},
	{"assigned secret", "clientSecret: ", "zyx987wvu654", ""},
	{"assigned secret", "user=me;password=", "hunter2!", ";host=db"},
	{"assigned secret", "password=", "letmein", " done"},
}

func TestSecretsGo(t *testing.T) {
	for _, l := range append(leaks, vendors...) {
		got, n := Text(l.before + l.secret + l.after)
		if strings.Contains(got, l.secret) || n == 0 {
			t.Errorf("%s: %q stays", l.name, got)
			continue
		}
		if want := l.before + markPrefix + l.name + "]" + l.after; got != want {
			t.Errorf("%s: %q, want %q", l.name, got, want)
		}
		if again, n := Text(got); again != got || n != 0 {
			t.Errorf("%s: %q is redacted again to %q", l.name, got, again)
		}
	}
}

func TestOrdinaryTextStays(t *testing.T) {
	for _, text := range []string{
		"The token is refreshed when the password expires; see the secret manager's page.",
		"max_tokens: 4096, total_tokens=128000, \"input_tokens\": 12345",
		"func NewClient(token string, password string) (*Client, error) {",
		"password: string; apiKey?: string; secret: Option<String>",
		"client := New(Options{APIKey: key, Token: opts.Token, Password: cfg.Password})",
		"connect(user=user, password=password, api_key=settings.api_key)",
		"password = getpass.getpass()", "token := p.next()", "secret = os.environ[\"SECRET\"]",
		"DB_PASSWORD=${DB_PASSWORD}", "PASSWORD=$(cat /run/secret)", "api_key: <your-api-key>", "password: ********",
		"postgres://app:${PASSWORD}@db/app", "https://github.com/owner/repo/pull/12#issuecomment-123456789",
		"commit 4f2d9c1e8b7a6f5d4c3b2a190817263544556677 fixes it", "sha256:" + r("0a1b2c3d", 8),
		"id 6f1c2a8e-0f43-4c39-9c3b-0a2f6a1d9b10", "see sk-learn-compatible-estimators-are-good for more",
		"use the --token flag or --password option", "Authorization: Bearer $TOKEN", "authorization: required",
		"basic authentication is off", "a cookie: the sweet kind", "ssh git@github.com", "http://127.0.0.1:8080/v1",
		"mysql -u root -p", "curl -u \"$USER:$PASS\" https://x.example", "error: expected ';' at 12:34",
		"Passwort vergessen? Kein Problem.", "キー: 値", "key=value pairs; primary_key: id123456",
		"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
		"-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
		"\"token\": \"string\"", "token: 'required'", "label: \"Enter your password here\"",
		"password: \"Enter your password\"",
	} {
		if got, n := Text(text); got != text || n != 0 {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestJSONKnowsNamesOfFields(t *testing.T) {
	got, n := JSON(
		[]byte(`{"b":{"password":"correct horse battery 9","Note":"nothing"},"a":[{"apiKey":"zyxwvu"}],"max_tokens":99,` +
			`"cmd":"export A_TOKEN=abc1234\nls"}`))
	want := `{"a":[{"apiKey":"[redacted: assigned secret]"}],"b":{"Note":"nothing",` +
		`"password":"[redacted: assigned secret]"},` +
		`"cmd":"export A_TOKEN=[redacted: assigned secret]\nls","max_tokens":99}`
	if got != want || n != 3 {
		t.Errorf("%d: %s", n, got)
	}
	if got, n := JSON([]byte(`not JSON: A_TOKEN=abc1234`)); n != 1 || strings.Contains(got, "abc1234") {
		t.Errorf("%d: %s", n, got)
	}
	if got, n := JSON([]byte(`{"n":1e400,"big":123456789012345678901234567890,"s":"x"}`)); n != 0 ||
		!strings.Contains(got, "123456789012345678901234567890") {
		t.Errorf("%d: %s", n, got)
	}
}

// TestSecretsGoAnywhere: whatever stands around it.
func TestSecretsGoAnywhere(t *testing.T) {
	words := rapid.SampledFrom([]string{
		"the", "build", "failed:", "(see", "log)", "{", "}", "\"x\",", "go", "test\n",
		"änderung", "キー", "=", "->", "https://x.example/a?b=c", "user@example.com",
	})
	rapid.Check(t, func(t *rapid.T) {
		var parts, hidden []string
		for range rapid.IntRange(1, 6).Draw(t, "secrets") {
			parts = append(parts, rapid.SliceOfN(words, 0, 5).Draw(t, "words")...)
			l := rapid.SampledFrom(leaks).Draw(t, "leak")
			if strings.HasPrefix(l.secret, "-----BEGIN OPENSSH") { // what has no end goes to the end
				continue
			}
			parts = append(parts, "\n"+l.before+l.secret+l.after+"\n")
			hidden = append(hidden, l.secret)
		}
		text := strings.Join(parts, " ")
		got, _ := Text(text)
		for _, secret := range hidden {
			if strings.Contains(got, secret) {
				t.Fatalf("%q stays in %q", secret, got)
			}
		}
		if again, n := Text(got); again != got || n != 0 {
			t.Fatalf("%q is redacted again to %q", got, again)
		}
	})
}

func FuzzText(f *testing.F) {
	for _, l := range leaks {
		f.Add(l.before + l.secret + l.after)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, n := Text(text)
		if (n == 0) != (got == text) {
			t.Errorf("%d taken out of %q: %q", n, text, got)
		}
		if utf8.ValidString(text) && !utf8.ValidString(got) {
			t.Errorf("%q is no text any more: %q", text, got)
		}
		if in, _ := JSON([]byte(text)); !jsontext.Value(text).IsValid() && in != got {
			t.Errorf("%q is no JSON, and is redacted to %q, as text to %q", text, in, got)
		}
	})
}
