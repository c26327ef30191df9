package text

import (
	"slices"
	"testing"
)

// Where sentences of other languages end, and where a full stop or a comma in them ends nothing.
func TestSentencesOfLanguages(t *testing.T) {
	t.Parallel()
	for language, texts := range map[string][][]string{
		"German": {
			{"Wir treffen uns am 3. Mai in Köln.", "Bitte pünktlich sein."},
			{"Das Büro liegt im 2. Stock.", "Der Aufzug ist kaputt."},
			{"Der Vertrag gilt ab dem 15. März 2026.", "Er läuft bis 31. Dezember."},
			{"Am Montag, 7. April, beginnt die Schulung.", "Sie dauert zwei Tage."},
			{"Wir brauchen Material, z. B. Schrauben und Dübel.", "Herr Dr. Maier bestellt sie."},
			{"Der Umsatz lag bei 1,5 Mio. Euro.", "Das sind 12,4 Prozent mehr."},
			{"Die Rechnung über 1.234,56 € ist offen.", "Sie war am 03.05.2026 fällig."},
			{"Die Adresse ist Hauptstr. 12 in Bonn.", "Klingeln Sie bei Nr. 4."},
			{"Es blieben nur die 3.", "Alle anderen gingen."},
			{"Wir haben noch 3.", "Der Rest ist weg."},
			{"»Kommst du?«, fragte sie.", "Er sagte nichts."},
		},
		"French": {
			{"M. Dupont arrive à 14 h 30.", "Mme Leroy sera là aussi."},
			{"« Ça va ? » demanda-t-il.", "« Oui ! »", "Elle partit."},
			{"Il faut du matériel, p. ex. des vis.", "On le commande demain."},
			{"Le montant est de 1 234,56 €.", "Il est dû le 3 mai 2026."},
			{"Elle vit à Paris, c.-à-d. Montmartre.", "Elle y est née."},
		},
		"Spanish": {
			{"El Sr. García llega el 3 de mayo.", "¿Viene también la Sra. López?", "¡Claro!"},
			{"Vive en EE. UU. desde 2019.", "Vuelve en junio."},
			{"La oficina está en la avda. Libertad, núm. 5.", "Está cerrada."},
			{"El coste es de 1.234,5 euros.", "Ya está pagado."},
		},
		"Italian": {
			{"Il dott. Rossi è arrivato alle 15.", "La riunione è finita."},
			{"La Sig.ra Bianchi vive a Milano.", "È medico."},
			{"Servono viti, dadi, ecc. per il lavoro.", "Li compro io."},
			{"Vedi pag. 12 del manuale.", "C'è scritto tutto."},
		},
		"Portuguese": {
			{"O Sr. Silva chega a 3 de maio.", "A Dra. Costa não vem."},
			{"O preço é de R$ 1.500,00 por mês.", "Está na pág. 7."},
		},
		"Dutch": {
			{"Dhr. De Vries komt op 3 mei.", "Mevr. Jansen komt ook."},
			{"We nemen iets mee, bijv. Goudse kaas.", "Dat is lekker."},
		},
		"Polish": {
			{"Biuro mieści się przy ul. Długa 5.", "Otwarte od godz. 9 do 17."},
			{"Spotkanie jest 3 maja 2026 r. w Krakowie.", "Będzie też prof. Łukasz Nowak."},
		},
		"Japanese": {
			{"会議は5月3日です。", "場所は３．５階ではありません！", "本当ですか？"},
			{"彼は「遅れます。」と言った。", "私は待った。"},
		},
		"Chinese": {
			{"会议在2026年5月3日。", "你来吗？", "我来！"},
			{"他说：“明天见。”", "我走了。"},
		},
		"Arabic": {
			{"الاجتماع يوم ٣ مايو ٢٠٢٦.", "هل ستأتي؟", "نعم، سيأتي د. أحمد أيضا."},
		},
		"Urdu": {{"ملاقات کل ہے۔", "دیر نہ کریں۔"}},
		"Hindi": {
			{"बैठक 3 मई 2026 को है।", "डॉ. शर्मा भी आएंगे।", "क्या आप आएंगे?"},
		},
		"English": {
			{"We use another OS.", "It is stable."},
			{"I asked for 3.", "April was quiet."},
			{"It was no problem, np.", "Thanks again."},
			{"The bolt has 5 mm.", "Use another."},
			{"We are all ex.", "They said so."},
		},
	} {
		for _, want := range texts {
			in := ""
			for i, s := range want {
				if i > 0 && s != "" && (language != "Japanese" && language != "Chinese") {
					in += " "
				}
				in += s
			}
			if got := sentences(in); !slices.Equal(got, want) {
				t.Errorf("%s:\n got %q\nwant %q", language, got, want)
			}
		}
	}
}
