package answer_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/answer"
	pb "orgmem/proto"
)

// TestOfATurn: of what somebody says in a talk what answers is told, without the courtesies and the marks about it.
func TestOfATurn(t *testing.T) {
	const question = "What is it?"
	for _, x := range []struct{ chunk, span, want string }{
		{"Hey Nora! The kiln costs 40 euros a day. See you soon!", "40 euros", "The kiln costs 40 euros a day."},
		{"Hey Nora, the kiln costs 40 euros a day, thanks for asking!", "40 euros", "The kiln costs 40 euros a day."},
		{"Oh hi Nora and Till, good to see you, the kiln is free on Mondays.", "Mondays", "The kiln is free on Mondays."},
		{"Thanks, Nora, the kiln is in Lübeck.", "Lübeck", "The kiln is in Lübeck."},
		{"Till: Good morning everyone! The kiln is in Lübeck. Cheers", "Lübeck", "The kiln is in Lübeck."},
		{"Till: hi Nora, iron oxide makes it red.", "iron oxide", "Till: Iron oxide makes it red."},
		{"Hallo Nora, vielen Dank, der Ofen steht in Lübeck. Liebe Grüße, Till", "Lübeck", "Der Ofen steht in Lübeck."},
		{"Bonjour à tous, le four est à Nantes.", "Nantes", "Le four est à Nantes."},
		{"Hey Nora, eBay sells the glaze.", "eBay", "eBay sells the glaze."},

		{"I fired a vase! [shares a photo of a blue vase]", "a vase", "I fired a vase!"},
		{"I fired it on Sunday [image: a blue vase on a shelf].", "Sunday", "I fired it on Sunday."},
		{"[Shares a photo] I fired it on Sunday.", "Sunday", "I fired it on Sunday."},
		{"[laughs] The glaze is cobalt [shared a video] [sends a sticker].", "cobalt", "The glaze is cobalt."},
		{"Look at this! [shares a photo of a blue vase]", "blue vase", "Look at this! [shares a photo of a blue vase]"},
		{"Das Glas ist blau. [teilt ein Foto]", "blau", "Das Glas ist blau."},

		{
			"Jonas has a new kiln. Thanks for asking! It stands in Lübeck.", "Lübeck",
			"Jonas has a new kiln. It stands in Lübeck.",
		},

		// What belongs to it stays.
		{"Thanks to Nora the kiln is free on Mondays.", "Mondays", "Thanks to Nora the kiln is free on Mondays."},
		{"Hi Nora brings the glaze, Till the clay.", "glaze", "Hi Nora brings the glaze, Till the clay."},
		{"Thanks, Nora, for the keys of the kiln.", "keys", "Thanks, Nora, for the keys of the kiln."},
		{"Thanks, Nora, Till and Ute come on Monday.", "Monday", "Nora, Till and Ute come on Monday."},
		{"See you Monday!", "Monday", "See you Monday!"},
		{"See you, Nora, at nine.", "nine", "See you, Nora, at nine."},
		{"Congratulations, Nora, on your new kiln!", "new kiln", "Congratulations, Nora, on your new kiln!"},
		{"The rent is 900 [of which 100 for heating].", "900", "The rent is 900 [of which 100 for heating]."},
		{"Bring the form [with a photo of you].", "form", "Bring the form [with a photo of you]."},
		{"See [photos of the kiln](https://kiln.example/p) today.", "today", "See photos of the kiln today."},
		{"Password: hello", "hello", "Password: hello."},
		{"The kiln, thanks to Nora, is free on Mondays.", "Mondays", "The kiln, thanks to Nora, is free on Mondays."},
	} {
		if got := retold(question, x.chunk, x.span); got != x.want {
			t.Errorf("%q: %q, want %q", x.chunk, got, x.want)
		}
	}
}

// courtesies are what answers nothing.
var courtesies = []string{
	"Hey Nora!", "Thanks, Nora!", "Nora, thank you so much!", "Good morning everyone", "Till: Hi Nora!", "Till: Thanks.",
	"See you soon, Nora and Till!", "Hi Nora, good to see you!", "Best regards, Nora Lind", "Thanks! 😊",
	"Thanks, Nora! [shares a photo of a vase]", "Guten Morgen, Nora!", "Vielen Dank euch allen!", "Merci beaucoup, Nora !",
	"¡Hola, Nora!", "Grazie mille, Nora!", "Obrigada, Nora!", "Hartelijk dank, Nora!",
	"Спасибо!", "ありがとうございます。", "谢谢！", "ขอบคุณ",
}

// TestCourtesiesAnswerNothing: whatever a reader makes of them, and whatever search does.
func TestCourtesiesAnswerNothing(t *testing.T) {
	const question = "How much is the rent of the kiln?"
	for _, s := range courtesies {
		if got := retold(question, s, s); got != answer.NothingKnown {
			t.Errorf("%q, read: %q", s, got)
		}
		hits := []*pb.Hit{{Node: "a", Chunk: s, Score: 1, Vector: .5}}
		for share := range 2 {
			a := answer.Compose(question, hits, func(string) float64 { return float64(share) }, 50, nil)
			if a.GetAnswer() != answer.NothingKnown || len(a.GetCitations()) > 0 {
				t.Errorf("%q, with a share of %d: %v", s, share, a)
			}
		}
	}
	hits := []*pb.Hit{{Node: "a", Chunk: "Hey Nora! The kiln is dear. It is blue.", Score: 1, Vector: .5}}
	a := answer.Compose(question, hits, func(string) float64 { return 0 }, 50, nil)
	if want := "The kiln is dear."; a.GetAnswer() != want || len(a.GetCitations()) != 1 {
		t.Errorf("%v, want %q", a, want)
	}
}

// TestWhatAnswersIsNotCut: whatever stands about it, the words that answer are told as they are, unless their sentence
// is nothing but a courtesy.
func TestWhatAnswersIsNotCut(t *testing.T) {
	about := rapid.SampledFrom([]string{
		"Hey Nora!", "hi", "Thanks, Nora,", "[shares a photo of a vase]", "[laughs", "], ", "see you,", " - ", "Till: ",
		"good to see you", "[plan](https://w.example/a)", "24.", "Dezember", "and", "Nora", "kiln,", ". ", "\n", "! ", "]",
	})
	rapid.Check(t, func(rt *rapid.T) {
		before := strings.Join(rapid.SliceOfN(about, 0, 5).Draw(rt, "before"), " ")
		behind := strings.Join(rapid.SliceOfN(about, 0, 5).Draw(rt, "behind"), " ")
		if got := retold("What is it?", before+" cobalt blue "+behind, "cobalt blue"); !strings.Contains(
			strings.ToLower(got), "cobalt blue") {
			rt.Fatalf("%q", got)
		}
	})
}

// TestNothingIsSaidInTheQuestionsLanguage: where no reader reads, too.
func TestNothingIsSaidInTheQuestionsLanguage(t *testing.T) {
	const question = "Wie hoch ist die Miete und wer zahlt sie?"
	a := answer.Compose(question, nil, func(string) float64 { return 1 }, 50, nil)
	if want := "Dazu steht nichts im Gedächtnis."; a.GetAnswer() != want || answer.Nothing(question) != want {
		t.Errorf("%q, want %q", a.GetAnswer(), want)
	}
}
