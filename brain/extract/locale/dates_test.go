package locale

import (
	_ "embed"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"orgmem/brain/extract/calendar"
)

// wednesday is the day on which the sentences of the tests are read: 13 May 2026.
var wednesday = calendar.Days(2026, 5, 13)

// told is a date as the tests write it: the first day, the last where it is another, the time of day.
func told(d Date) string {
	day := func(n int) string {
		switch n {
		case Always, Ever:
			return "…"
		}
		y, m, day := calendar.Civil(n)
		return fmt.Sprintf("%d-%02d-%02d", y, m, day)
	}
	s := day(d.From)
	last := d.Until
	if last != Ever {
		last--
	}
	if last != d.From {
		s += "/" + day(last)
	}
	if d.Minute >= 0 {
		s += fmt.Sprintf("T%02d:%02d", d.Minute/60, d.Minute%60)
	}
	return s
}

// Each line is a sentence and the dates that it has.
const sentencesWithDates = `
Das Treffen ist am 3. Mai 2026 in Köln. | 2026-05-03
Wir sehen uns am 3. Mai um 14 Uhr. | 2026-05-03T14:00
Die Frist endet am 03.05.2026. | 2026-05-03
Bitte bis zum 20.06. antworten. | …/2026-06-20
Die Messe läuft vom 3. bis 5. Juni 2026. | 2026-06-03/2026-06-05
Der Urlaub dauert vom 28. Mai bis 3. Juni. | 2026-05-28/2026-06-03
Ich habe gestern mit ihr gesprochen. | 2026-05-12
Wir treffen uns morgen um 9:30 Uhr. | 2026-05-14T09:30
Guten Morgen, wie geht es dir? |
Nächsten Montag ist das Büro zu. | 2026-05-18
Letzte Woche war er krank. | 2026-05-04/2026-05-10
Das war vor zwei Wochen. | 2026-04-29
Am Montag war die Sitzung. | 2026-05-11
Die Sitzung ist am Freitag um halb drei. | 2026-05-15
Die Sitzung ist am Freitag um halb drei nachmittags. | 2026-05-15T14:30
Der Bus fährt am Freitag um halb zehn. | 2026-05-15T09:30
Der Vertrag gilt seit März 2024. | 2024-03-01/…
In drei Tagen kommt der Bericht. | 2026-05-16
Nächstes Jahr wird das Lager gebaut. | 2027-01-01/2027-12-31
La réunion est le 3 mai 2026 à 14 h 30. | 2026-05-03T14:30
Elle arrive le 1er juin. | 2026-06-01
On se voit demain à 15h. | 2026-05-14T15:00
Je l'ai vue hier avec Paul. | 2026-05-12
La réunion est lundi prochain. | 2026-05-18
La semaine dernière, il était malade. | 2026-05-04/2026-05-10
Il est parti il y a trois jours. | 2026-05-10
Le contrat court jusqu'au 31 décembre 2026. | …/2026-12-31
Le salon a lieu du 3 au 5 juin 2026. | 2026-06-03/2026-06-05
Aujourd'hui, le bureau est fermé. | 2026-05-13
La reunión es el 3 de mayo de 2026 a las 3 de la tarde. | 2026-05-03T15:00
El lunes que viene no hay clase. | 2026-05-18
Ayer hablé con la directora. | 2026-05-12
Nos vemos mañana a las 10. | 2026-05-14T10:00
Por la mañana no hay nadie en la oficina. |
Llegó hace dos semanas. | 2026-04-29
El plazo es hasta el 30 de junio. | …/2026-06-30
La feria es del 3 al 5 de junio de 2026. | 2026-06-03/2026-06-05
La riunione è il 3 maggio 2026 alle 15. | 2026-05-03T15:00
Ci vediamo domani alle 9:30. | 2026-05-14T09:30
Ieri ho parlato con Marco. | 2026-05-12
La settimana scorsa era malato. | 2026-05-04/2026-05-10
È partito due giorni fa. | 2026-05-11
L'8 giugno il negozio è chiuso. | 2026-06-08
Lunedì prossimo non c'è lezione. | 2026-05-18
A reunião é no dia 3 de maio de 2026 às 15h. | 2026-05-03T15:00
Ontem falei com a diretora. | 2026-05-12
Amanhã não há aula. | 2026-05-14
A semana passada foi difícil. | 2026-05-04/2026-05-10
A entrega é na próxima segunda-feira. | 2026-05-18
De vergadering is op 3 mei 2026 om 15 uur. | 2026-05-03T15:00
Gisteren heb ik haar gesproken. | 2026-05-12
Morgen is het kantoor dicht. | 2026-05-14
Volgende week is er geen les. | 2026-05-18/2026-05-24
Hij vertrok twee weken geleden. | 2026-04-29
De termijn loopt tot 30 juni. | …/2026-06-30
Spotkanie jest 3 maja 2026 r. w Krakowie. | 2026-05-03
Jutro nie będzie zajęć, dziś się spotkamy. | 2026-05-14 2026-05-13
W przyszłym tygodniu będzie święto. | 2026-05-18/2026-05-24
会議は2026年5月3日です。 | 2026-05-03
締め切りは5月20日14時30分です。 | 2026-05-20T14:30
来週の月曜日に会いましょう。 | 2026-05-18
昨日、彼女と話しました。 | 2026-05-12
会议在2026年5月3日下午3点开始。 | 2026-05-03T15:00
我们明天见。 | 2026-05-14
下周一开会。 | 2026-05-18
الاجتماع يوم ٣ مايو ٢٠٢٦ في القاهرة. | 2026-05-03
سأراك غدا في المكتب. | 2026-05-14
الأسبوع القادم عطلة. | 2026-05-18/2026-05-24
बैठक 3 मई 2026 को है। | 2026-05-03
बैठक ३ मई २०२६ को है। | 2026-05-03
कल बैठक थी। | 2026-05-12
कल बैठक होगी। | 2026-05-14
The offer of 3 mai 2026 still holds. | 2026-05-03
He ate 2 mayo sandwiches in 10 minutes. |
She bought 3 Mars bars and 2 lemons. |
We met on 3 April 2026 in Berlin. |
Ogni lunedì c'è la riunione. |
Há reunião toda segunda-feira. |
A reunião é na segunda-feira às 10h. | 2026-05-18T10:00
Jeden Montag ist Sitzung. |
Hier steht nichts von einem Termin. |
`

//go:embed testdata/dates.txt
var everydayDates string

func TestDates(t *testing.T) {
	t.Parallel()
	for line := range strings.Lines(strings.TrimSpace(sentencesWithDates) + "\n" + everydayDates) {
		if line[0] == '#' {
			continue
		}
		s, want, _ := strings.Cut(strings.TrimSpace(line), " |")
		var got []string
		for _, d := range Of(s).Dates(s, wednesday, true) {
			if d.Start < 0 || d.End > len(s) || d.Start >= d.End {
				t.Errorf("%s: span %d to %d", s, d.Start, d.End)
			}
			got = append(got, told(d))
		}
		if g := strings.Join(got, " "); g != strings.TrimSpace(want) {
			t.Errorf("%s\n got %q\nwant %q", s, g, strings.TrimSpace(want))
		}
	}
}

// Reading keeps to the sentence whatever stands in it, and says of a sentence alone what it says of it twice.
func TestDatesOfAnything(t *testing.T) {
	t.Parallel()
	bits := append(strings.Fields(sentencesWithDates), " ", ".",
		",", "-", "'", "’", "\xff", "年", "月", "٣", "३", "9999999999", "-2")
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(bits), rapid.String()), 0, 30).Draw(t, "words"), " ")
		end := 0
		for _, d := range Of(s).Dates(s, wednesday, rapid.Bool().Draw(t, "known")) {
			if d.Start < end || d.End <= d.Start || d.End > len(s) || d.From >= d.Until || d.Minute >= 24*60 {
				t.Fatalf("%q: %+v", s, d)
			}
			end = d.End
		}
	})
}
