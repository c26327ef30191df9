package extract

import "encoding/json"

// Speakers reads out of the metadata of a text who says what has no speaker of its own, as
// far as a client tells, and who speaks in what was read as a transcript.
func Speakers(metadata []byte) (speaker string, speakers []string) {
	var about map[string]any
	if len(metadata) == 0 || json.Unmarshal(metadata, &about) != nil {
		return "", nil
	}
	if about["transcript"] == true {
		list, _ := about["speakers"].([]any)
		for _, s := range list {
			if name, ok := s.(string); ok {
				speakers = append(speakers, name)
			}
		}
	}
	for _, name := range []string{"speaker", "author", "from", "user"} {
		if s, ok := about[name].(string); ok {
			return s, speakers
		}
	}
	return "", speakers
}
