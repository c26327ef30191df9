package actors

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"orgmem/actors/account"
	"orgmem/brain/portrait"
	pb "orgmem/proto"
	"orgmem/storage"
	"orgmem/storage/storagetest"
)

// Three people who were never real.
var (
	inChats = []string{
		"hey, the kayak is ready! gonna take it to the lake with Mara Olsen on saturday :)",
		"omg the lake was so cold... Mara Olsen fell out of the kayak lol",
		"i love paddling at dawn!",
		"can't find the paddle of the kayak, maybe Mara Olsen has it?",
		"yeah the kayak leaks a bit, i'll glue it tonight",
		"ok new glue for the kayak is here, thx!",
		"anyone up for the lake on sunday? Mara Olsen is in :)",
		"i really love paddling at dawn, it's so quiet",
		"ugh, the lake is frozen, no kayak today",
		"hm, i think the sourdough is too wet again",
		"sourdough came out great today!! crust is perfect :)",
		"my sourdough starter smells funny, is that ok?",
		"gonna feed the sourdough starter twice a day now",
	}
	inLetters = []string{
		"The board of the foundation has examined the application of the municipal library, and recommends that the grant " +
			"be awarded for the duration of three years. The payment is subject to the approval of the treasurer.",
		"In accordance with the statutes of the foundation, the annual report of the library was submitted to the board " +
			"for examination. The report gives a detailed account of the expenditure of the grant.",
		"The treasurer has informed the board that the payment of the second instalment of the grant has been effected. " +
			"The receipt of the library is attached to the minutes of the meeting.",
		"The application of the school of music for a grant has been declined by the board, since the documents that are " +
			"required by the statutes of the foundation were not submitted within the prescribed period.",
		"The board of the foundation will meet on the second Tuesday of the month for the examination of the remaining " +
			"applications. The members are requested to submit their observations in writing.",
		"The restoration of the organ in the chapel has been entrusted to the workshop whose estimate was the most " +
			"favourable of the three that were received. The completion is expected before the end of the year.",
		"The workshop has reported that the pipes of the organ are in a worse condition than had been assumed in the " +
			"estimate. The additional cost of the restoration is to be borne by the congregation of the chapel.",
		"Following the inspection of the organ in the chapel, the expert of the diocese has confirmed the quality of the " +
			"restoration of the pipes. The final payment to the workshop was therefore released.",
		"The inauguration of the organ in the chapel will be celebrated with a concert, to which the donors of the " +
			"restoration are to be invited. The preparation of the programme is the responsibility of the organist.",
	}
	inCode = []string{
		"The race is in `Store.flush()`: it reads s.dirty before it takes mu. Patch in #412, tests in store_test.go.",
		"`go test -race ./store/...` is green; p99 of store.Get() went from 14ms to 3ms after inlining parseHeader().",
		"I prefer table-driven tests for the parser.",
		"Store: key by tenant_id, not by userId: the LRU in cache.go:88 evicts per shard, flush() then writes twice.",
		"OOM in the store again: heap at 3.9GiB, 80% in json.Decoder. Dump is under /var/tmp/heap.42, see #431.",
		"Set GOGC=50 as a stopgap in store/config.go, then fix newBuffer() so that flush() reuses the pool (#433).",
		"parser: `lex.next()` drops the last token at EOF; fuzz case in testdata/fuzz/crash-17, fixed in parser.go:212.",
		"I prefer table-driven tests for the parser, so lex_test.go is one table now (#440).",
		"parser: bump the grammar to v2.3, regenerate tokens.go, `make gen` fails with EINVAL on arm64.",
		"parser: the lexer allocates per token; a [256]uint8 table in lex.go brings lex.next() from 90ns to 11ns.",
	}
)

// drawn is who a memory says that its person is.
func (c client) drawn() []*pb.PortraitLine {
	c.n.t.Helper()
	return c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView().GetPortrait()
}

// lineOf is the only line of a kind, nil without one.
func (c client) lineOf(kind string) (line *pb.PortraitLine) {
	c.n.t.Helper()
	for _, l := range c.drawn() {
		if l.GetKind() == kind {
			if line != nil {
				c.n.t.Errorf("two lines of %s: %q, %q", kind, line.GetText(), l.GetText())
			}
			line = l
		}
	}
	return line
}

// tell takes texts in, and has them thought about; it returns their nodes.
func (c client) tell(texts ...string) (nodes []string) {
	c.n.t.Helper()
	var its []*pb.IngestItem
	for _, text := range texts {
		its = append(its, doc("", text))
	}
	for _, it := range c.ingest(its...).GetItems() {
		nodes = append(nodes, it.GetNode())
	}
	c.think()
	return nodes
}

func TestPortraits(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	for _, x := range []struct {
		name  string
		texts []string
		lines map[string]string // what a line of each kind begins with
		rests map[string][]int  // texts that are among the evidence of each
	}{
		{
			"chat", inChats,
			map[string]string{
				portrait.Manner:     "Writes short, informal messages (typically ",
				portrait.Themes:     "Writes most about “",
				portrait.Preference: "Says: “i ",
				portrait.People:     "Mentions most: Mara Olsen (person) in 4 messages.",
			},
			map[string][]int{portrait.Preference: {2, 7}, portrait.People: {6, 3, 1}, portrait.Themes: {12, 8}},
		},
		{
			"letters", inLetters,
			map[string]string{
				portrait.Manner: "Writes medium-length, formal messages (typically ", portrait.Themes: "Writes most about “",
			},
			map[string][]int{portrait.Manner: {0, 8}},
		},
		{
			"code", inCode,
			map[string]string{
				portrait.Manner:     "Writes short",
				portrait.Themes:     "Writes most about “",
				portrait.Preference: "Says: “I prefer table-driven tests for the parser",
			},
			map[string][]int{portrait.Preference: {2, 7}},
		},
	} {
		c.put(x.name)
		p := c.as(x.name)
		nodes := p.tell(x.texts...)
		lines := p.drawn()
		if len(lines) != len(x.lines) || len(lines) > portrait.MaxLines {
			t.Errorf("%s: %v", x.name, lines)
		}
		for kind, begins := range x.lines {
			l := p.lineOf(kind)
			if !strings.HasPrefix(l.GetText(), begins) || len(l.GetNodes()) < 2 || len(l.GetNodes()) > portrait.MaxLineNodes {
				t.Errorf("%s: %v", x.name, l)
			}
			for _, i := range x.rests[kind] {
				if !slices.Contains(l.GetNodes(), nodes[i]) {
					t.Errorf("%s: %q does not rest on %q", x.name, l.GetText(), x.texts[i])
				}
			}
			for _, id := range l.GetNodes() {
				if r := p.ask(getNodeOp(id)); r.GetProblem() != nil {
					t.Errorf("%s: %q rests on %s: %v", x.name, l.GetText(), id, r.GetProblem())
				}
			}
		}
	}
	if l := c.as("code").lineOf(portrait.Manner); !strings.Contains(l.GetText(), "deep in technical detail") {
		t.Error(l)
	}
	p := c.as("chat")
	before := p.drawn()
	id := p.note("ok")
	p.think()
	p.forget(id)
	p.think()
	if now := p.drawn(); !slices.EqualFunc(before, now, func(a, b *pb.PortraitLine) bool { return proto.Equal(a, b) }) {
		t.Errorf("of the same texts %v, then %v", before, now)
	}
}

// Whose memory it is, is not known where several people write it; nothing is said of any of them.
func TestNoPortraitOfSeveralPeople(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var its []*pb.IngestItem
	for i, text := range inChats {
		who := []string{"Ann", "Bo"}[i%2]
		its = append(its, &pb.IngestItem{Content: text, Metadata: fmt.Appendf(nil, `{"author":%q}`, who)})
	}
	c.ingest(its...)
	c.think()
	for _, l := range c.drawn() {
		if l.GetKind() != portrait.Themes || !strings.HasPrefix(l.GetText(), "What is written here is mostly about “") {
			t.Error(l)
		}
	}
	if c.lineOf(portrait.Themes) == nil {
		t.Error("it is not said what the memory is about")
	}
	view := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
	if view.GetVoice().GetEvidence() != uint64(len(its)) || len(view.GetTraits()) > 0 || view.GetManifold() == nil {
		t.Errorf("the voice of several people: %v", view)
	}
}

// Minutes that nobody signed are the words of all who were there.
func TestNoPortraitOfMinutes(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	var its []*pb.IngestItem
	for i, text := range inLetters {
		its = append(its, doc("", "# Minutes "+fmt.Sprint(i)+"\n\n## Present\n\n* Maria Keller @mkeller (chair)\n"+
			"* John Peters @jpeters\n* Anna Schmidt @aschmidt (guest)\n\n## Discussion\n\n"+text))
	}
	c.ingest(its...)
	c.think()
	for _, l := range c.drawn() {
		if l.GetKind() != portrait.Themes || !strings.HasPrefix(l.GetText(), "What is written here is ") {
			t.Error(l)
		}
	}
	view := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView()
	if !view.GetShared() || len(view.GetTraits()) > 0 {
		t.Errorf("minutes have the traits of a person: %v", view)
	}
}

// The voice of a person is measured on their own texts, and not on what others wrote that they keep; and when the
// memory becomes somebody else's, on that person's.
func TestVoiceIsOfTheOwnersTexts(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	take := func(who string, texts []string) {
		t.Helper()
		var its []*pb.IngestItem
		for _, text := range texts {
			it := doc("", text)
			if who != "" {
				it.Metadata = fmt.Appendf(nil, `{"author":%q}`, who)
			}
			its = append(its, it)
		}
		c.ingest(its...)
		c.think()
	}
	measured := func() (evidence uint64, formality float64) {
		t.Helper()
		v := c.ok(recallOp(&pb.Recall{Type: pb.RecallIdentity})).GetMind().GetIdentity().GetView().GetVoice()
		return v.GetEvidence(), v.GetFormality()
	}
	take("Ann", inChats)
	_, alone := measured()
	take("Bo", inLetters[:2])
	if k, formality := measured(); k != uint64(len(inChats)) || formality != alone {
		t.Errorf("of %d texts, formality %.3f; of Ann's %d it was %.3f", k, formality, len(inChats), alone)
	}
	take("Bo", inLetters[2:])
	if k, _ := measured(); k != uint64(len(inChats)+len(inLetters)) {
		t.Errorf("of two people a voice of %d texts", k)
	}
	var more []string
	for i := range 60 {
		more = append(more, fmt.Sprintf("In accordance with decision %d of the board, %s", i, inLetters[i%len(inLetters)]))
	}
	take("Bo", more)
	if k, formality := measured(); k != uint64(len(inLetters)+len(more)) || formality <= alone {
		t.Errorf("of Bo's %d texts %d, formality %.3f, of Ann's %.3f", len(inLetters)+len(more), k, formality, alone)
	}
}

// What a line quotes or names leaves it in the commit that forgets it, and comes back with the next cycle as far as
// others say it.
func TestForgettingTakesLinesOfThePortrait(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	org := n.org(account.NewOrg{})
	c := client{n: n, key: org.APIKey}
	nodes := c.tell(inChats...)
	if l := c.lineOf(portrait.Preference); !strings.Contains(l.GetText(), "paddling at dawn") {
		t.Fatal(c.drawn())
	}
	c.forget(nodes[7])
	if l := c.lineOf(portrait.Preference); l != nil {
		t.Errorf("after one of two: %v", l)
	}
	c.forget(nodes[6])
	if l := c.lineOf(portrait.People); l != nil {
		t.Errorf("after one of four: %v", l)
	}
	c.think()
	if l := c.lineOf(portrait.Preference); l != nil {
		t.Errorf("out of one message: %v", l)
	}
	if l := c.lineOf(portrait.People); l.GetText() != "Mentions most: Mara Olsen (person) in 3 messages." {
		t.Errorf("%v", l)
	}
	for _, i := range []int{0, 1, 3} {
		c.forget(nodes[i])
	}
	n.nothingSays(storage.StoreID{Org: org.Org, Realm: storage.RealmMain}, "Mara", "Olsen")
	c.think()
	if l := c.lineOf(portrait.People); l != nil {
		t.Errorf("%v", l)
	}
}

// What another text has taken the place of is not quoted any longer, also before the next cycle.
func TestASupersededTextLeavesThePortrait(t *testing.T) {
	n := startNode(t, storagetest.NewDisk(), thinking)
	c := client{n: n, key: n.org(account.NewOrg{}).APIKey}
	nodes := c.tell(inChats...)
	c.supersede(nodes[2], "i only paddle at noon these days")
	if l := c.lineOf(portrait.Preference); l != nil {
		t.Errorf("%v", l)
	}
	c.think()
	if l := c.lineOf(portrait.Preference); l != nil {
		t.Errorf("out of one message: %v", l)
	}
	if c.lineOf(portrait.Manner) == nil {
		t.Errorf("after a cycle: %v", c.drawn())
	}
}
