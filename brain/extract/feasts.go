package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/tagger"
	"orgmem/brain/text"
)

// feasts are public holidays and other days of the year with a name of their own, which
// a tagger takes for people: they stand where people stand, and some people are called
// so.
var feasts = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.SplitSeq(`christmas|christmas day|christmas eve|xmas|yule|boxing day|new year|new year's|
		new year's day|new year's eve|new years eve|hogmanay|easter|easter day|easter sunday|easter monday|easter saturday|
		good friday|maundy thursday|holy week|holy thursday|palm sunday|ash wednesday|shrove tuesday|pancake day|mardi gras|
		lent|advent|epiphany|three kings day|candlemas|michaelmas|ascension|ascension day|pentecost|whitsun|whit sunday|
		whit monday|trinity sunday|assumption day|all saints|all saints' day|all saints day|all souls|all souls' day|
		all souls day|all hallows' eve|reformation day|halloween|hallowe'en|thanksgiving|thanksgiving day|black friday|
		cyber monday|labor day|labour day|may day|memorial day|veterans day|veterans' day|armistice day|remembrance day|
		remembrance sunday|independence day|canada day|australia day|anzac day|waitangi day|bastille day|republic day|
		national day|constitution day|columbus day|presidents day|presidents' day|groundhog day|earth day|flag day|juneteenth|
		kwanzaa|victoria day|heritage day|freedom day|valentine's day|valentine's|valentines day|mother's day|mothers day|
		father's day|fathers day|women's day|children's day|april fools' day|april fool's day|saint patrick's day|
		st patrick's day|st. patrick's day|saint andrew's day|st andrew's day|st. andrew's day|st george's day|
		st. george's day|st david's day|st. david's day|saint nicholas day|st nicholas day|st. nicholas day|st stephen's day|
		st. stephen's day|martin luther king day|martin luther king jr. day|mlk day|guy fawkes night|bonfire night|
		burns night|midsummer|midsummer's eve|midsummer day|walpurgis night|twelfth night|harvest festival|cinco de mayo|
		day of the dead|hanukkah|chanukah|hanukah|passover|pesach|purim|rosh hashanah|rosh hashana|yom kippur|sukkot|shavuot|
		simchat torah|tisha b'av|lag baomer|ramadan|eid|eid al-fitr|eid al-adha|eid ul-fitr|eid ul-adha|ashura|mawlid|
		laylat al-qadr|nowruz|newroz|norouz|diwali|deepavali|holi|navratri|dussehra|durga puja|raksha bandhan|
		ganesh chaturthi|onam|pongal|makar sankranti|vaisakhi|baisakhi|vesak|wesak|songkran|chuseok|obon|lunar new year|
		chinese new year|mid-autumn festival|dragon boat festival|lantern festival|qingming|golden week|oktoberfest`, "|") {
		m[strings.TrimSpace(name)] = true
	}
	delete(m, "")
	return m
}()

// wishesOf stand before a feast without being part of its name.
var wishesOf = text.Set(`happy merry blessed joyful joyous feliz frohe joyeux last next this every before after since
	until
	on at for`)

// feast tells whether a name is that of a holiday, and makes the span its name alone:
// "Happy Easter", "Christmas 2025", and the day of Saint Patrick, who is no guest.
func (r *recognizer) feast(f *span) bool {
	for from := f.from; from < f.to; from++ {
		if r.isFeast(from, f.to) {
			f.from = from
			// Behind the name: Easter Monday, Saint Patrick's Day.
			for to := min(len(r.tokens), f.to+2); to > f.to; to-- {
				if r.isFeast(from, to) {
					f.to = to
				}
			}
			return true
		}
		for to := min(len(r.tokens), f.to+3); to > f.to; to-- {
			if r.isFeast(from, to) {
				f.from, f.to = from, to
				return true
			}
		}
		if !wishesOf[r.lows[from]] {
			break
		}
	}
	last := f.to - 1
	if last > f.from && r.year(last) && r.isFeast(f.from, last) {
		f.to = last
		return true
	}
	return false
}

// partFeasts cuts a name apart at a small word that ties a holiday to something else:
// "Diwali and Eid", "Passover with the Levys".
func (r *recognizer) partFeasts() {
	for n := 0; n < len(r.found); n++ {
		f := r.found[n]
		for k := f.from + 1; k < f.to-1; k++ {
			switch r.lows[k] {
			case "and", "or", "with", "at", "in", "&":
			default:
				continue
			}
			rest := k + 1
			if r.lows[rest] == "the" && rest+1 < f.to {
				rest++
			}
			if !r.isFeast(f.from, f.to) && (r.isFeast(f.from, k) || r.isFeast(rest, f.to)) {
				r.found[n].to = k
				r.found = slices.Insert(r.found, n+1, span{from: rest, to: f.to, tag: f.tag, p: f.p})
				break
			}
		}
	}
}

// maxFeast bounds the names that are looked up, in bytes.
const maxFeast = 40

// guest tells whether a name of a holiday is somebody's here: behind a form of address,
// or as one of two names.
func (r *recognizer) guest(f span) bool {
	return f.from > 0 && !r.tokens[f.from].First && r.title(f.from-1)
}

// headings are the words that a part of a text is headed by. They name nothing.
var headings = text.Set(`goal goals note notes action actions item items agenda summary overview background introduction
	intro conclusion conclusions next step steps todo todos to do dos task tasks decision decisions attendee attendees
	participant participants present absent apologies minutes meeting open question questions issue issues topic topics
	update updates status risk risks blocker blockers follow-up follow-ups follow up ups key takeaway takeaways point
	points result results finding findings recommendation recommendations deliverable deliverables milestone milestones
	timeline schedule deadline deadlines budget scope objective objectives purpose context discussion details description
	requirement requirements assumption assumptions dependency dependencies reference references appendix abstract contents
	resources links misc miscellaneous general other parking lot idea ideas learning learnings lessons learned highlight
	highlights lowlights wins challenges problem problems solution solutions option options pros cons feedback plan plans
	planning review retrospective retro recap outcome outcomes owner owners assignee due priority priorities shopping list
	checklist and or the of for any our my weekly daily monthly today tomorrow yesterday week done doing backlog progress
	announcements reminder reminders remarks comments questions & answers faq tl;dr tldr q&a q
	onboarded onboarding offboarding`)

// heading tells whether a span heads a part of the text, in words that name nothing:
// "Action Items", "Goals:". Of one word only where it stands as a heading does.
func (r *recognizer) heading(f span) bool {
	words := 0
	for i := f.from; i < f.to; i++ {
		if r.tokens[i].Kind == tagger.Mark && r.lows[i] != "&" {
			continue
		}
		if !headings[r.lows[i]] {
			return false
		}
		words++
	}
	if words > 1 {
		return true
	}
	start, end := r.tokens[f.from].Start, r.tokens[f.to-1].End
	from := strings.LastIndexByte(r.text[max(0, start-maxHeading):start], '\n') + 1
	if from == 0 && start > maxHeading {
		return false
	}
	from += max(0, start-maxHeading)
	line := r.text[from:min(len(r.text), end+maxHeading)]
	if stop := strings.IndexAny(line[end-from:], "\r\n:"); stop >= 0 {
		line = line[:end-from+stop]
	}
	line, _, _ = strings.Cut(line, " - ")
	line, _, _ = strings.Cut(line, " – ")
	line, _, _ = strings.Cut(line, " — ")
	return len(line) > 0 && isHeading(line)
}

// isHeading tells whether a line is made of words that head a part of a text.
func isHeading(line string) bool {
	words := 0
	for w := range strings.FieldsSeq(strings.ToLower(line)) {
		if w = strings.Trim(w, "#*_-+•>=~`.)(0123456789[],&/"); w == "" {
			continue
		}
		if !headings[w] {
			return false
		}
		words++
	}
	return words > 0
}

// maxHeading bounds a heading before and behind a name, in bytes.
const maxHeading = 60
