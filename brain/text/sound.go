package text

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A name is written in other scripts by its sound, and by more than one spelling. Its key keeps what the spellings have
// in common: the classes of its consonants (p for p and b, k for k, g and q, s for all that hiss), A for a vowel at
// the beginning, and its vowels where there are fewer than three consonants. A passage holds one key of a name; a query
// looks for the keys that the other script's spelling may have.

// Bounds of names and their keys.
const (
	// maxSounds is how many keys a word is looked for by.
	maxSounds = 32
	// maxSounded is how many words of a query are looked for by their sound.
	maxSounded = 16
	// shortestSounded is the shortest word in letters that has a key, longestSounded the longest in bytes.
	shortestSounded, longestSounded = 2, 48
	// leastSounds is how many classes a key has at least; one less in scripts that do not write all vowels.
	leastSounds = 3
	// fewConsonants is up to how many consonants a key needs vowels to tell names apart.
	fewConsonants = 2
)

// choice is what one sound may be: classes, the one first that the index holds.
type choice []string

// choices are made of a list that spaces part, "-" for no sound.
func choices(list string) choice {
	all := strings.Fields(list)
	for i, s := range all {
		if s == "-" {
			all[i] = ""
		}
	}
	return all
}

// spelling is how letters of a script are heard.
type spelling struct {
	sounds map[string]choice
	// longest is that of sounds, in bytes.
	longest int
}

// spellings reads tables: letters and their sounds, an equals sign between, a comma behind.
func spellings(table string) spelling {
	s := spelling{sounds: make(map[string]choice)}
	for entry := range strings.SplitSeq(table, ",") {
		letters, sounds, ok := strings.Cut(strings.TrimSpace(entry), "=")
		if !ok {
			continue
		}
		for l := range strings.FieldsSeq(letters) {
			s.sounds[l], s.longest = choices(sounds), max(s.longest, len(l))
		}
	}
	return s
}

// The scripts that names are heard in. Letters that are in no table are silent. "^" stands for the beginning of a word,
// "$" for its end.
var (
	latinSounds = spellings(`
a=a i, e i y=i, o u=o, b p=P, bb pp=P, f=F P, ff=F P, ph=F P, v=F P, vv=F P, w=F - P, wn=N, wl=L, wm=M,
er$ ar$ or$=i+R a o, d t=T, dd tt=T, th=T S, k q=K, kk ck=K, kh=K, gh=K -, g gg=K, ge gi gy=K+i S+i,
gia=S+a K+a, gio=S+o K+o, giu=S+o K+o, c cc=K, ce ci cy=S+i K+i, ch=S K, chr=K+R, chl=K+L, chm=K+M, chn=K+N,
che=S+i K+i, chi=S+i K+i, sch=S S+K, tch tsch dsch dzh dj zh sh cz ts tz dz=S, sz=S, shch=S+S S, j=S - K,
jj=S, ^y=- K, s ss z zz=S, x=K+S, qu=K K+F, h=- K, l ll=L R, m mm=M, n nn=N, ng$=N N+K, ngh$=N N+K, r rr=R,
rz=R+S S, drz=S`)
	cyrillicSounds = spellings(`
а я=a, е э и ы і є ї=i, о у ю=o, б п=P, бб пп=P, в вв=F, г=K -, ґ=K, гг=K, д т дд тт=T, ж=S R+S, дж=S K,
з с зз сс=S, к кк=K, ке ки=K+i S+i, х=K - S, л лл=L, м мм=M, н нн=N, р рр=R, ф фф=F, ц ч ш тч тш=S, щ=S S+S,
уа уи уэ уо=o F+i`)
	greekSounds = spellings(`
α=a, αι=i, αυ=a+F, αου=a+o, ε η ι υ ει οι=i, ευ=i+F, ο ω ου=o, β=F, γ=K -, γι=K+i i S+i, γγ γκ=K,
δ θ τ ττ ντ=T, ζ σ σσ τσ τζ=S, κ κκ=K, λ λλ=L, μ μμ=M, ν νν=N, ξ=K+S, π ππ=P, μπ=P, ρ ρρ=R, φ=F, χ=K - S,
ψ=P+S`)
	arabicSounds = spellings(`
ا ة=a, ^ال=-, ه$=a, ^ع=a, ^ح=a K, ^ه=a, ب پ=P, ت ط د ض=T, ث ذ ظ=S T, ج=S K, چ=S, ح=- K, خ=K, ر=R, ز ژ س ص ش=S,
غ=K, ف=F, ڤ=F, ق ك گ=K, ل=L, م=M, ن=N, و=o F, ^و=F, ي=i, ^ي=-, يا=a i+a`)
	hebrewSounds = spellings(`
א=a, ^ע=a, ^ה=a, ה$=a, ב=P F, ג=K S, ד ט ת=T, ו=o F, וו=F, ^ו=F, ז ס צ ץ ש=S, ח=K - S, י=i, כ ך ק=K, ל=L,
מ ם=M, נ ן=N, פ ף=P F, ר=R, יי=i`)
	devanagariSounds = spellings(`
अ आ ा=a, इ ई ि ी ए ऐ े ै=i, उ ऊ ओ औ ु ू ो ौ=o, क ख ग घ=K, च छ ज झ=S, ट ठ ड ढ त थ द ध=T, ण न ञ ङ ं=N, प ब भ=P,
फ=F P, म=M, र=R, ल ळ=L, व=F, श ष स=S, ृ=R`)
	kanaSounds = spellings(`
あ ぁ=a, い ぃ え ぇ=i, う ぅ お ぉ=o, か が=K+a, き ぎ=K+i S+i, く ぐ=K, け げ=K+i S+i, こ ご=K+o, くぁ=K+F+a, さ=S+a T+a, ざ=S+a,
し じ せ ぜ=S+i, す=S T, ず=S, そ ぞ=S+o, しゃ じゃ ちゃ=S+a, しゅ じゅ ちゅ しょ じょ ちょ=S+o, しぇ じぇ ちぇ=S+i, た だ=T+a, ち ぢ=S+i, つ づ=S,
つぁ=S+a, て で=T+i, と ど=T, てぃ でぃ=T+i, とぅ どぅ=T+o, でゅ=T+o, な=N+a, に ね=N+i, ぬ の=N+o, は=a, ひ へ=i, ほ=o, ば ぱ=P+a F+a,
び べ=P+i F+i, ぴ ぺ=P+i, ぶ=P F, ぷ=P, ぼ=P+o F+o, ぽ=P+o, ふ=F -, ふぁ=F+a, ふぃ ふぇ=F+i, ふぉ=F+o, ま=M+a, み め=M+i, む=M,
も=M+o, や ゃ=a, ゆ ゅ よ ょ=o, ら=R+a L+a, り れ=R+i L+i, る=R L, ろ=R+o L+o, わ=F+a a, うぃ うぇ=F+i i, うぉ=F+o o, ん=N, ゔ=F,
ゔぁ=F+a, ゔぃ ゔぇ=F+i, ゔぉ=F+o, ー=- R`)
)

// Sounds of the parts that Hangul syllables are composed of, in Unicode's order.
var (
	hangulInitials = eachChoice(`K,K,N,T,T,R L,M,P F,P F,S,S,-,S,S,S,K,T,P F,-`)
	hangulVowels   = eachChoice(`a,i,a,i,o R,i,o,i,o,a,i,i,o,o,o,i,i,o,-,i,i`)
	hangulFinals   = eachChoice(`-,K,K,K,N,N,N,T,R L,R,R,R,R,R,R,R,M,P F,P,T S,S,N,S,S,K,T,P F,-`)
)

func eachChoice(list string) []choice {
	var all []choice
	for c := range strings.SplitSeq(list, ",") {
		all = append(all, choices(c))
	}
	return all
}

// heard collects what a word sounds like.
type heard struct {
	slots []choice
	// bare: the script leaves vowels out.
	bare bool
}

// hear gives the sounds of a lower-case word in one script, nil if it has none that could be of a name.
func hear(w string, asked bool) *heard {
	letters := utf8.RuneCountInString(w)
	if letters < shortestSounded || len(w) > longestSounded || !utf8.ValidString(w) {
		return nil
	}
	h := &heard{}
	r, _ := utf8.DecodeRuneInString(w)
	switch {
	case r < 0x250 || r >= 0x1E00 && r <= 0x1EFF:
		h.spelled(stripAccents(w), &latinSounds)
		h.weakR(asked)
	case r >= 0x370 && r <= 0x3FF:
		h.spelled(stripAccents(w), &greekSounds)
	case r >= 0x400 && r <= 0x52F:
		h.spelled(nominative(w), &cyrillicSounds)
	case r >= 0x590 && r <= 0x5FF:
		h.spelled(w, &hebrewSounds)
		h.bare = true
	case r >= 0x600 && r <= 0x6FF:
		h.spelled(w, &arabicSounds)
		h.bare = true
	case r >= 0x900 && r <= 0x97F:
		h.devanagari(w)
	case r >= 0x3041 && r <= 0x30FF:
		h.spelled(w, &kanaSounds)
	case r >= firstHangul && r <= lastHangul:
		h.hangul(w)
	default:
		return nil
	}
	return h
}

// spelled reads the longest letters of the table at each place.
func (h *heard) spelled(w string, s *spelling) {
	for at := 0; at < len(w); {
		n := 0
		for m := min(s.longest, len(w)-at); m > 0; m-- {
			letters := w[at : at+m]
			var c choice
			if at == 0 {
				c = s.sounds["^"+letters]
			}
			if c == nil && at+m == len(w) {
				c = s.sounds[letters+"$"]
			}
			if c == nil {
				c = s.sounds[letters]
			}
			if c != nil {
				h.slots, n = append(h.slots, c), m
				break
			}
		}
		if n == 0 {
			_, n = utf8.DecodeRuneInString(w[at:])
		}
		at += n
	}
}

// weakR has an r of Latin script that no vowel follows be silent where it is asked for, as it is in Japanese and in
// Korean.
func (h *heard) weakR(asked bool) {
	if !asked {
		return
	}
	for i, c := range h.slots {
		if c[0] == "R" && (i+1 == len(h.slots) || !vowel(h.slots[i+1][0])) && i > 0 {
			h.slots[i] = choice{"R", ""}
		}
	}
}

// vowel tells whether a class is one, or begins with one.
func vowel(s string) bool { return s != "" && s[0] >= 'a' }

// cyrillicEndings are those that names have in other cases than the nominative, and what stands in it instead.
var cyrillicEndings = []struct{ ending, instead string }{
	{"ою", "а"},
	{"ой", "а"},
	{"ей", "я"},
	{"ии", "ия"},
	{"ию", "ия"},
	{"ы", "а"},
	{"у", "а"},
	{"ью", "ь"},
	{"ым", "ый"},
	{"ому", "ый"},
	{"ом", ""},
	{"ем", ""},
}

// nominative guesses that of a Russian name.
func nominative(w string) string {
	for _, e := range cyrillicEndings {
		if t, ok := strings.CutSuffix(w, e.ending); ok && utf8.RuneCountInString(t) > fewConsonants {
			return t + e.instead
		}
	}
	return w
}

// devanagari reads consonants with the vowel that they bring along where no sign takes it away.
func (h *heard) devanagari(w string) {
	const virama, lastConsonant, firstConsonant = 0x94D, 0x939, 0x915
	behind := false // a consonant whose vowel has not been said
	for _, r := range w {
		consonant := r >= firstConsonant && r <= lastConsonant
		if consonant && behind {
			h.slots = append(h.slots, choice{"a", ""})
		}
		if c := devanagariSounds.sounds[string(r)]; c != nil {
			h.slots = append(h.slots, c)
		}
		if consonant || r == virama || r >= 0x93E && r < virama {
			behind = consonant
		}
	}
}

// Hangul syllables are composed of an initial, a vowel and a final.
const (
	firstHangul, lastHangul = 0xAC00, 0xD7A3
	vowelsHangul, endings   = 21, 28
)

func (h *heard) hangul(w string) {
	before := "" // the final that stands before
	for _, r := range w {
		if r < firstHangul || r > lastHangul {
			return
		}
		n := int(r) - firstHangul
		initial := hangulInitials[n/(vowelsHangul*endings)]
		if !(before == "R" && initial[0] == "R") { // two of them are one l
			h.slots = append(h.slots, initial)
		}
		final := hangulFinals[n%endings]
		v := hangulVowels[n/endings%vowelsHangul]
		h.slots = append(h.slots, v[:1])
		if len(v) > 1 && final[0] == "" {
			h.slots = append(h.slots, choice{"", v[1]})
		}
		h.slots = append(h.slots, final)
		before = final[0]
	}
}

// key gives the key that the index holds, "" if the word has none.
func (h *heard) key() string {
	var sounds []byte
	for _, c := range h.slots {
		sounds = appendSounds(sounds, c[0])
	}
	return keyOf(sounds, h.bare)
}

// keys gives all keys that a query looks for, at most maxSounds.
func (h *heard) keys() []string {
	all := [][]byte{nil}
	for _, c := range h.slots {
		n := len(all)
		for _, other := range c[1:] {
			for _, s := range all[:n] {
				if len(all) == maxSounds {
					break
				}
				all = append(all, appendSounds(slices.Clone(s), other))
			}
		}
		for i, s := range all[:n] {
			all[i] = appendSounds(s, c[0])
		}
	}
	var keys []string
	add := func(k string) {
		if k != "" && len(keys) < maxSounds && !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	for _, s := range all {
		add(keyOf(s, false))
	}
	for _, s := range all { // scripts that write some vowels only: each may be there or not
		for _, k := range withoutVowels(s, h.bare) {
			add(k)
		}
	}
	return keys
}

func appendSounds(to []byte, sounds string) []byte {
	for _, c := range []byte(sounds) {
		if c != '+' {
			to = append(to, c)
		}
	}
	return to
}

// keyOf makes a key of sounds: of more than fewConsonants these alone, else with vowels, of which those side by side
// are one. A key that is too short to tell anything is "".
func keyOf(sounds []byte, bare bool) string {
	consonants := 0
	for _, c := range sounds {
		if c < 'a' {
			consonants++
		}
	}
	if consonants == 0 {
		return ""
	}
	key := make([]byte, 0, len(sounds))
	if consonants > fewConsonants {
		if sounds[0] >= 'a' {
			key = append(key, 'A')
		}
		for _, c := range sounds {
			if c < 'a' {
				key = append(key, c)
			}
		}
		return string(key)
	}
	for i, c := range sounds {
		if c < 'a' || i == 0 || sounds[i-1] < 'a' {
			key = append(key, c)
		}
	}
	least := leastSounds
	if bare {
		least--
	}
	if len(key) < least {
		return ""
	}
	return string(key)
}

// withoutVowels gives the keys of few consonants that a spelling without some of its vowels has; those of one without
// vowels (bare) with each vowel that may stand between two consonants.
func withoutVowels(sounds []byte, bare bool) []string {
	key := []byte(keyOf(sounds, true))
	consonants := 0
	for _, c := range key {
		if c < 'a' {
			consonants++
		}
	}
	if len(key) == 0 || consonants != fewConsonants || key[0] == 'A' {
		return nil
	}
	var out []string
	for i := range key {
		switch {
		case bare && i > 0 && key[i] < 'a' && key[i-1] < 'a':
			for _, v := range []byte("aio") {
				out = append(out, string(slices.Insert(slices.Clone(key), i, v)))
			}
		case !bare && i > 0 && i+1 < len(key) && key[i] >= 'a':
			out = append(out, string(slices.Delete(slices.Clone(key), i, i+1)))
		}
	}
	return out
}

// hangulParticles cling to Korean names.
var hangulParticles = []string{
	"에게서", "에게", "에서", "으로", "까지", "부터", "씨는", "씨가", "씨의", "씨", "님", "은", "는", "이", "가", "을", "를",
	"의", "와", "과", "도", "에", "로", "만",
}

// koreanVerbs are endings of what is no name.
const koreanVerbs = "다요면며게지"

// withoutParticle takes a particle off a run of Hangul of which two syllables are left; "" if it is no name.
func withoutParticle(w string) string {
	for _, p := range hangulParticles {
		if t, ok := strings.CutSuffix(w, p); ok && utf8.RuneCountInString(t) >= 2 {
			return t
		}
	}
	if last, _ := utf8.DecodeLastRuneInString(w); strings.ContainsRune(koreanVerbs, last) {
		return ""
	}
	return w
}

// soundSpace gives the name space of how a token sounds, if it may be a name: a word that begins with a capital, or one
// of a script that has none.
func soundSpace(t token, w []byte) (Lang, bool) {
	switch {
	case t.role == roleSound:
		return soundOther, true
	case t.role != roleWord || t.kind != tokWord || t.inName:
		return 0, false
	case t.script == scriptLatin:
		return soundLatin, t.capital
	case t.script == scriptArab:
		return soundOther, true
	case t.script == scriptCyrl:
		return soundOther, t.capital
	case t.script == scriptOther:
		return soundOther, w[0] >= utf8.RuneSelf && !mixed(w) // TGFβ is no name
	}
	return 0, false
}

// mixed tells whether a word has letters of more than one script.
func mixed(w []byte) bool {
	of := scriptNone
	var block rune
	for len(w) > 0 {
		r, n := utf8.DecodeRune(w)
		w = w[n:]
		sc := scriptOf(r)
		if r < utf8.RuneSelf {
			sc = scriptLatin
		}
		switch {
		case sc == scriptMark || sc == scriptNone:
		case of == scriptNone:
			of, block = sc, r>>8
		case sc != of || r>>8 != block:
			return true
		}
	}
	return false
}

// germanArticles stand before nouns and seldom before names, which German writes with a capital alike.
var germanArticles = Set(`der die das dem den des ein eine einem einen einer eines kein keine keinem keinen
keiner keines mein meine meinem meinen meiner dein deine sein seine seinem seinen seiner ihr ihre ihrem ihren
ihrer unser unsere unserem unseren unserer dieser diese dieses diesem diesen jede jeder jedes jedem jeden alle
allen im am vom zum zur beim ins ans`)

// germanEndings are those of nouns, and of few names.
var germanEndings = []string{"ung", "ungen", "heit", "heiten", "keit", "keiten", "schaft", "schaften", "tion", "tionen"}

// germanNoun tells whether the k-th of the scanned words is a German noun rather than a name, by what stands before it
// and by its end.
func (a *Analyzer) germanNoun(l Lang, k int) bool {
	if l != German {
		return false
	}
	t := a.scan.tokens[k]
	w := string(a.scan.buf[t.start:t.end])
	if slices.ContainsFunc(germanEndings, func(e string) bool { return strings.HasSuffix(w, e) }) {
		return true
	}
	if k == 0 {
		return false
	}
	before := a.scan.tokens[k-1]
	return germanArticles[string(a.scan.buf[before.start:before.end])]
}

// sound gives the term of how a lower-case word sounds, 0 if it has none.
func (a *Analyzer) sound(in Lang, w []byte) Term {
	k := in - soundLatin
	if t, ok := a.sounds[k][string(w)]; ok {
		return t
	}
	var t Term
	word := string(w)
	if h := hear(word, false); h != nil {
		if key := h.key(); key != "" {
			t = a.hash(in, []byte(key))
		}
	}
	keep(a, &a.sounds[k], word, t)
	return t
}

// asSounds gives the keys by which a word of a query is looked for in texts of other scripts. It has no alternatives if
// the word has no key.
func (a *Analyzer) asSounds(t token, w []byte, langs LangSet, keepStops bool) QueryTerm {
	t.capital = true // few write capitals into a search box
	in, ok := soundSpace(t, w)
	if !ok {
		return QueryTerm{}
	}
	other := soundLatin + soundOther - in
	if !langs.Has(other) || t.role == roleWord && !keepStops && (isStop(w, languageOf(t, a.queryLang)) ||
		t.script == scriptLatin && stopTable[string(w)].Has(a.queryLang)) {
		return QueryTerm{}
	}
	h := hear(string(w), true)
	if h == nil {
		return QueryTerm{}
	}
	q := QueryTerm{Weight: soundWeight, Optional: true}
	for _, key := range h.keys() {
		q.Alts = append(q.Alts, a.hash(other, []byte(key)))
	}
	return q
}
