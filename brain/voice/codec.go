package voice

import pb "orgmem/proto"

// ProfileFrom reads what Message gave.
func ProfileFrom(v *pb.VoiceProfile) Profile {
	p := Profile{
		MessageWords: v.GetMessageWords(), Formality: v.GetFormality(),
		TechnicalDepth: v.GetTechnicalDepth(), Evidence: v.GetEvidence(),
	}
	for _, m := range v.GetStyle() {
		p.Style = append(p.Style, Measure{Group: m.GetGroup(), Name: m.GetName(), Value: m.GetValue()})
	}
	return p
}

// Message gives the profile as it is stored and shown.
func (p *Profile) Message() *pb.VoiceProfile {
	v := &pb.VoiceProfile{
		MessageWords: p.MessageWords, Formality: p.Formality, TechnicalDepth: p.TechnicalDepth, Evidence: p.Evidence,
	}
	for _, m := range p.Style {
		v.Style = append(v.Style, &pb.StyleMeasure{Group: m.Group, Name: m.Name, Value: m.Value})
	}
	return v
}
