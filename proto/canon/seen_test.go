package canon

import "testing"

// What a person sees stays, and nothing else, however often it is looked at.
func TestSeen(t *testing.T) {
	for stored, want := range map[string]string{
		"a\U000E0041\U000E007Fb": "ab", "\u202Eabc\u202C": "abc", "\u2066a\u2069\u200B\uFEFF": "a",
		"a\x07\x1b[2J\r\n\tb": "a[2J\n\tb",
		"\xffa":               "\uFFFDa", "👩\u200D🚀 é नमस्ते": "👩\u200D🚀 é नमस्ते", "": "",
		// Selectors and joiners where they mean something, and where they carry bits.
		"a\uFE00\uFE01\uFE0Fb\uFE0F \uFE0E":              "ab ",
		"❤\uFE0F\u200D🔥 1\uFE0F\u20E3 ©\uFE0F ☎\uFE0E":   "❤\uFE0F\u200D🔥 1\uFE0F\u20E3 ©\uFE0F ☎\uFE0E",
		"❤\uFE0F\uFE0F\uFE0E\uFE00!":                     "❤\uFE0F!",
		"می\u200Cخواهم क्\u200Dष":                        "می\u200Cخواهم क्\u200Dष",
		"a\u200Db\u200Cc\u200D \u200D🚀 🚀\u200D":          "abc 🚀 🚀",
		"👩\u200D\u200D\u200C🚀":                           "👩\u200C🚀",
		"s\u00ADh\u034Fy\u061C\u200E\u200F\u115F":        "shy",
		"\u1160\u3164\uFFA0\uE000\uF8FF\U000F0000\u17B4": "",
		"\U00100000\u180E\u2061\u2065\U0001D173\uFFF9":   "",
		"ᠠ\u180B\u180C \u0600١٢":                         "ᠠ\u180B \u0600١٢",
		"東京 Größe 한글 עברית ελληνικά €5 × ½ „so“ …":       "東京 Größe 한글 עברית ελληνικά €5 × ½ „so“ …",
	} {
		if got := Seen(stored); got != want {
			t.Errorf("%q: %q, want %q", stored, got, want)
		}
		if again := Seen(Seen(stored)); again != want {
			t.Errorf("%q: %q the second time", stored, again)
		}
	}
}

func TestPrefix(t *testing.T) {
	for _, c := range []struct {
		of   string
		most int
		want string
	}{{"aé", 2, "a"}, {"aé", 3, "aé"}, {"aé", 9, "aé"}, {"é", 1, ""}, {"aé", 0, ""}, {"", 0, ""}, {"a\x80\x80b", 2, ""}} {
		if got := Prefix(c.of, c.most); got != c.want {
			t.Errorf("%q, %d: %q, want %q", c.of, c.most, got, c.want)
		}
	}
}
