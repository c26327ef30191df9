package extract

import (
	"slices"
	"strings"

	"orgmem/brain/extract/shape"
)

// phrase is what stands between two mentions of a relation, in words.
type phrase struct {
	words    string
	relation RelationType
	reverse  bool // the second mention is From
}

// phrases, by relation; "<" before a phrase: the second mention is From. None may
// stand under two relations: which of them it means would differ between processes.
var phrases, listedPhrases = func() (m map[string]phrase, listed int) {
	m = map[string]phrase{}
	for relation, list := range map[RelationType]string{
		WorksFor: `works for|works at|work at|work for|worked for|worked at|working for|working at|joined|joins|
			is employed by|employed by|hired by|was hired by|professor at|professor of|engineer at|developer at|researcher at|
			scientist at|lecturer at|studied at|taught at|teaches at|left|< hired|< hires|employee of|manager at|fellow at|
			of the faculty of`,
		MemberOf: `member of|is a member of|was a member of|members of|belongs to|belonged to|joined the band|plays for|
			played for|signed for|representing|on behalf of|< led by|fellow of|of the band|drummer of|singer of|guitarist of|
			bassist of|vocalist of|frontman of`,
		RoleIn: `founder of|co-founder of|cofounder of|founded|co-founded|chair of|chairman of|chairs|ceo of|cto of|cfo of|
			president of|vice president of|director of|head of|heads|leads|led|lead of|leader of|editor of|maintainer of|
			maintains|manager of|manages|author of|minister of|secretary of|governor of|mayor of|owner of|representative of|
			candidate of|< founded by|< chaired by|< maintained by|< co-founded by|chief executive of|stars in|starred in|
			appeared in|starring in`,
		LocatedIn: `based in|is based in|headquartered in|located in|is located in|is in|lives in|lived in|lives at|born in|
			was born in|died in|moved to|located at|situated in|office in|offices in|city in|town in|village in|held in|
			was held in|took place in|takes place in|capital of`,
		PartOf: `part of|is part of|is a part of|subsidiary of|division of|branch of|department of|component of|
			is included in|belongs to the|chapter of|track on|song on|from the album|< consists of|< includes|< contains|
			< comprises|merged into|within`,
		CreatedBy: `written by|created by|developed by|built by|designed by|directed by|composed by|published by|released by|
			made by|produced by|invented by|authored by|proposed by|recorded by|performed by|painted by|is written by|
			was written by|was created by|was developed by|was built by|was designed by|was directed by|was composed by|
			was published by|was released by|was proposed by|was invented by|< wrote|< created|< develops|< developed|< built|
			< designed|< directed|< composed|< published|< released|< invented|< proposed|< produced|< recorded|< writes|
			< painted|< launched|< announced|< authored|novel by|song by|book by|album by|poem by|film by|paper by|band|
			< opened|< reported|reported by|opened by|was opened by|was reported by`,
		Owns: `owns|owned|acquired|acquires|bought|buys|has acquired|took over|< owned by|< acquired by|
			< was acquired by|< bought by|< is owned by|purchased`,
		Uses: `uses|use|used|is using|are using|using|runs on|running on|powered by|is built on|built on|built with|
			based on|is based on|written in|is written in|implemented in|relies on|migrated to|switched to|moved to using|
			adopted|< is used by|< used by|< used in`,
		DependsOn: `depends on|depend on|requires|require|needs|blocked by|is blocked by|depends upon|< blocks|
			< is required by|< required by`,
		Replaces: `replaces|replaced|supersedes|superseded|succeeds|succeeded|< replaced by|< was replaced by|
			< superseded by|< is superseded by|< was superseded by|< succeeded by|< was succeeded by|< in favor of|
			< in favour of|instead of`,
		AlsoKnownAs: `also known as|known as|aka|a.k.a.|also called|formerly known as|formerly|called|nicknamed|renamed to|
			renamed|better known as|( also known as|( formerly|( aka|alias|short for|stands for|abbreviated as`,
		Won: `won|wins|won the|received|received the|was awarded|was awarded the|awarded|has won|is a recipient of|
			winner of|recipient of|< awarded to|< was awarded to|< won by|< went to`,
		TookPartIn: `attended|attends|took part in|participated in|participates in|competed in|spoke at|presented at|
			played at|performed at|fought in|ran in|served in|speaker at|represented at`,
		Knows: `married|is married to|was married to|wife of|husband of|daughter of|son of|brother of|sister of|
			father of|mother of|friend of|colleague of|met|met with|worked with|works with|collaborated with|spoke to|talked to|
			reports to|reported to|mentor of|student of|manager is`,
		Opposes: `defeated|beat|defeats|lost to|versus|vs|vs.|is against|was against|are against|fought against|v|v.|sued|
			competes with|competed against|opposed|opposes|criticized|criticised|disagrees with`,
		AssignedTo: `assigned to|is assigned to|was assigned to|owner is|is owned by the|< will fix|< is working on|
			< works on|< fixed|fixed by|was fixed by`,
	} {
		for p := range strings.SplitSeq(list, "|") {
			p = strings.Join(strings.Fields(p), " ")
			rest, reverse := strings.CutPrefix(p, "< ")
			m[rest] = phrase{words: rest, relation: relation, reverse: reverse}
			listed++
		}
	}
	return m, listed
}()

const (
	// maxBetween is how many tokens may stand between two mentions, and maxPhrase is
	// the longest phrase: what is said further apart is said of something else.
	maxBetween = 8
	maxPhrase  = 5
)

// ends says between what a relation can be. Anything may be of type other.
var ends = map[RelationType][2][]Type{
	WorksFor:  {{Person}, {Organization, Project}},
	MemberOf:  {{Person, Organization}, {Organization, Project, Event}},
	RoleIn:    {{Person, Organization}, {Organization, Project, Product, Place, Event}},
	LocatedIn: {{Person, Organization, Place, Event, Project, Product}, {Place}},
	PartOf: {
		{Organization, Product, Place, Project, Code, Identifier, Event},
		{Organization, Product, Place, Project, Code, Identifier, Event},
	},
	CreatedBy: {{Product, Project, Code, Identifier, URL, Event}, {Person, Organization}},
	Owns:      {{Person, Organization}, {Organization, Product, Project, Place}},
	Uses:      {{Person, Organization, Product, Project, Code, Place}, {Product, Project, Code, Organization}},
	DependsOn: {
		{Product, Project, Code, Identifier, Organization}, {Product, Project, Code, Identifier, Organization, Person},
	},
	Replaces: {
		{Product, Project, Code, Identifier, Person, Organization},
		{Product, Project, Code, Identifier, Person, Organization},
	},
	Won:        {{Person, Organization, Product}, {Event, Product}},
	TookPartIn: {{Person, Organization}, {Event}},
	Knows:      {{Person}, {Person}},
	AssignedTo: {{Identifier, Project, Product, Code, URL}, {Person, Organization}},
	Opposes:    {{Person, Organization, Product, Place}, {Person, Organization, Product, Place}},
}

func fits(t Type, of []Type) (fits, sure bool) {
	if slices.Contains(of, t) {
		return true, true
	}
	return len(of) == 0 || t == Other, len(of) == 0
}

// relate finds the relations between the mentions [first, end) of the sentence
// whose tokens are [from, to).
func (r *reader) relate(first, end, from, to int) {
	evidence := Span{Start: r.tokens[from].Start, End: r.tokens[to-1].End}
	at := from
	for b := first + 1; b < end; b++ {
		a := b - 1
		for at < to && r.tokens[at].Start < r.out.Mentions[a].Span.End {
			at++
		}
		stop := at
		for stop < to && r.tokens[stop].End <= r.out.Mentions[b].Span.Start {
			stop++
		}
		p, confidence, ok := r.between(a, b, at, stop)
		if !ok {
			continue
		}
		// "Ann and Bob joined Acme": what is said of Bob is said of Ann.
		for {
			r.relation(a, b, p, confidence, evidence)
			if a == first || !r.coordinated(a-1, a) {
				break
			}
			a--
			confidence *= 0.8
		}
	}
}

// coordinated tells whether nothing but a comma or "and" stands between two
// mentions of one type.
func (r *reader) coordinated(a, b int) bool {
	x, y := r.out.Mentions[a], r.out.Mentions[b]
	if x.Type != y.Type || x.Span.End > y.Span.Start {
		return false
	}
	switch strings.TrimSpace(r.text[x.Span.End:y.Span.Start]) {
	case ",", "and", ", and", "&", "or":
		return true
	}
	return false
}

// between finds the phrase that stands in the tokens [at, stop) between two
// mentions.
func (r *reader) between(a, b, at, stop int) (p phrase, confidence float64, ok bool) {
	x, y := r.out.Mentions[a], r.out.Mentions[b]
	n := stop - at
	if n <= 0 || n > maxBetween {
		return p, 0, false
	}
	if n == 1 {
		switch r.lows[at] {
		case "(":
			if shape.Acronym(y.Name, x.Name) || shape.Acronym(x.Name, y.Name) {
				return phrase{relation: AlsoKnownAs}, 0.9, true
			}
			return p, 0, false
		case ",":
			if y.Type == Place && (x.Type == Place || x.Type == Organization) {
				return phrase{relation: LocatedIn}, 0.6, true
			}
			return p, 0, false
		case "'s", "’s":
			if x.Type == Organization && y.Type == Product {
				return phrase{relation: CreatedBy, reverse: true}, 0.5, true
			}
			return p, 0, false
		case "in":
			if y.Type == Place && (x.Type == Place || x.Type == Organization || x.Type == Event) {
				return phrase{relation: LocatedIn}, 0.6, true
			}
			return p, 0, false
		}
	}
	if slices.ContainsFunc(r.lows[at:stop], func(w string) bool { return denied[w] }) {
		return p, 0, false
	}
	for size := min(maxPhrase, n); size > 0; size-- {
		for i := at; i+size <= stop; i++ {
			if p, ok = phrases[strings.Join(r.lows[i:i+size], " ")]; ok {
				if !r.constructed(p, x, y, at, i, size, stop) {
					return p, 0, false
				}
				// Each further word makes it less sure.
				return p, 0.9 - 0.08*float64(n-size), true
			}
		}
	}
	return p, 0, false
}

// relation keeps a relation between mentions that it can hold between.
func (r *reader) relation(a, b int, p phrase, confidence float64, evidence Span) {
	if p.reverse {
		a, b = b, a
	}
	x, y := r.out.Mentions[a], r.out.Mentions[b]
	if x.Name == y.Name {
		return
	}
	okFrom, sureFrom := fits(x.Type, ends[p.relation][0])
	okTo, sureTo := fits(y.Type, ends[p.relation][1])
	if !okFrom || !okTo {
		return
	}
	if !sureFrom || !sureTo {
		confidence *= 0.75
	}
	confidence *= min(1, 0.5+x.Confidence/2) * min(1, 0.5+y.Confidence/2)
	if confidence < MinConfidence || len(r.out.Relations) >= MaxRelations {
		return
	}
	r.out.Relations = append(r.out.Relations,
		Relation{From: a, To: b, Type: p.relation, Evidence: evidence, Confidence: confidence})
}
