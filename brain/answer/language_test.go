package answer_test

import (
	"strings"
	"testing"

	"orgmem/brain/answer"
	pb "orgmem/proto"
)

// keys are a question and what answers it, in several languages; span is what answers.
var keys = []struct{ lang, question, note, span string }{
	{"en", "Who has the key to the garden house?", "The key to the garden house is with Olga.", "Olga"},
	{"de", "Wer hat den Schlüssel für das Gartenhaus?", "Der Schlüssel für das Gartenhaus ist bei Olga.", "Olga"},
	{"fr", "Qui a la clé de la maison du jardin ?", "La clé de la maison du jardin est chez Olga.", "Olga"},
	{"es", "¿Quién tiene la llave de la casa del jardín?", "La llave de la casa del jardín la tiene Olga.", "Olga"},
	{"it", "Chi ha la chiave della casa del giardino?", "La chiave della casa del giardino è da Olga.", "Olga"},
	{"pt", "Quem tem a chave da casa do jardim?", "A chave da casa do jardim está com a Olga.", "Olga"},
	{"nl", "Wie heeft de sleutel van het tuinhuis?", "De sleutel van het tuinhuis is bij Olga.", "Olga"},
	{"ru", "У кого ключ от садового дома?", "Ключ от садового дома у Ольги.", "Ольги"},
	{"ja", "庭の小屋の鍵は誰が持っていますか。", "庭の小屋の鍵はオルガが持っています。", "オルガ"},
}

// TestTheAnswerIsInTheQuestionsLanguage: of two notes that answer about as well, the one in the question's language is
// told, and the other not beside it; one that answers clearly better is told whatever it is in.
func TestTheAnswerIsInTheQuestionsLanguage(t *testing.T) {
	t.Parallel()
	for _, asked := range keys {
		for _, other := range keys {
			if asked.lang == other.lang {
				continue
			}
			own := func(p float64) answer.Read { return note(asked.note, asked.span, "2025-11-02", "", p) }
			theirs := func(p float64) answer.Read { return note(other.note, other.span, "2025-11-02", "", p) }
			for _, read := range [][]answer.Read{{theirs(0.95), own(0.9)}, {own(0.9), theirs(0.95)}, {own(0.95), theirs(0.9)}} {
				a := told(asked.question, false, read...)
				if a.GetAnswer() != asked.note || len(a.GetCitations()) != 1 {
					t.Errorf("%s, beside %s: %q", asked.lang, other.lang, a.GetAnswer())
				}
			}
			if a := told(asked.question, false, theirs(0.95), own(0.6)); a.GetAnswer() != other.note {
				t.Errorf("%s, of a better one in %s: %q", asked.lang, other.lang, a.GetAnswer())
			}
		}
	}
}

// TestSearchSpeaksForTheQuestionsLanguage: of a language that it has not learned the reader is less sure, so what
// search ranks as high is enough; it still has to answer, and by search nothing changes among passages of one language.
func TestSearchSpeaksForTheQuestionsLanguage(t *testing.T) {
	t.Parallel()
	ranked := func(r answer.Read, score float64) answer.Read {
		r.Hit.Score, r.Hit.Vector = score, score
		return r
	}
	for _, asked := range keys {
		for _, other := range keys {
			if asked.lang == other.lang {
				continue
			}
			for _, x := range []struct {
				answers, score float64
				want           string
			}{
				{0.2, 0.5, asked.note}, {0.2, 0.46, asked.note}, {0.2, 0.3, other.note}, {0.01, 0.5, other.note},
			} {
				a := told(asked.question, false, ranked(note(other.note, other.span, "2025-11-02", "", 0.9), 0.5),
					ranked(note(asked.note, asked.span, "2025-11-02", "", x.answers), x.score))
				if a.GetAnswer() != x.want || len(a.GetCitations()) != 1 {
					t.Errorf("%s, beside %s, %v: %q", asked.lang, other.lang, x, a.GetAnswer())
				}
			}
		}
	}
	found := answer.Answering(keys[0].question, []answer.Read{
		ranked(note("The key to the house is with Anna.", "Anna", "2025-11-02", "", 0.3), 0.9),
		ranked(note(keys[0].note, keys[0].span, "2025-11-02", "", 0.9), 0.5),
	})
	if len(found) != 2 || found[0].Answers != 0.9 {
		t.Errorf("of one language: %v", found)
	}
}

// What another language says anew, or with other numbers, is told.
func TestWhatAnotherLanguageSaysAnewIsTold(t *testing.T) {
	t.Parallel()
	const question = "Who has the key to the garden house?"
	english := note("The key to the garden house is with Olga.", "Olga", "2025-11-02", "", 0.9)
	later := note("Der Schlüssel für das Gartenhaus ist jetzt bei Anna.", "Anna", "2025-11-05", "", 0.95)
	if a := told(question, false, english, later); !strings.HasPrefix(a.GetAnswer(), "Der Schlüssel") ||
		len(a.GetCitations()) != 1 {
		t.Errorf("what is no more: %q", a.GetAnswer())
	}
	same := note("Der Schlüssel für das Gartenhaus ist bei Olga.", "Olga", "2025-11-05", "", 0.95)
	if a := told(question, false, english, same); a.GetAnswer() != english.Hit.GetChunk() {
		t.Errorf("what is still so: %q", a.GetAnswer())
	}
	rent := note("The rent of the flat is 950 euros.", "950 euros", "2025-11-02", "", 0.9)
	miete := note("Die Miete für die Wohnung ist 980 Euro.", "980 Euro", "2025-11-02", "", 0.9)
	if a := told("What is the rent of the flat?", false, rent, miete); len(a.GetCitations()) != 2 ||
		!strings.HasPrefix(a.GetAnswer(), "The rent") {
		t.Errorf("another rent: %q", a.GetAnswer())
	}
	if a := told("Wie hoch ist die Miete für die Wohnung?", false, rent, miete); len(a.GetCitations()) != 2 ||
		!strings.HasPrefix(a.GetAnswer(), "Die Miete") {
		t.Errorf("another rent: %q", a.GetAnswer())
	}
}

// Without a reader: sentences of what search ranks about as well are those in the question's language.
func TestSentencesAreInTheQuestionsLanguage(t *testing.T) {
	t.Parallel()
	for _, asked := range keys {
		for _, other := range keys {
			if asked.lang == other.lang {
				continue
			}
			words := func(s string) float64 {
				if s == asked.note {
					return 1
				}
				return 0.5
			}
			for by, want := range map[float64]string{0.05: asked.note, 0.5: other.note + " " + asked.note} {
				a := answer.Compose(asked.question, []*pb.Hit{
					{Node: "a", Chunk: other.note, Score: 0.8 + by, Vector: 0.8, Keyword: 0.5},
					{Node: "b", Chunk: asked.note, Score: 0.8, Vector: 0.8, Keyword: 0.5},
				}, words, 100, nil)
				if a.GetAnswer() != want {
					t.Errorf("%s, of %s better by %v: %q", asked.lang, other.lang, by, a.GetAnswer())
				}
			}
		}
	}
}
