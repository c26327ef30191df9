package orgmem

// BrainTraining is how the brain was trained, and where it wins and loses.
type BrainTraining struct {
	// The brain that serves; nil where none does.
	Version *int64 `json:"version"`
	// Of that brain; nil where none serves, or where a version of the service trained it that kept none.
	Report *BrainReport `json:"report"`
	// Of the latest training.
	Status TrainingStatus `json:"status"`
	// Of the latest training, where that does not serve: it runs, or was rejected.
	Latest *BrainReport `json:"latest"`
}

// BrainReport is the course of a training, and how the questions that judge were answered.
type BrainReport struct {
	Curve   []BrainPoint  `json:"curve"`
	Gate    BrainGateBins `json:"gate"`
	Kinds   []BrainKind   `json:"kinds"`
	Lengths []BrainLength `json:"lengths"`
}

// BrainPoint is a look at a training's loss.
type BrainPoint struct {
	Stage BrainStage `json:"stage"`
	Move  int        `json:"move"`
	// Mean loss of the questions that are learned from; 0 where it was not evaluated.
	Learned float64 `json:"learned,omitzero"`
	// Mean loss of the questions that say when to stop.
	Checked float64 `json:"checked"`
	Best    bool    `json:"best"`
}

// BrainGateBins are the questions that judge, by how far the gate stood open.
type BrainGateBins struct {
	Shut float64         `json:"shut"`
	Bins []BrainGateBand `json:"bins"`
}

// BrainAnswered is how some questions were answered.
type BrainAnswered struct {
	Questions     int        `json:"questions"`
	Brain         BrainMarks `json:"brain"`
	Search        BrainMarks `json:"search"`
	Cosine        BrainMarks `json:"cosine"`
	AgainstSearch BrainDuel  `json:"againstSearch"`
	AgainstCosine BrainDuel  `json:"againstCosine"`
}

// BrainGateBand are questions of nearly one gate.
type BrainGateBand struct {
	From   float64       `json:"from"`
	Mean   float64       `json:"mean"`
	To     float64       `json:"to"`
	Judged BrainAnswered `json:"judged"`
	// The brain, were its gate wide open.
	Open   BrainMarks `json:"open"`
	Opened BrainDuel  `json:"opened"`
}

// BrainKind are questions that were made in one way.
type BrainKind struct {
	Kind   BrainQuestion `json:"kind"`
	Judged BrainAnswered `json:"judged"`
}

// BrainLength are questions of about as many words.
type BrainLength struct {
	From int `json:"from"`
	// nil: no bound.
	To     *int          `json:"to"`
	Judged BrainAnswered `json:"judged"`
}

// BrainMarks are how well a ranking does.
type BrainMarks struct {
	Recall10 float64 `json:"recall10"`
	MRR      float64 `json:"mrr"`
}

// BrainDuel counts questions that were answered better and worse than by another.
type BrainDuel struct {
	Won  int `json:"won"`
	Lost int `json:"lost"`
}

// SearchExplanation is what a search went by.
type SearchExplanation struct {
	Passages int `json:"passages"`
	Nodes    int `json:"nodes"`
	// nil: no brain ranked.
	Brain *GateExplanation `json:"brain,omitzero"`
}

// GateExplanation is how far a brain trusts itself with a question, and why.
type GateExplanation struct {
	Gate            float64         `json:"gate"`
	Shut            float64         `json:"shut"`
	PropagationTier PropagationTier `json:"propagationTier"`
	Signs           []GateSign      `json:"signs"`
}

// GateSign is one thing that a gate looks at, and by how many nats it opens the gate.
type GateSign struct {
	Sign GateSignKind `json:"sign"`
	Seen float64      `json:"seen"`
	Pull float64      `json:"pull"`
}

// HitExplanation is how a hit came to its place. A rank of 0 is none.
type HitExplanation struct {
	Rank        int        `json:"rank,omitzero"`
	MeaningRank int        `json:"meaningRank,omitzero"`
	WordsRank   int        `json:"wordsRank,omitzero"`
	Parts       ScoreParts `json:"parts"`
	Total       float64    `json:"total"`
	// nil: no brain ranked.
	Brain *BrainChange `json:"brain,omitzero"`
	// The node of the hit that says the same, for which it stands behind all that do not; empty: none does.
	DuplicateOf string `json:"duplicateOf,omitzero"`
}

// ScoreParts add up to a hit's total.
type ScoreParts struct {
	Meaning    float64 `json:"meaning"`
	Words      float64 `json:"words"`
	Phrases    float64 `json:"phrases"`
	Neighbours float64 `json:"neighbours"`
	Time       float64 `json:"time"`
	Brevity    float64 `json:"brevity"`
	Reading    float64 `json:"reading"`
}

// BrainChange is what a brain added to a hit's total.
type BrainChange struct {
	Rank    int     `json:"rank"`
	Known   bool    `json:"known"`
	Walk    float64 `json:"walk"`
	Meaning float64 `json:"meaning"`
	Words   float64 `json:"words"`
	Near    float64 `json:"near"`
	Change  float64 `json:"change"`
	Total   float64 `json:"total"`
}
