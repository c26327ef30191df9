package voice

import (
	"math"
	"slices"
)

// messageWords is how many words the messages have at most that the common rates of messages are of: those of chats
// and commits.
const messageWords = 25

// OfLikeLength is the profile for putting into words: without the habits that are counted by message and only seem to
// be ones because the person's texts are long. Of forty minutes of five hundred words two that hold an emoji are twice
// what is common of messages, and far below what is common of that many words.
func (p Profile) OfLikeLength() Profile {
	typical, _ := p.measure("rhythm", "typicalWords")
	longer := math.Log2(max(1, typical/messageWords))
	if longer == 0 {
		return p
	}
	p.Style = slices.DeleteFunc(slices.Clone(p.Style), func(m Measure) bool {
		often := m.Group == "address" && (m.Name == "thanks" || m.Name == "emoji" || m.Name == "emoticons")
		return often && m.Value > 0 && m.Value-longer < marked
	})
	return p
}
