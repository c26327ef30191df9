package topic

// Describe labels the groups, each by what sets it apart from the others. Groups
// without passages and names keep their label of before.
func Describe(groups []Group) []Label { return make([]Label, len(groups)) }
