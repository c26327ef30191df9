package claim

import (
	"slices"
	"strings"

	"orgmem/brain/text"
)

// Who orders what is to be said, forgotten or taken for true states nothing by that: "Say that Tomas never moved" does
// not say that he never did. English has no form for it, and people leave their subjects out ("Moved to Lyon", "Love
// the flat"), so a sentence is an order only where its first verb is one of those by which such orders are given, and
// what stands behind it can be nothing but its object. What is not sure states. So do instructions: of "Open valve A
// before valve B" and the other way round one is wrong.

// Stated are the claims that may be set against others: all but orders.
func Stated(claims []Claim) []Claim {
	if !slices.ContainsFunc(claims, func(c Claim) bool { return c.Orders }) {
		return claims
	}
	return slices.DeleteFunc(slices.Clone(claims), func(c Claim) bool { return c.Orders })
}

// maxLeads is how many words and phrases in front of an order's verb are looked behind.
const maxLeads = 6

// maxCondition is within how many words an order's condition ends.
const maxCondition = 30

var (
	// saying are verbs of what is to be said, which is said by nobody: behind them stands one of answers, or a mark of
	// speech. telling are those that say first to whom, and are orders where a clause follows.
	saying  = text.Set(`say answer reply respond repeat pretend`)
	telling = text.Set(`tell remind inform notify`)
	answers = text.Set(`that with only nothing no yes so`)
	// voiding are verbs of what is not to count any more, and erasing those of them that rules are made with, too: how
	// long something is kept is worth to be compared.
	voiding = text.Set(`ignore disregard forget delete erase discard overwrite override`)
	erasing = text.Set(`delete erase discard overwrite override`)
	// taking are verbs of what something is to be taken for, or answered, with the words that say so.
	taking = map[string]map[string]bool{
		"mark": text.Set(`as`), "treat": text.Set(`as`), "consider": text.Set(`as`), "act": text.Set(`if though`),
		"answer": text.Set(`with that`), "reply": text.Set(`with that`), "respond": text.Set(`with that`),
	}
	objects = text.Set(`me him her it them us everyone everybody anyone anybody someone somebody nobody everything anything
nothing something the a an this that these those all every any each my your his its our their both what whatever
previous prior earlier`)
	leads = text.Set(`just now then also and so or but always first finally immediately kindly instead ok okay well please
pls plz`)
	addressees = text.Set(`assistant system ai bot computer everyone everybody all team guys folks model user admin`)
	conditions = text.Set(`if when whenever once unless before after`)
	finite     = text.Set(`is are was were am has have had will would can could may might must shall should does did do isn
aren wasn weren won cannot`)
	subjects = text.Set(`you it there this that these those the a an my your his her its our their ours yours mine
everyone everybody nobody`)
	nominatives = text.Set(`i he she we they`)
	reasons     = text.Set(`because since but while whereas although though`)
	relates     = text.Set(`who whom which whose where`)
)

// orders tells whether a sentence, whose words these are, only tells somebody to do something.
func orders(w []Word, s string) bool {
	o := ordering{w, s}
	i := 0
	if f := o.form(0); f != "say" && !telling[f] { // Say: it is closed
		for i < len(w) && w[i].Label {
			i++
		}
	}
	if i < len(w) && conditions[w[i].Form] { // If anybody asks, say that …
		for k := i + 1; k < min(len(w), i+maxCondition); k++ {
			if strings.Contains(o.gap(k-1), ",") {
				return o.at(k)
			}
			if k > i+1 && nominatives[w[k].Form] {
				return false // If you ask nicely he will come, …
			}
		}
		return false
	}
	return o.at(i)
}

// ordering reads the words of a sentence.
type ordering struct {
	w []Word
	s string
}

func (o ordering) form(i int) string {
	if i < 0 || i >= len(o.w) {
		return ""
	}
	return o.w[i].Form
}

// gap is what stands behind the i-th word and before the next.
func (o ordering) gap(i int) string {
	if i < 0 || i+1 >= len(o.w) {
		return ""
	}
	return o.s[o.w[i].End:o.w[i+1].Start]
}

// at tells whether an order begins at the i-th word, and nothing beside it is stated.
func (o ordering) at(i int) bool {
	denied := false
	for range maxLeads {
		switch f := o.form(i); {
		case f == "from" && o.form(i+1) == "now" && o.form(i+2) == "on":
			i += 3
		case leads[f]:
			i++
		case strings.HasPrefix(o.gap(i), ",") && !saying[f] && foreign[f] == nil && (addressees[f] || o.capital(i)):
			i++
		case f == "do" && o.form(i+1) == "not":
			i, denied = i+2, true
		case f == "never":
			i, denied = i+1, true
		}
	}
	return i < len(o.w) && (o.commands(i, denied) || foreignOrder(o, i)) && !o.statesBeside(i)
}

// commands tells whether the i-th word is the verb of an order.
func (o ordering) commands(i int, denied bool) bool {
	f, next, gap := o.form(i), o.form(i+1), o.gap(i)
	if strings.Trim(gap, " \"'“”‘’«»:") != "" || gap != "" && !strings.Contains(gap, " ") || finite[next] {
		return false // "Move-in", "Answer is"
	}
	if f == "forget" && denied {
		return false // it tells what is to be remembered
	}
	spoken := strings.ContainsAny(gap, "\"“«:")
	switch {
	case f == "say" && (spoken || answers[next] || objects[next]), saying[f] && (spoken || next == "that"):
		return true
	case f != "repeat" && f != "pretend" && saying[f] && answers[next] && !o.tells(i+2):
		return next != "with" || !o.measured(i)
	case telling[f] && (objects[next] || i+1 < len(o.w) && o.capital(i+1) && !finite[o.form(i+2)]):
		return o.clause(i + 1)
	case voiding[f] && (objects[next] || i+1 < len(o.w) && o.w[i+1].Name && f != "override"):
		return !erasing[f] || !o.measured(i)
	case taking[f] != nil && (objects[next] || next == "to" || f == "act"):
		for k := i + 1; k < min(len(o.w), i+maxTaken); k++ {
			if taking[f][o.form(k)] {
				return f != "reply" && f != "respond" || !o.tells(i+2)
			}
		}
	}
	return false
}

// measured tells whether a number or a time stands from the i-th word on.
func (o ordering) measured(i int) bool {
	return slices.ContainsFunc(o.w[i:], func(w Word) bool { return w.Kind == Number || w.Kind == Time })
}

// maxTaken is within how many words it is said what something is to be taken for.
const maxTaken = 7

// clause tells whether a clause stands behind somebody to whom it is to be told, and who begins with the i-th word.
func (o ordering) clause(i int) bool {
	for k := i + 1; k < len(o.w); k++ {
		f := o.w[k].Form
		if f == "that" || finite[f] || nominatives[f] || strings.ContainsAny(o.gap(k-1), "\"“«:") ||
			subjects[f] && (k == i+1 || k == i+2 && o.w[k-1].Kind != Function) {
			return true
		}
	}
	return false
}

// tells tells whether a finite verb stands from the i-th word on: what stands before it may be its subject.
func (o ordering) tells(i int) bool {
	for ; i < len(o.w); i++ {
		if f := o.w[i].Form; finite[f] || strings.HasSuffix(f, "ed") {
			return true
		}
	}
	return false
}

func (o ordering) capital(i int) bool { return isCapital(o.s[o.w[i].Start:]) }

// statesBeside tells whether something is stated beside the order whose verb is the i-th word, in a clause that its
// object does not hold: "Bring a coat, it is cold".
func (o ordering) statesBeside(i int) bool {
	marks := ",;–—:("
	if saying[o.form(i)] || telling[o.form(i)] { // what is to be said
		marks = ",;–—("
	}
	for k := i + 1; k < len(o.w); k++ {
		parted := strings.ContainsAny(o.gap(k-1), marks) || strings.Contains(o.gap(k-1), " - ")
		if !parted && !reasons[o.w[k].Form] {
			continue
		}
		head := k
		for head < len(o.w) && (reasons[o.w[head].Form] || o.w[head].Form == "and" || leads[o.w[head].Form]) {
			head++
		}
		if head >= len(o.w) || o.commands(head, false) {
			continue
		}
		if nominatives[o.w[head].Form] || relates[o.w[head].Form] && !saying[o.form(i)] && !telling[o.form(i)] {
			return true
		}
		if (subjects[o.w[head].Form] || o.w[head].Name || o.capital(head)) && o.predicate(head+1) {
			return true
		}
	}
	return false
}

// predicate tells whether a finite verb stands from the i-th word on, as far as the clause goes.
func (o ordering) predicate(i int) bool {
	for ; i < len(o.w) && !strings.ContainsAny(o.gap(i-1), ",;"); i++ {
		f := o.w[i].Form
		if finite[f] || strings.HasSuffix(f, "ed") || strings.ContainsAny(o.gap(i-1), "'’") {
			return true
		}
		if next := o.form(i + 1); strings.HasSuffix(f, "s") && o.w[i].Kind == Content && i+1 < len(o.w) &&
			o.w[i+1].Kind == Function && next != "and" && next != "or" {
			return true
		}
	}
	return false
}

// foreign are the words by which orders begin in German, French and Spanish, and what must follow, one of several;
// none: anything. Forms that are also of the third person, and notices, are left out.
var foreign = func() map[string]map[string]bool {
	m := map[string]map[string]bool{}
	for _, row := range [][2]string{
		{"sag sage erzähl erzähle", "dass daß ihm ihr ihnen allen mir uns jedem nicht nichts bitte"},
		{"antworte", "dass daß mit nur immer niemals auf nicht ihm ihr ihnen"},
		{"ignoriere vergiss vergesst lösche markiere behaupte missachte überschreibe", `alle alles die das den dem diese
diesen dieses sämtliche jede jeden jedes dass daß was ihn sie es bitte nicht`},
		{"dis dites", "que qu leur lui moi nous à"},
		{"réponds répondez", "que qu à par toujours seulement leur lui"},
		{"oubliez ignorez effacez supprimez marquez", "tout toutes tous le la les ce cette ces l que"},
		{"oublie ignore efface supprime", "tout toutes tous"},
		{"di diga digan", "que a"},
		{"dile diles dígale dígales", ""},
		{"responda responded", "que a siempre solo con"},
		{"olvide olvidad olviden ignore ignorad ignoren borre borrad marque marcad", `todo todos toda todas el la los las
esto lo que`},
	} {
		for word := range strings.FieldsSeq(row[0]) {
			if m[word] == nil {
				m[word] = map[string]bool{}
			}
			for next := range strings.FieldsSeq(row[1]) {
				m[word][next] = true
			}
		}
	}
	return m
}()

// formal are infinitives that with "Sie" behind them give an order.
var formal = text.Set(`sagen antworten ignorieren vergessen löschen markieren behaupten`)

// foreignOrder tells whether the i-th word is the verb of an order in another language.
func foreignOrder(o ordering, i int) bool {
	f, next := o.form(i), o.form(i+1)
	if f == "bitte" {
		i++
		f, next = o.form(i), o.form(i+1)
	}
	if gap := o.gap(i); strings.Trim(gap, " -,'’:") != "" {
		return false
	}
	if formal[f] && next == "sie" {
		return true
	}
	follows, known := foreign[f]
	return known && (len(follows) == 0 || follows[next] || f == "dites" && strings.HasPrefix(o.gap(i), "-"))
}
