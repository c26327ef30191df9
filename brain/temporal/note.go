package temporal

import (
	"orgmem/brain/claim"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// Note is a passage in time.
type Note struct {
	Text string
	// Above is what stands before the passage in its document, as far as it may say what the passage is about; empty
	// at the document's beginning.
	Above  string
	Claims []claim.Claim
	// AtMs is when it was said: the document's time, else when it was recorded.
	AtMs int64
	// Speaker is who said it; empty where that is not known.
	Speaker string
	// Source is the document that it is a passage of, as far as that matters: what one
	// document says twice comes up once.
	Source int32
	// Dates are the times that the text mentions, resolved (brain/extract).
	Dates []Date
	// Recurs are the times that come again and again (brain/extract/recurrence).
	Recurs []Recurring
	// Vector is the passage's; nil without one.
	Vector []float32
}

// Date is a stretch of time that a text mentions: from FromMs until before
// UntilMs. The least and the largest number mark an open end.
type Date struct {
	Span            text.Span
	FromMs, UntilMs int64
}

// Recurring is a time of a text that comes again and again.
type Recurring struct {
	Span             text.Span
	Every            *pb.Every
	SinceMs, UntilMs *int64 // nil where the text does not say
}

// claimAt is the claim that holds an offset of the text; nil where none does.
func (n *Note) claimAt(at int) *claim.Claim {
	for i := range n.Claims {
		if c := &n.Claims[i]; at >= c.Span.Start && at < c.Span.End {
			return c
		}
	}
	return nil
}
