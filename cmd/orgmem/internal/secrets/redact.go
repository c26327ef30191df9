package secrets

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth bounds how deep JSON is looked into by its structure; what lies deeper is
// redacted as text. It is the interface's own bound of nesting.
const maxDepth = 64

// Text returns a text without the secrets of the catalogue, and how many it took out.
func Text(text string) (string, int) {
	n := 0
	lower := strings.ToLower(text)
	rules := catalogue()
	for i := range rules {
		r := &rules[i]
		if !r.near(lower) {
			continue
		}
		found := 0
		text = replace(r, text, &found)
		if found > 0 {
			n += found
			lower = strings.ToLower(text)
		}
	}
	return text, n
}

// near reports whether a text holds one of the words without which a rule cannot
// match: looking for those is some hundred times as fast as matching.
func (r *rule) near(lower string) bool {
	for _, hint := range r.hints {
		if strings.Contains(lower, hint) {
			return true
		}
	}
	return false
}

// replace puts a rule's mark in the place of what its last group matches.
func replace(r *rule, text string, n *int) string {
	var out strings.Builder
	at := 0
	for _, m := range r.match.FindAllStringSubmatchIndex(text, -1) {
		from, to := lastGroup(m)
		if from < at || from == to {
			continue
		}
		secret := text[from:to]
		if strings.HasPrefix(secret, markPrefix[:len(markPrefix)-1]) || r.unless != nil && r.unless(text[m[0]:from], secret) {
			continue
		}
		out.WriteString(text[at:from])
		out.WriteString(markPrefix + r.name + "]")
		at = to
		*n++
	}
	if at == 0 {
		return text
	}
	out.WriteString(text[at:])
	return out.String()
}

// markPrefix begins every mark. A rule may see no more of it than what stands before
// its space.
const markPrefix = "[redacted: "

// lastGroup is where the last group that took part in a match lies; without groups,
// the whole match.
func lastGroup(m []int) (from, to int) {
	for i := len(m) - 2; i >= 2; i -= 2 {
		if m[i] >= 0 {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// JSON returns the text of a JSON value without secrets, and how many it took out: a
// string is a secret also where the name of its field says so. What is no JSON is
// redacted as text.
func JSON(raw []byte) (string, int) {
	n := 0
	clean, err := value(raw, 0, &n)
	if err != nil {
		return Text(string(raw))
	}
	// Names may hold secrets, too.
	text, more := Text(string(clean))
	return text, n + more
}

func value(raw jsontext.Value, depth int, n *int) (jsontext.Value, error) {
	if depth > maxDepth {
		return raw, nil
	}
	switch raw.Kind() {
	case '"':
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return nil, err
		}
		clean, found := Text(s)
		*n += found
		return jsontext.AppendQuote(nil, clean)
	case '[':
		var list []jsontext.Value
		if err := json.Unmarshal(raw, &list); err != nil {
			return nil, err
		}
		for i := range list {
			var err error
			if list[i], err = value(list[i], depth+1, n); err != nil {
				return nil, err
			}
		}
		return json.Marshal(list)
	case '{':
		var object map[string]jsontext.Value
		if err := json.Unmarshal(raw, &object); err != nil {
			return nil, err
		}
		for name, member := range object {
			clean, err := field(name, member, depth, n)
			if err != nil {
				return nil, err
			}
			object[name] = clean
		}
		return json.Marshal(object, json.Deterministic(true))
	default:
		return raw, nil
	}
}

// field redacts one member of an object.
func field(name string, member jsontext.Value, depth int, n *int) (jsontext.Value, error) {
	if member.Kind() == '"' && secretName.MatchString(name) {
		var s string
		if err := json.Unmarshal(member, &s); err != nil {
			return nil, err
		}
		if len(s) >= minQuoted && !strings.HasPrefix(s, markPrefix) && !harmless(s) {
			*n++
			return jsontext.AppendQuote(nil, markPrefix+"assigned secret]")
		}
	}
	return value(member, depth+1, n)
}

// secretName matches the whole name of a field that holds a secret.
var secretName = regexp.MustCompile(`(?i)^[a-z0-9_.-]*(?:` + secretWords + `)[0-9]*$`)

// harmless reports whether what is assigned to a secret's name is no secret: a reference to
// where the secret is kept, the name of a type, a word of a text, or a placeholder.
func harmless(s string) bool {
	trimmed := strings.TrimSpace(s)
	switch {
	case strings.ContainsAny(trimmed, " \t\n") && !strings.ContainsFunc(trimmed, unicode.IsDigit): // a sentence
		return true
	case strings.HasPrefix(trimmed, "$"), strings.HasPrefix(trimmed, "<"), strings.HasPrefix(trimmed, "{{"),
		strings.HasPrefix(trimmed, "%"),
		strings.HasPrefix(trimmed, "@"), strings.HasPrefix(trimmed, "/"), strings.HasPrefix(trimmed, "./"),
		strings.HasPrefix(trimmed, "..."),
		strings.Contains(trimmed, "${"), strings.Contains(trimmed, "{{"), strings.Contains(trimmed, "env."),
		strings.Contains(trimmed, "environ"):
		return true
	case strings.Trim(trimmed, "*.xX-_#?") == "":
		return true
	}
	return plainWords[strings.ToLower(strings.Trim(trimmed, ".,;:!?()"))]
}

// plainWords are what stands beside the word password or token in prose, code and
// schemas without being one.
var plainWords = func() map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(`
		string number integer boolean bool object array null nil none true false undefined any unknown required optional
		password passwd token tokens secret secrets apikey api_key key keys value values text email username user hidden
		flag option options argument arguments parameter parameters file files header headers field fields and or for from
		with when if is are was not the this that to in on of by as it its must should can will may auth bearer basic
		default defaults empty missing invalid expired wrong changed example placeholder redacted removed your-password
		self bytes byte interface struct func function const let var new return await async error errors
	`) {
		all[word] = true
	}
	return all
}()
