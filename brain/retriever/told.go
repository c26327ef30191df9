package retriever

// formerly asks in the words of what was superseded for what stands in its place: who
// remembers how it was does not know how it is said now. Of a long document the
// passage answers that lies as far from its beginning.
func (m *maker) formerly() (Example, bool) {
	f := m.former[m.rand.IntN(len(m.former))]
	n := m.rand.IntN(len(f.Passages))
	all := m.sentencesOf(f.Passages[n])
	if len(all) == 0 {
		return Example{}, false
	}
	s := all[m.rand.IntN(len(all))]
	title := ""
	if m.rand.IntN(2) == 0 {
		title = f.Title
	}
	d := m.g.byID[f.By]
	e := Example{
		Text:    join(title, m.some(s, 3+m.rand.IntN(6), anyWord)),
		Answers: []int32{min(m.g.first[d]+int32(n), m.g.first[d+1]-1)},
	}
	return e, e.Text != ""
}

// belonging asks for two documents that a person has joined: what the one is called,
// and words of the other.
func (m *maker) belonging() (Example, bool) {
	t := m.accepted[m.rand.IntN(len(m.accepted))]
	if m.rand.IntN(2) == 0 {
		t.From, t.To = t.To, t.From
	}
	p, q := m.g.first[m.g.byID[t.From]], m.g.first[m.g.byID[t.To]]
	all := m.sentences(q)
	if len(all) == 0 {
		return Example{}, false
	}
	title := m.titleOf(p)
	if title == "" { // the beginning must do
		if of := m.sentences(p); len(of) > 0 {
			title = m.some(of[0], around, anyWord)
		}
	}
	said := m.some(all[m.rand.IntN(len(all))], 2+m.rand.IntN(4), anyWord)
	return Example{Text: join(title, said), Answers: []int32{p, q}}, title != "" && said != ""
}
