package answer

import "testing"

// A refusal is in the language of its question, also where that has hardly a function word.
func TestNothingInTheLanguageOfTheQuestion(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"When does the office open?":                 NothingKnown,
		"Budget Atlas?":                              NothingKnown,
		"Wann beginnt die Sitzung?":                  "Dazu steht nichts im Gedächtnis.",
		"Wann beginnt Montag Yoga?":                  "Dazu steht nichts im Gedächtnis.",
		"Quand commence la réunion ?":                "Rien dans la mémoire ne répond à cette question.",
		"¿Cuándo empieza la reunión?":                "Nada en la memoria responde a esto.",
		"Quando inizia la riunione?":                 "Nulla nella memoria risponde a questa domanda.",
		"Quando começa a reunião?":                   "Nada na memória responde a isto.",
		"Wanneer begint de vergadering?":             "Niets in het geheugen geeft hier antwoord op.",
		"Kiedy jest spotkanie w przyszłym tygodniu?": "Nic w pamięci na to nie odpowiada.",
		"会議はいつですか？":                                  "記憶の中に答えは見つかりませんでした。",
		"会议什么时候开始？":                                  "记忆中没有对此的回答。",
		"متى يبدأ الاجتماع؟":                         "لا يوجد في الذاكرة ما يجيب عن هذا.",
		"बैठक कब है?":                                "स्मृति में इसका कोई उत्तर नहीं है।",
	} {
		if got := Nothing(question); got != want {
			t.Errorf("%s: %q, want %q", question, got, want)
		}
	}
}
