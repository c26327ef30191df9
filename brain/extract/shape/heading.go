package shape

import (
	"strings"

	"orgmem/brain/text"
)

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

// HeadingWord tells whether a word, in small letters, is one of those.
func HeadingWord(w string) bool { return headings[w] }

// Heading tells whether a line is made of words that head a part of a text.
func Heading(line string) bool {
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
