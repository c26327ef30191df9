package resolve

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"orgmem/brain/extract"
	pb "orgmem/proto"
)

// What an entity is, all texts decide that name it. Each gives one vote, of the weight of its certainty, and keeps it
// in its trace: the vote goes with the text.

const (
	// sureVote is how certain of a type a text must be, in hundredths, to be sure of it: of the types that a reader gives
	// with this and more, 97 in a hundred are right, of the others 63.
	sureVote = 90
	// minSure is how many texts must be sure of a type at least, so that a name means a second thing: one or two of them
	// are mistakes, of which a reader makes the same again and again.
	minSure = 3
	// minShare is their share of all that are sure at least: of more texts there are more mistakes.
	minShare = 0.25
)

// Said is a name as one text has it, what it was decided to mean, and how likely its type is.
type Said struct {
	Name
	Decision
	Certainty float64
}

// Note counts that a text calls an entity by a name. rec is the entity's record, of which it counts maxForms forms,
// and x what the trace of the text has of it. It changes both, and reports whether the entity is to be described
// anew.
func Note(rec *pb.Entity, x *pb.TraceEntity, said Said, maxForms int) (changed bool) {
	settle(rec)
	certainty := uint32(math.Round(100 * min(max(said.Certainty, 0), 1)))
	first := x.GetType() == ""
	if first {
		rec.Mentions++
	} else if certainty > x.GetCertainty() { // of several names of one text the surest votes
		vote(rec, x, -1)
	}
	if first || certainty > x.GetCertainty() {
		x.Type, x.Certainty = string(said.Name.Type), certainty
		vote(rec, x, 1)
	}
	changed = elect(rec)
	name := said.Name.Name
	if slices.Contains(x.GetNames(), name) {
		return changed
	}
	at := slices.IndexFunc(rec.GetForms(), func(f *pb.EntityForm) bool { return f.GetName() == name })
	if at < 0 && len(rec.GetForms()) < maxForms {
		rec.Forms = append(rec.Forms, &pb.EntityForm{
			Name: name, Reason: string(said.Reason), Confidence: said.Confidence,
		})
		at, changed = len(rec.GetForms())-1, true
	}
	if at >= 0 {
		rec.Forms[at].Count++
		x.Names = append(x.Names, name)
	}
	return changed
}

// Unnote takes back what Note has counted for a text, so that the entity is what the others take it for. gone are the
// names by which no text calls it any more.
func Unnote(rec *pb.Entity, x *pb.TraceEntity) (gone []string) {
	if len(rec.GetVotes()) > 0 || x.GetType() != "" {
		settle(rec)
		vote(rec, x, -1)
		elect(rec)
	}
	rec.Mentions--
	for _, name := range x.GetNames() {
		i := slices.IndexFunc(rec.GetForms(), func(f *pb.EntityForm) bool { return f.GetName() == name })
		if i < 0 {
			continue
		}
		if rec.Forms[i].Count--; rec.GetForms()[i].GetCount() == 0 {
			rec.Forms = slices.Delete(rec.Forms, i, i+1)
			gone = append(gone, name)
		}
	}
	return gone
}

// vote adds what a text takes an entity for, or takes it away (by is 1 or -1). A trace that does not tell its vote is
// of a time before there were any.
func vote(rec *pb.Entity, x *pb.TraceEntity, by int) {
	i := slices.IndexFunc(rec.GetVotes(), func(v *pb.EntityVote) bool {
		return v.GetType() == x.GetType() || x.GetType() == "" && v.GetUntold() > 0
	})
	if i < 0 {
		if by < 0 {
			return
		}
		i = len(rec.GetVotes())
		rec.Votes = append(rec.Votes, &pb.EntityVote{Type: x.GetType()})
	}
	v, certainty := rec.GetVotes()[i], x.GetCertainty()
	if x.GetType() == "" {
		v.Untold, certainty = add(v.GetUntold(), by), sureVote
	}
	v.Nodes, v.Weight = add(v.GetNodes(), by), add(v.GetWeight(), by*int(certainty))
	if certainty >= sureVote {
		v.Sure = add(v.GetSure(), by)
	}
	if v.GetNodes() == 0 {
		rec.Votes = slices.Delete(rec.Votes, i, i+1)
	}
}

func add(n uint32, by int) uint32 { return uint32(max(0, int(n)+by)) }

// settle gives a vote to the texts that have none: they were read by a program that did not vote, which took the
// entity for what its record says. Where there are votes too many, such a program has taken texts away: they are taken
// to be of the most.
func settle(rec *pb.Entity) {
	lacking := int(rec.GetMentions())
	for _, v := range rec.GetVotes() {
		lacking -= int(v.GetNodes())
	}
	for ; lacking < 0; lacking++ {
		most := slices.MaxFunc(rec.GetVotes(), func(a, b *pb.EntityVote) int {
			return cmp.Compare(a.GetNodes(), b.GetNodes())
		})
		vote(rec, &pb.TraceEntity{Type: most.GetType(), Certainty: most.GetWeight() / most.GetNodes()}, -1)
	}
	if lacking == 0 {
		return
	}
	i := slices.IndexFunc(rec.GetVotes(), func(v *pb.EntityVote) bool { return v.GetType() == rec.GetType() })
	if i < 0 {
		i = len(rec.GetVotes())
		rec.Votes = append(rec.Votes, &pb.EntityVote{Type: rec.GetType()})
	}
	v := rec.GetVotes()[i]
	v.Nodes, v.Sure, v.Untold = add(v.GetNodes(), lacking), add(v.GetSure(), lacking), add(v.GetUntold(), lacking)
	v.Weight = add(v.GetWeight(), lacking*sureVote)
}

// elect gives an entity the type for which most of its texts are, by their certainty, and reports whether that is
// another. Type other is nobody's who knows more.
func elect(rec *pb.Entity) bool {
	of := map[extract.Type]*pb.EntityVote{}
	for _, v := range rec.GetVotes() {
		of[extract.Type(v.GetType())] = v
	}
	winner := heaviest(of, extract.Type(rec.GetType()), func(extract.Type) bool { return true })
	if winner == "" || string(winner) == rec.GetType() {
		return false
	}
	rec.Type = string(winner)
	return true
}

// heaviest is the type with most weight of those that may be, the given one of two that weigh the same; other only for
// want of any else, and "" without votes.
func heaviest(
	of map[extract.Type]*pb.EntityVote, first extract.Type, may func(extract.Type) bool,
) (best extract.Type) {
	weight := func(t extract.Type) int {
		v := of[t]
		switch {
		case v == nil || !may(t):
			return -1
		case t == extract.Other:
			return 0
		}
		return int(v.GetWeight()) + 1
	}
	for _, t := range append([]extract.Type{first}, slices.Sorted(maps.Keys(of))...) {
		if weight(t) > weight(best) {
			best = t
		}
	}
	return best
}

// Guessed tells whether words and context decide a type, so that texts may take one thing for several.
func Guessed(t extract.Type) bool { return !verbatim(t) }

// Move says that texts which name one entity name another.
type Move struct {
	From int          // the place of the entity among those of its name
	Type extract.Type // of the texts: what they take it for; "" for all of them
	To   int          // the place of the other one, -1 for one that is to begin
}

// Sort says how the texts of all entities of one name are to be shared out among them. The name means one thing,
// whatever single texts take it for, unless it clearly means two: of two types that one thing cannot have several
// texts each are sure. It is a function of the votes alone, so that it changes with the texts that are there. The
// records may lack votes, and are not changed otherwise.
func Sort(name string, recs []*pb.Entity) (moves []Move) {
	of := map[extract.Type]*pb.EntityVote{}
	for _, rec := range recs {
		settle(rec)
		for _, v := range rec.GetVotes() {
			sum := of[extract.Type(v.GetType())]
			if sum == nil {
				sum = &pb.EntityVote{}
				of[extract.Type(v.GetType())] = sum
			}
			sum.Nodes, sum.Sure, sum.Weight = sum.Nodes+v.GetNodes(), sum.Sure+v.GetSure(), sum.Weight+v.GetWeight()
		}
	}
	words := strings.Count(form(name, extract.Other), " ") + 1
	one := heaviest(of, "", func(extract.Type) bool { return true })
	two := heaviest(of, "", func(t extract.Type) bool {
		a, b := of[one].GetSure(), of[t].GetSure()
		return !compatible(one, t, words) && min(a, b) >= minSure && float64(b) >= minShare*float64(a+b)
	})
	home := func(t extract.Type, not int) int { // the largest of those that are of a type
		best := -1
		for i, rec := range recs {
			if i != not && (t == "" || rec.GetType() == string(t)) &&
				(best < 0 || rec.GetMentions() > recs[best].GetMentions()) {
				best = i
			}
		}
		return best
	}
	if two == "" {
		at := home("", -1)
		for i := range recs {
			if i != at {
				moves = append(moves, Move{From: i, To: at})
			}
		}
		return moves
	}
	first := home(one, -1)
	second := home(two, first)
	if first < 0 && second >= 0 { // each has more of its own: what is told of one is moved to a new one
		one, two, first, second = two, one, second, first
	}
	if first < 0 {
		return nil
	}
	for i, rec := range recs {
		for _, v := range rec.GetVotes() {
			t, to := extract.Type(v.GetType()), first
			if t == two || t != one && compatible(two, t, words) && !compatible(one, t, words) {
				to = second
			}
			if i != to && (t == one || t == two || i != first && i != second) {
				moves = append(moves, Move{From: i, Type: t, To: to})
			}
		}
	}
	return moves
}
