package shape

import (
	"strings"
	"unicode"

	"orgmem/brain/text"
)

// URLName is a URL without its scheme and closing slash, and without what does not name what it leads to; empty for a
// shortened one, which says nothing of where it leads. What its query adds has room in so many bytes.
func URLName(w string, most int) string {
	if _, after, ok := strings.Cut(w, "://"); ok {
		w = after
	}
	w = strings.TrimPrefix(w, "www.")
	w, fragment, _ := strings.Cut(w, "#")
	w, query, _ := strings.Cut(w, "?")
	w = strings.TrimRight(w, "/.,)")
	host, path, _ := strings.Cut(w, "/")
	if !strings.Contains(host, ".") && host != "localhost" || strings.ContainsAny(host, "()<>\\") {
		return ""
	}
	short := len(host) <= 12 && strings.Count(host, ".") == 1 && path != "" && len(path) <= 12 &&
		!strings.ContainsAny(path, "/.-_")
	if short && (strings.IndexFunc(path, unicode.IsDigit) >= 0 || strings.IndexFunc(path, unicode.IsUpper) >= 0) {
		return ""
	}
	return w + asked(path, query, fragment, most-len(w))
}

// asked is what of a URL's query and fragment names a thing, in at most so many bytes: fields that are no bookkeeping
// and no secret, where the path is no file, which needs none; and the routes of a page that finds its way by them.
// Where a text begins in a page is left out.
func asked(path, query, fragment string, most int) string {
	out, last := "", path[strings.LastIndexByte(path, '/')+1:]
	if dot := strings.LastIndexByte(last, '.'); dot < 0 || !pages[strings.ToLower(last[dot+1:])] {
		for field := range strings.SplitSeq(query, "&") {
			key, value, _ := strings.Cut(field, "=")
			if value = strings.TrimRight(value, "/.,)"); value == "" || unnaming(strings.ToLower(key)) {
				continue
			}
			if out == "" {
				out = "?" + key + "=" + value
			} else {
				out += "&" + key + "=" + value
			}
		}
	}
	if strings.HasPrefix(fragment, "!") || strings.HasPrefix(fragment, "/") {
		fragment, _, _ = strings.Cut(fragment, "?") // which may let somebody in
		out += "#" + strings.TrimRight(fragment, "/.,)")
	}
	if len(out) > most {
		return ""
	}
	return out
}

// pages are the extensions of files that are the same whatever is asked of them.
var pages = text.Set("html htm pdf md txt png jpg jpeg gif svg zip js css")

// unnaming tells whether a field of a query says where somebody came from, where they begin to read, or lets them in.
func unnaming(key string) bool {
	if strings.HasPrefix(key, "utm_") || strings.HasPrefix(key, "x-amz-") {
		return true
	}
	for _, secret := range []string{
		"token", "secret", "pass", "pwd", "signature", "session", "apikey", "api_key", "auth", "jwt", "otp", "invit",
		"credential",
	} {
		if strings.Contains(key, secret) {
			return true
		}
	}
	return bookkeeping[key]
}

var bookkeeping = text.Set(`fbclid gclid dclid msclkid mc_cid mc_eid ref referrer source src si igshid feature
	usp hl lang locale t start time_continue ab_channel pp index sig sid key code state expires page per_page sort
	order view tab highlight pin`)
