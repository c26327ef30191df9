package search

import (
	"cmp"
	"path"
	"slices"
	"time"

	"orgmem/actors/graph"
	"orgmem/actors/partition"
	"orgmem/actors/tenant"
	"orgmem/brain/answer"
	"orgmem/brain/text"
	"orgmem/brain/voice"
	pb "orgmem/proto"
	"orgmem/proto/clock"
	"orgmem/storage"
)

const (
	// PackLifetime is how long a session's pack may be kept. What it says changes
	// with every ingestion; a few minutes old it is still a good introduction.
	PackLifetime = 5 * time.Minute
	// maxPackTitles bounds each list of titles in a pack, maxPackDomains its
	// topics: a pack stands in front of every prompt of a session, and is paid for
	// each time.
	maxPackTitles  = 10
	maxPackDomains = 10
	// maxTitleScan bounds the nodes among which the titles are looked for: those of one
	// thread have the same, and of a talk many tell nothing.
	maxTitleScan = 200
	// maxDomainScan bounds the domains among which the largest are looked for.
	maxDomainScan = 1000
	// scaffoldSources is from how many documents a scaffold may quote.
	scaffoldSources = 10
	// defaultScaffoldTokens is the budget when the client names none: a page.
	defaultScaffoldTokens = 1500
	// maxPromptQuery is how much of a prompt is searched for: as much as a search
	// takes.
	maxPromptQuery = 10_000
)

// conditionSession introduces the caller's memory to another model. The ids in
// the body must be the caller's own: the credential decides, not they.
func (o *Module) conditionSession(c *tenant.Call, op *pb.ConditionSession) {
	org, err1 := pb.ParseOrgID(op.GetOrg())
	user, err2 := pb.ParseUserID(op.GetUser())
	if err1 != nil || err2 != nil || org != o.ID || user != c.Principal.User {
		c.Refuse(tenant.NewProblem(pb.CodePermissionDenied, "orgId and userId must be those of the key."))
		return
	}
	name := o.Record().GetName()
	o.ReadWith(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		pack := &pb.Pack{ExpiresMs: clock.Millis(c.Org.System.Clock.Now().Add(PackLifetime))}
		var err error
		if pack.Context, err = o.recentTitles(c, st, maxPackTitles); err != nil {
			return nil, err
		}
		topics, err := topicLabels(st, c.Part.Space)
		if err != nil {
			return nil, err
		}
		related, err := o.titlesAbout(c, st, op.GetCwd(), &o.Node.Workers[worker])
		if err != nil {
			return nil, err
		}
		if pack.VoiceHint, err = voiceHint(st, c.Part.Space); err != nil {
			return nil, err
		}
		pack.SystemPrompt = answer.SessionPrompt(name, topics, pack.GetContext(), path.Base(op.GetCwd()), related)
		return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Pack{Pack: pack}}), nil
	})
}

// topicLabels lists the largest domains.
func topicLabels(r storage.Reader, space storage.Space) ([]string, error) {
	var domains []*pb.Domain
	for rec, err := range storage.ScanRecords(r, space.Prefix(storage.TableDomain),
		storage.ScanOptions{Limit: maxDomainScan}, func() *pb.Domain { return &pb.Domain{} }) {
		if err != nil {
			return nil, err
		}
		domains = append(domains, rec.Value)
	}
	slices.SortStableFunc(domains, func(a, b *pb.Domain) int { return cmp.Compare(b.GetNodes(), a.GetNodes()) })
	var labels []string
	for _, d := range domains {
		// one that lost its words has none until the next cycle
		if label := text.OneLine(d.GetLabel()); label != "" && len(labels) < maxPackDomains {
			labels = append(labels, label)
		}
	}
	return labels, nil
}

// voiceHint tells how a partition's person writes, in words for a model; empty
// while too little is known of that.
func voiceHint(r storage.Reader, space storage.Space) (string, error) {
	p, err := mannerOf(r, space)
	if err != nil || p == nil {
		return "", err
	}
	return voice.Hint(*p), nil
}

// mannerOf is how a partition's person writes; nil while too little is known of that, and where several people write.
func mannerOf(r storage.Reader, space storage.Space) (*voice.Profile, error) {
	view := &pb.IdentityView{}
	found, err := r.Get(space.Key(storage.TableView, storage.Str(graph.ViewIdentity)), view)
	if err != nil || !found || view.GetVoice() == nil || view.GetShared() {
		return nil, err
	}
	p := voice.ProfileFrom(view.GetVoice()).OfLikeLength()
	return &p, nil
}

// conditionScaffold wraps a prompt in what memory knows about it: the passages
// that are about the prompt, best first, as many as the budget of tokens holds.
// The prompt itself is never cut.
func (o *Module) conditionScaffold(c *tenant.Call, op *pb.ConditionScaffold) {
	o.readAround(c, func(st *storage.Store, worker int) (*pb.Reply, error) {
		found, err := o.find(c, st, []*partition.Ref{c.Part}, &pb.Search{
			Query: text.TruncateRunes(op.GetPrompt(), maxPromptQuery), TopK: scaffoldSources,
		}, &o.Node.Workers[worker])
		if err != nil {
			return nil, err
		}
		hint, err := voiceHint(st, c.Part.Space)
		if err != nil {
			return nil, err
		}
		s := answer.Scaffold(op.GetPrompt(), hint, unlessCopied(answer.Evidence(found.GetHits())),
			int(cmp.Or(op.GetMaxTokens(), defaultScaffoldTokens)), c.Org.System.Embedders.Current().CountTokens)
		s.ReadUnits, s.EmbedTokens = found.GetReadUnits(), found.GetEmbedTokens()
		return graph.DerivedReply(&pb.MindResult{Result: &pb.MindResult_Scaffold{Scaffold: s}}), nil
	})
}
