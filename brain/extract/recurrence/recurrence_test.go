package recurrence_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"orgmem/brain/extract"
	"orgmem/brain/extract/recurrence"
	"orgmem/brain/reader"
	"orgmem/brain/text"
	pb "orgmem/proto"
)

// written is when the texts of the tests were: a Wednesday.
var written = time.Date(2026, 3, 11, 12, 0, 0, 0, time.UTC)

// find reads a text without a reader: each recurrence in its normal form.
func find(t *testing.T, s string, tagged *reader.Tagged) []string {
	t.Helper()
	x := extract.Extract(extract.Document{Text: s, AtMs: written.UnixMilli(), Tagged: tagged})
	found, err := recurrence.Find(recurrence.Text{Text: s, Tagged: tagged, Dates: x.Dates}, goOn)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range found {
		out = append(out, form(r))
	}
	return out
}

func goOn() error { return nil }

// form is the normal form of a recurrence in one line.
func form(x recurrence.Recurrence) string {
	s := show(x.Every)
	if x.SinceMs != nil {
		s += " since " + time.UnixMilli(*x.SinceMs).UTC().Format("2006-01-02")
	}
	if x.UntilMs != nil {
		s += " until " + time.UnixMilli(*x.UntilMs).UTC().Format("2006-01-02")
	}
	return s
}

func show(e *pb.Every) string {
	s := e.GetUnit()
	if e.GetInterval() != 1 {
		s = fmt.Sprintf("%d %s", e.GetInterval(), s)
	}
	if e.GetTimes() > 0 {
		s = fmt.Sprintf("%d× %s", e.GetTimes(), s)
	}
	list := func(name string, of []int32) {
		if len(of) > 0 {
			s += " " + name + strings.Trim(fmt.Sprint(of), "[]")
		}
	}
	list("nth ", e.GetNth())
	list("wd ", e.GetWeekdays())
	list("day ", e.GetMonthDays())
	list("month ", e.GetMonths())
	for i, m := range e.GetAt() {
		if i == 0 {
			s += " at"
		}
		s += fmt.Sprintf(" %02d:%02d", m/60, m%60)
	}
	if e.End != nil {
		s += fmt.Sprintf("-%02d:%02d", e.GetEnd()/60, e.GetEnd()%60)
	}
	if e.GetExcept() != "" {
		s += " but " + e.GetExcept()
		list("-wd ", e.GetExceptWeekdays())
		list("-month ", e.GetExceptMonths())
	}
	return s
}

func TestRecurrences(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]string{
		// English
		{"We meet every Wednesday at 10 in the small room.", "week wd 3 at 10:00"},
		{"The review is weekly on Thursdays.", "week wd 4"},
		{"Rent is due on the first of each month.", "month day 1"},
		{"The boiler is serviced twice a year.", "2× year"},
		{"Standup is every day at 9:15.", "day at 09:15"},
		{"Choir rehearses every Tuesday from 7 to 9 in the hall.", "week wd 2 at 07:00-09:00"},
		{"Choir rehearses every Tuesday from 7 pm to 9 pm.", "week wd 2 at 19:00-21:00"},
		{"The office is open on weekdays from 9 to 5.", "week wd 1 2 3 4 5 at 09:00-17:00"},
		{"Retro is every other Friday at 3.", "2 week wd 5"},
		{"Retro is every other Friday at 3 pm.", "2 week wd 5 at 15:00"},
		{"Alternate Mondays are for debt advice.", "2 week wd 1"},
		{"The podiatrist comes on the second Tuesday of each month.", "month nth 2 wd 2"},
		{"The board meets on the last Friday of every quarter.", "3 month nth -1 wd 5"},
		{"The choir meets on the first and third Monday of the month.", "month nth 1 3 wd 1"},
		{"Salaries go out on the 15th and 30th of every month.", "month day 15 30"},
		{"Backups are checked on the last day of each month.", "month day -1"},
		{"Meters are read at the end of every month.", "month day -1"},
		{"The lift is inspected every two years.", "2 year"},
		{"Take one tablet every 8 hours.", "8 hour"},
		{"Feed the cat twice a day.", "2× day"},
		{"She swims three times a week, mostly.", "3× week"},
		{"Filters are changed monthly.", "month"},
		{"Forecasts are refreshed quarterly.", "3 month"},
		{"The auditors visit every March.", "year month 3"},
		{"The lights are tested every year on 3 March.", "year day 3 month 3"},
		{"Each year in May we clean the gutters.", "year month 5"},
		{"Every Monday and Thursday the bins are emptied.", "week wd 1 4"},
		{"Training is on Mondays, Wednesdays and Fridays at 18:30.", "week wd 1 3 5 at 18:30"},
		{"The shop closes on Saturday afternoons.", "week wd 6"},
		{"Deliveries come Mondays before eight.", "week wd 1"},
		{"The cage is counted nightly because of the phones.", "day"},
		{"The weekly team meeting on Wednesday at 10 is in room 4.", "week wd 3 at 10:00"},
		{"Sync fortnightly, Tuesdays, 14:00.", "2 week wd 2 at 14:00"},
		{"Every 18 months the batteries are swapped.", "18 month"},
		{"Every 14 days the nurse visits.", "2 week"},
		{"The gym is open every day except Sunday.", "day but Sunday -wd 7"},
		{"We meet every Friday, except in August and December.", "week wd 5 but in August and December -month 8 12"},
		{"Parish council sits every first Thursday, but not in July.", "month nth 1 wd 4 but in July -month 7"},
		{"Since January 2026 we have met every Monday.", "week wd 1 since 2026-01-01"},
		{"The clinic runs every Tuesday until 30 June.", "week wd 2 until 2026-07-01"},
		{"Swimming is every Thursday starting 2 April.", "week wd 4 since 2026-04-02"},
		{"The course is every Monday from 6 April to 1 June.", "week wd 1 since 2026-04-06 until 2026-06-02"},
		{"The boat runs daily from April to October.", "day month 4 5 6 7 8 9 10"},
		{"She comes once every two weeks.", "1× 2 week"},
		{"Pills go out twice daily.", "2× day"},
		{"Newcomers' breakfast: first Monday monthly.", "month nth 1 wd 1"},
		{"Every weekend we bake.", "week wd 6 7"},
		{"Every morning at 7 the gate opens.", "day at 07:00"},
		{"At noon every day the siren goes.", "day at 12:00"},
		{"On the 1st of January each year the prices change.", "year day 1 month 1"},
		{"The sync with Legal is biweekly, Mondays at 10.", "2 week wd 1 at 10:00"},
		{"It moved from Mondays to Thursdays at 14:00.", "week wd 4 at 14:00"},
		{"The café is open 8 to 18, Sundays 10 to 16.", "week wd 7 at 10:00-16:00"},
		{"The desk is staffed Monday to Friday, 9am to 5pm.", "week wd 1 2 3 4 5 at 09:00-17:00"},
		{"From next month, standup is every day at 9:30.", "day at 09:30 since 2026-04-01"},
		{"Rehearsals are Tuesdays from 6:30 pm until the end of June.", "week wd 2 at 18:30 until 2026-07-01"},
		{"The pool is closed every Monday in April.", "week wd 1 since 2026-04-01 until 2026-05-01"},
		// German
		{"Wir treffen uns jeden Dienstag um 10 Uhr.", "week wd 2 at 10:00"},
		{"Die Miete ist am ersten jedes Monats fällig.", "month day 1"},
		{"Die Filter werden zweimal im Jahr gewechselt.", "2× year"},
		{"Chorprobe ist montags um 19 Uhr.", "week wd 1 at 19:00"},
		{"Alle zwei Wochen kommt die Pflegerin.", "2 week"},
		{"Der Verein trifft sich am letzten Freitag im Monat.", "month nth -1 wd 5"},
		{"Das Büro ist täglich von 8 bis 16 Uhr offen, außer sonntags.", "day at 08:00-16:00 but sonntags -wd 7"},
		{"Der Bericht erscheint monatlich.", "month"},
		{"Jeden 3. Mai feiern wir.", "year day 3 month 5"},
		{"Jeden Morgen um 7 füttert sie die Hühner.", "day at 07:00"},
		{"Montag bis Freitag von 8 bis 12 Uhr ist das Büro besetzt.", "week wd 1 2 3 4 5 at 08:00-12:00"},
		// French
		{"Réunion chaque mardi à 14 h dans la salle bleue.", "week wd 2 at 14:00"},
		{"On nettoie tous les deux mois.", "2 month"},
		{"Le loyer est dû le premier de chaque mois.", "month day 1"},
		{"Les filtres sont changés deux fois par an.", "2× year"},
		{"Permanence tous les jours sauf le dimanche.", "day but le dimanche -wd 7"},
		{"Le comité se réunit le premier lundi du mois.", "month nth 1 wd 1"},
		{"Le club se retrouve un mardi sur deux.", "2 week wd 2"},
		{"La chaudière est vérifiée une fois par an, en septembre.", "1× year month 9"},
		// Spanish
		{"Nos reunimos cada jueves a las 12.", "week wd 4 at 12:00"},
		{"Se paga el 5 de cada mes.", "month day 5"},
		{"Los filtros se cambian dos veces al año.", "2× year"},
		{"La oficina abre todos los días excepto los domingos.", "day but los domingos -wd 7"},
		{"El coro ensaya los lunes y miércoles.", "week wd 1 3"},
		// Italian
		{"Ci vediamo ogni lunedì alle 18.", "week wd 1 at 18:00"},
		{"L'affitto si paga il primo di ogni mese.", "month day 1"},
		{"La visita è due volte al mese.", "2× month"},
		{"Il gruppo si incontra il secondo sabato del mese.", "month nth 2 wd 6"},
		// Portuguese
		{"Reunião todas as segundas-feiras às 9.", "week wd 1 at 09:00"},
		{"O aluguel vence no dia 10 de cada mês.", "month day 10"},
		{"A revisão é feita duas vezes por ano.", "2× year"},
		{"O lixo é recolhido de duas em duas semanas.", "2 week"},
		// Dutch
		{"Elke dinsdag om 9 uur is er overleg.", "week wd 2 at 09:00"},
		{"De huur wordt op de eerste van elke maand betaald.", "month day 1"},
		{"De filters worden twee keer per jaar vervangen.", "2× year"},
		{"Om de week komt de schoonmaker.", "2 week"},
	} {
		if got := strings.Join(find(t, c[0], nil), "; "); got != c[1] {
			t.Errorf("%s\n got %q\nwant %q", c[0], got, c[1])
		}
	}
}

func TestWhatDoesNotRecur(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"We made every effort to reach them.",
		"Each of us has a key.",
		"We meet on Wednesday.",
		"He reads a daily newspaper.",
		"It costs twice as much as before.",
		"Every employee gets a badge.",
		"Each team writes its own plan.",
		"Every other option was worse.",
		"Every second counts in an emergency.",
		"Every minute counts here.",
		"I have told you a thousand times.",
		"The first of the three crates is open.",
		"Employee of the month is Dana.",
		"The Daily Mail wrote about us.",
		"The annual report is on the shelf.",
		"Our monthly rent is 900 euros.",
		"Two Wednesdays in a row it rained.",
		"We never work on Sundays.",
		"The office is not open on Saturdays.",
		"They used to deliver on Thursdays.",
		"We don't meet every Friday.",
		"On Monday and Tuesday I am away.",
		"From Monday to Friday I am in Rome.",
		"By Friday every invoice must be paid.",
		"Once a year has passed we look again.",
		"She was three years old at the time.",
		"This week's numbers beat every week's forecast.",
		"Last Mondays' minutes are missing.",
		"Since Monday every door is locked.",
		"He paid three times the price.",
		"Fix the third row and the second column.",
		"On 3 May every child gets a book.",
		"The weekend was lovely.",
		"In the first week of May we move.",
		"Version 2 is twice as fast in the second year.",
		"For each week of delay the supplier pays 1%.",
		"She called “Every Tuesday” a sad film.",
		"It happens every now and then.",
		"Every time the door opens it squeaks.",
		"The fifth of May was a Tuesday.",
		"At 10 every guest was gone.",
		"The dates are Sundays 8th, 15th and 22nd.",
		"His breathing stopped 42 times an hour.",
		"The newsletter is bi-weekly.",
		"I am free Monday, Wednesday and Friday at 10.",
		"Payday is the last working day of the month.",
		"Jede Aufgabe hat einen Namen.",
		"Alle Tage sind verplant.",
		"Wir treffen uns am Dienstag um 10 Uhr.",
		"Chaque équipe a une clé.",
		"Le premier mai est férié.",
		"Cada persona tiene una llave.",
		"Nos vemos el lunes.",
		"Ogni persona ha una chiave.",
		"Cada pessoa tem uma chave.",
		"Elke medewerker heeft een sleutel.",
	} {
		if got := find(t, s, nil); len(got) > 0 {
			t.Errorf("%s: %q", s, got)
		}
	}
}

// taggedAs is a reader's view of a text in which one stretch is a span.
func taggedAs(s, words string, span reader.Span) *reader.Tagged {
	at := strings.Index(s, words)
	span.Span = text.Span{Start: at, End: at + len(words)}
	t := &reader.Tagged{Until: len(s), Spans: []reader.Span{span}}
	for i := 0; i < len(s); {
		end := i
		for end < len(s) && s[end] != ' ' {
			end++
		}
		w := reader.Word{Start: int32(i), End: int32(end)}
		if i < span.End && span.Start < end && span.Type == reader.Time {
			w.Time = 1
		}
		t.Words = append(t.Words, w)
		i = end + 1
	}
	return t
}

// What means something else as often recurs where the reader says so.
func TestTheReaderDecides(t *testing.T) {
	t.Parallel()
	recurring := reader.Span{Type: reader.Time, P: 1, Tense: reader.Recurring, TenseP: 0.9, Told: 1}
	once := reader.Span{Type: reader.Time, P: 1, Tense: reader.Future, TenseP: 0.9, Told: 1}
	for _, c := range []struct{ text, words, want string }{
		{"Office hours: Tuesday 14:00.", "Tuesday 14:00", "week wd 2 at 14:00"},
		{"Permanence le mercredi et le samedi.", "le mercredi et le samedi", "week wd 3 6"},
		{"Rent on the 1st of the month, please.", "the 1st of the month", "month day 1"},
		{"Weekly report to Nikhil.", "Weekly", "week"},
		{"Statutory check: March and September.", "March and September", "year month 3 9"},
		{"The fiscal year runs from 1 July to 30 June.", "from 1 July to 30 June", ""},
	} {
		if got := strings.Join(find(t, c.text, taggedAs(c.text, c.words, recurring)), "; "); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
		if got := find(t, c.text, taggedAs(c.text, c.words, once)); len(got) > 0 {
			t.Errorf("%s, which is once: %q", c.text, got)
		}
	}
	s := "Every Monday is a band from Leeds."
	name := reader.Span{Type: reader.Organization, P: 0.9}
	if got := find(t, s, taggedAs(s, "Every Monday", name)); len(got) > 0 {
		t.Errorf("a name recurs: %q", got)
	}
}

// What recurs is no date; the dates that it begins and ends with are.
func TestApart(t *testing.T) {
	t.Parallel()
	s := "Every Wednesday at 10 until 30 June we meet. The dentist is on Thursday. " +
		"Every 3 May we feast, first on 3 May 2020."
	x := extract.Extract(extract.Document{Text: s, AtMs: written.UnixMilli()})
	found, err := recurrence.Find(recurrence.Text{Text: s, Dates: x.Dates}, goOn)
	if err != nil || len(found) != 2 {
		t.Fatalf("%d recurrences, %v", len(found), err)
	}
	var left []string
	for _, d := range recurrence.Apart(x.Dates, found) {
		left = append(left, s[d.Span.Start:d.Span.End])
	}
	if got, want := strings.Join(left, "; "), "until 30 June; Thursday; 3 May 2020"; got != want {
		t.Errorf("dates %q, want %q", got, want)
	}
}

func TestFindIsBounded(t *testing.T) {
	t.Parallel()
	s := strings.Repeat("We meet every Monday.\n\n", recurrence.Max+50)
	found, err := recurrence.Find(recurrence.Text{Text: s}, goOn)
	if err != nil || len(found) != recurrence.Max {
		t.Errorf("%d recurrences, %v", len(found), err)
	}
	stop := errors.New("stop")
	long := strings.Repeat("Nothing is said here. ", 20_000)
	if _, err := recurrence.Find(recurrence.Text{Text: long}, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("not stopped: %v", err)
	}
	// One sentence without an end.
	if _, err := recurrence.Find(recurrence.Text{Text: strings.Repeat("every two ", 100_000)}, goOn); err != nil {
		t.Error(err)
	}
}

func FuzzFind(f *testing.F) {
	for _, s := range []string{
		"every first and third Monday of the month from 9 to 5 except in May", "alle 2 Tage um", "2x per", "à 18 h 30",
		"du lundi au vendredi, tous les 15. jours", "jeden 3.", "every 12th of", "\xff every \xe2 Monday's",
		"weekly - on the - Monday–", "half past", "every day of", "t/m maandag", "except", "every a.m. p.m.",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		tagged := &reader.Tagged{Until: len(s), Spans: []reader.Span{
			{Span: text.Span{End: len(s)}, Type: reader.Time, P: 1, Tense: reader.Recurring, TenseP: 1, Told: 1},
		}}
		for _, tg := range []*reader.Tagged{nil, tagged} {
			found, err := recurrence.Find(recurrence.Text{Text: s, Tagged: tg}, goOn)
			if err != nil {
				t.Fatal(err)
			}
			last := 0
			for _, r := range found {
				if r.Span.Start < last || r.Span.End > len(s) || r.Span.End <= r.Span.Start {
					t.Fatalf("span %v behind %d in %q", r.Span, last, s)
				}
				last = r.Span.End
				checkForm(t, r.Every)
			}
		}
	})
}

// checkForm checks that a normal form is one.
func checkForm(t *testing.T, e *pb.Every) {
	t.Helper()
	in := func(of []int32, from, to int32) bool {
		for _, n := range of {
			if (n < from || n > to) && n != -1 {
				return false
			}
		}
		return true
	}
	ok := e.GetInterval() > 0 && in(e.GetWeekdays(), 1, 7) && in(e.GetMonthDays(), 1, 31) && in(e.GetMonths(), 1, 12) &&
		in(e.GetNth(), 1, 31) && (e.End == nil || len(e.GetAt()) == 1)
	for _, at := range append(e.GetAt(), e.GetEnd()) {
		ok = ok && at <= 24*60
	}
	if !ok {
		t.Fatalf("no normal form: %v", e)
	}
}
