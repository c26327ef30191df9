package text

import "testing"

func TestLanguageOfPassages(t *testing.T) {
	for s, want := range map[string]Lang{
		"The pump was replaced by the crew of the station.":                                    English,
		"Maria de la Cruz y Gomez was the first engineer of the station, born in El Puerto.":   English,
		"See github.com/a/b, example.com/os/na, www.example.com and mail me at x@example.com.": English,
		// Said twice, "door" is no more Dutch.
		"Door. The door code is two.":                                            English,
		"Pump valve station":                                                     English,
		"Die Pumpe wurde von der Mannschaft in der Nacht ersetzt.":               German,
		"La pompe a été remplacée par l'équipe de la gare.":                      French,
		"La bomba fue reemplazada por el equipo de la estación.":                 Spanish,
		"A bomba foi substituída pela equipe da estação e não vazou.":            Portuguese,
		"La pompa è stata sostituita dalla squadra della stazione.":              Italian,
		"De pomp werd door de ploeg van het station vervangen.":                  Dutch,
		"Pumpen byttes ut av laget på stationen och det är bra.":                 Swedish,
		"Pompa a fost înlocuită de echipa din stație și nu mai curge.":           Romanian,
		"Pompa istasyondaki ekip için çok önemli ve yeni bir pompa ile değişti.": Turkish,
		"Pumppu on vaihdettu ja se ei enää vuoda, mutta venttiili on vanha.":     Finnish,
	} {
		var a Analyzer
		a.Passage("", s)
		if got := a.identify(englishFirst); got != want {
			t.Errorf("%q: language %d, want %d", s, got, want)
		}
	}
}

func TestLanguageOfQuestions(t *testing.T) {
	for s, want := range map[string]Lang{
		"": English, "Boiler?": English, "Who serviced the boiler?": English, "When was Anna here?": English,
		"Who wrote Die Welt?":                            English,
		"Wo wohnt Anna?":                                 German,
		"Wann ist die Abnahme bei Lutz?":                 German,
		"Où est la clé ?":                                French,
		"Quand arrive l'équipe du soir ?":                French,
		"¿Dónde vive Anna?":                              Spanish,
		"¿Cuándo es la reunión con el equipo de ventas?": Spanish,
		"Quando è la riunione?":                          Italian,
		"Onde fica a chave do carro?":                    Portuguese,
		"Waar ligt het contract van Anna?":               Dutch,
		"Где ключи от машины?":                           Russian,
		"鍵はどこですか":                                        Neutral,
	} {
		if got := LanguageOfQuestion(s); got != want {
			t.Errorf("%q: language %d, want %d", s, got, want)
		}
	}
}
