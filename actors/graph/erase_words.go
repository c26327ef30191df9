package graph

import (
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/ground"
	"orgmem/brain/cognition"
	"orgmem/brain/insight"
	"orgmem/brain/manifold"
	"orgmem/brain/text/undress"
	"orgmem/brain/topic"
	pb "orgmem/proto"
	"orgmem/storage"
)

// Labels are made of the words of many texts, and views are whole records. When a text is forgotten, its words are
// removed from them at once, even where other texts use the same words. The next cycle puts back those.

// view reads a view into empty, with what this transaction has changed; nil when there is none.
func (dr *DerivedRecords) view(name string, empty proto.Message) (proto.Message, error) {
	if v, ok := dr.views[name]; ok {
		return v, nil
	}
	found, err := dr.Store.Get(dr.Part.Space.Key(storage.TableView, storage.Str(name)), empty)
	if err != nil || !found {
		return nil, err
	}
	return empty, nil
}

// PutView replaces a view. Its earlier versions may hold what is gone.
func (dr *DerivedRecords) PutView(name string, view proto.Message) {
	dr.views[name] = view
	key := dr.Part.Space.Key(storage.TableView, storage.Str(name))
	dr.Batch.Erase(key)
	dr.Batch.Put(key, view)
}

// DropView removes a view.
func (dr *DerivedRecords) DropView(name string) {
	dr.views[name] = nil
	dr.Batch.Erase(dr.Part.Space.Key(storage.TableView, storage.Str(name)))
}

// eraseWords removes from labels, views and insights what may come from a text that is being forgotten. said is the
// whole text of the node.
func (dr *DerivedRecords) eraseWords(n *pb.Node, said string) error {
	id := n.GetId()
	said = strings.ToLower(n.GetTitle() + "\n" + said)
	// Names are quoted as they were read: without disguise, on one line.
	read := strings.Join(strings.Fields(undress.Of(said).Plain), " ")
	his := func(word string) bool {
		word = strings.ToLower(word)
		return word != "" && (strings.Contains(said, word) || strings.Contains(read, word))
	}
	unlabelled, err := dr.eraseFromDomains(n, his)
	if err != nil {
		return err
	}
	view, err := dr.view(ViewIdentity, &pb.IdentityView{})
	if err != nil {
		return err
	}
	if identity, ok := view.(*pb.IdentityView); ok && cognition.Forget(identity, id, unlabelled, his) {
		dr.PutView(ViewIdentity, identity)
	}
	if view, err = dr.view(ViewPlot, &pb.ManifoldPlot{}); err != nil {
		return err
	}
	if plot, ok := view.(*pb.ManifoldPlot); ok && manifold.Forget(plot, id) {
		dr.PutView(ViewPlot, plot)
	}
	if view, err = dr.view(ViewTemporal, &pb.TemporalView{}); err != nil {
		return err
	}
	if temporal, ok := view.(*pb.TemporalView); ok {
		all := len(temporal.GetTrends())
		temporal.Trends = slices.DeleteFunc(temporal.GetTrends(), func(t *pb.Trend) bool {
			return slices.Contains(t.GetNodes(), id) || slices.Contains(unlabelled, t.GetTopic()) ||
				slices.ContainsFunc(topic.WordsOf(t.GetTopic()), his)
		})
		if len(temporal.GetTrends()) < all {
			dr.PutView(ViewTemporal, temporal)
		}
	}
	return dr.eraseShapes()
}

// eraseFromDomains removes a node from the domains that show it, and words from the labels of the domains that it named
// or is in. It returns the labels that have changed, as they were.
func (dr *DerivedRecords) eraseFromDomains(n *pb.Node, his func(string) bool) (lost []string, err error) {
	keys, err := ground.RestingOn(dr.Store, dr.Part.Space, pb.NodeID(n.GetId()), 0)
	if err != nil {
		return nil, err
	}
	if id, err := pb.ParseDomainID(n.GetDomain()); err == nil {
		keys = append(keys, dr.Part.Space.Key(storage.TableDomain, storage.ID16(id)))
	}
	done := map[string]bool{}
	for _, key := range keys {
		if key.Table() != storage.TableDomain || done[string(key.Bytes())] {
			continue
		}
		done[string(key.Bytes())] = true
		before := &pb.Domain{}
		found, err := dr.Store.Get(key, before)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		after := dr.domains[string(before.GetId())] // another node of the same batch may have named it
		if after == nil {
			after = proto.CloneOf(before)
			dr.domains[string(before.GetId())] = after
		}
		mine := func(other string) bool { return other == n.GetId() }
		after.NamedBy, after.TopNodes = slices.DeleteFunc(after.GetNamedBy(), mine),
			slices.DeleteFunc(after.GetTopNodes(), mine)
		label, keywords := topic.Without(after.GetLabel(), after.GetKeywords(), his)
		was := after.GetLabel()
		if after.GetRefined() { // who knows from which of the texts a model had its words
			label = topic.LabelFrom(keywords)
		}
		if after.Label, after.Keywords, after.Refined = label, keywords, false; label != was {
			lost = append(lost, was)
		}
		after.UpdatedMs = dr.NowMs
		dr.PutDomain(before, after)
	}
	return lost, nil
}

// eraseShapes removes the insights that quote labels and titles of nodes other than those that they rest on. The next
// cycle finds again those that still hold.
func (dr *DerivedRecords) eraseShapes() error {
	if dr.shapesGone {
		return nil
	}
	dr.shapesGone = true
	for rec, err := range storage.ScanRecords(dr.Store, dr.Part.Space.Prefix(storage.TableInsight), storage.ScanOptions{},
		func() *pb.Insight { return &pb.Insight{} }) {
		if err != nil {
			return err
		}
		if kind := rec.Value.GetKind(); !insight.Said(kind) && kind != pb.InsightSignal {
			dr.DropInsight(rec.Key, rec.Value)
		}
	}
	return nil
}
