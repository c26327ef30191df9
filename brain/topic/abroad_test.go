package topic

import (
	"slices"
	"testing"
)

// Groups of notes in other languages are called by their nouns, and by none of the words that say when or little.
func TestLabelsOfOtherLanguages(t *testing.T) {
	t.Parallel()
	for language, c := range map[string]struct {
		groups [][]string
		want   []string
	}{
		"German": {[][]string{
			{
				"Am Montag kommt neue Erde für den Garten.", "Heute haben wir am Montag die Tomaten im Garten gegossen.",
				"Jeden Montag braucht der Garten Wasser, die Tomaten auch.", "Die neue Hecke im Garten kommt am Montag.",
			},
			{
				"Der Steuerberater braucht die Belege bis Freitag.", "Die Belege für den Steuerberater liegen im Ordner.",
				"Am Freitag ruft der Steuerberater wegen der Belege an.", "Bis Freitag müssen die Belege fertig sein.",
			},
		}, []string{"Garten, Tomaten", "Belege, Steuerberater"}},
		"French": {[][]string{
			{
				"Lundi on livre de la terre pour le jardin.", "Il faut arroser les tomates du jardin lundi.",
				"Lundi le jardin a besoin d'eau, les tomates aussi.", "La nouvelle haie du jardin vient lundi.",
			},
			{
				"Le comptable veut les factures avant vendredi.", "Les factures pour le comptable sont dans le classeur.",
				"Vendredi le comptable appelle pour les factures.", "Il faut finir les factures vendredi.",
			},
		}, []string{"Jardin, tomates", "Factures, comptable"}},
		"Spanish": {[][]string{
			{
				"El lunes traen tierra nueva para el jardín.", "Hay que regar los tomates del jardín el lunes.",
				"El lunes el jardín necesita agua, los tomates también.", "El seto nuevo del jardín viene el lunes.",
			},
			{
				"El asesor necesita las facturas antes del viernes.", "Las facturas para el asesor están en la carpeta.",
				"El viernes llama el asesor por las facturas.", "Hay que terminar las facturas el viernes.",
			},
		}, []string{"Jardín, tomates", "Facturas, asesor"}},
		"Japanese": {[][]string{
			{"明日は庭に水をやる。トマトがしおれている。", "昨日、庭にトマトを植えた。", "月曜日に庭の土が届く。", "またナメクジがトマトを食べた。"},
			{"税理士は金曜日までに領収書が必要です。", "申告の領収書はファイルにあります。", "税理士が昨日、申告のことで電話してきた。", "領収書を税理士に送る。"},
		}, []string{"トマト, 庭", "税理士, 領収書, 申告"}},
	} {
		var groups []Group
		for _, texts := range c.groups {
			groups = append(groups, Group{Passages: passages(texts...)})
		}
		var got []string
		for _, l := range Describe(groups) {
			got = append(got, l.Text)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", language, got, c.want)
		}
	}
}
