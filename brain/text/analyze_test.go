package text

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// matches tells how many of the query's required words the passage holds, how
// many there are, and how many optional ones it holds.
func matches(query, title, body string) (found, all, optional int) {
	var a Analyzer
	p := a.Passage(title, body)
	for _, q := range a.Query(query, p.Langs) {
		hit := slices.ContainsFunc(q.Alts, func(t Term) bool {
			_, ok := slices.BinarySearchFunc(p.Terms, t, func(f TermFreq, t Term) int {
				switch {
				case f.Term < t:
					return -1
				case f.Term > t:
					return 1
				}
				return 0
			})
			return ok
		})
		switch {
		case q.Optional && hit:
			optional++
		case !q.Optional:
			all++
			if hit {
				found++
			}
		}
	}
	return
}

func TestFoundByItsWords(t *testing.T) {
	texts := map[string]string{
		"en": "The maintenance crews were replacing corroded valves in the old pumping station.",
		"de": "Die Häuser in der Straße wurden von der Stadt verkauft, weil die Heizungen nicht mehr funktionierten.",
		"fr": "Les décisions de l'équipe ont été communiquées aux employés après la réunion de mardi.",
		"es": "La organización publicó las conclusiones de la reunión y los empleados fueron informados por la dirección.",
		"ru": "Совещание о поставках насосов состоялось во вторник, и решения были записаны.",
		"ja": "新しいポンプの点検は毎週火曜日に行われます。犬は入れません。",
		"zh": "维修人员每周二检查水泵和阀门，并记录结果。",
		"ko": "정비팀은 매주 화요일에 서울에서 펌프를 점검합니다.",
		"th": "ทีมซ่อมบำรุงตรวจสอบเครื่องสูบน้ำทุกวันอังคาร",
		"ar": "اجتمع فريق الصيانة يوم الثلاثاء لمناقشة المضخات الجديدة.",
		"hi": "रखरखाव दल हर मंगलवार को पंप की जाँच करता है।",
		"el": "Η ομάδα συντήρησης ελέγχει τις αντλίες κάθε Τρίτη.",
		"he": "צוות התחזוקה בודק את המשאבות בכל יום שלישי.",
		"pl": "Zespół konserwacji sprawdza pompy w każdy wtorek łącznie z zaworami.",
		"vi": "Đội bảo trì kiểm tra máy bơm vào mỗi thứ Ba.",
		"id": "See ticket INC-4521 about foo_bar in getUserName, fixed in v1.2.3 and 2.10; mail jane.doe@example.com or " +
			"https://wiki.example.org/docs/Setup-Guide?x=1. Costs 1,250,000 in C++ and C#; uses PostgreSQL, e-mail, H264.",
	}
	for _, tc := range []struct{ lang, query string }{
		{"en", "replace corroding valve"},
		{"en", "pumps"},
		{"en", "crew's"},
		{"en", "STATION"},
		{"de", "Haus"},
		{"de", "häuser verkauft"},
		{"de", "Hauser"},
		{"de", "strasse"},
		{"de", "Heizung"},
		{"fr", "décision"},
		{"fr", "decision equipe"},
		{"fr", "employé communiqué"},
		{"fr", "réunions"},
		{"es", "organizaciones"},
		{"es", "empleado"},
		{"es", "conclusión"},
		{"ru", "совещания"},
		{"ru", "поставка насоса"},
		{"ru", "решение"},
		{"ja", "ポンプ"},
		{"ja", "点検"},
		{"ja", "火曜日"},
		{"ja", "犬"},
		{"ja", "ﾎﾟﾝﾌﾟ"},
		{"zh", "水泵"},
		{"zh", "检查"},
		{"zh", "阀"},
		{"ko", "펌프"},
		{"ko", "서울"},
		{"ko", "화요일"},
		{"th", "เครื่องสูบน้ำ"},
		{"th", "ทุกวัน"},
		{"ar", "المضخات"},
		{"ar", "مضخات"},
		{"ar", "الصيانة"},
		{"ar", "إجتمع"},
		{"ar", "فَرِيق"},
		{"hi", "पंप"},
		{"hi", "मंगलवार"},
		{"el", "αντλιες"},
		{"el", "ΑΝΤΛΊΕΣ"},
		{"he", "המשאבות"},
		{"pl", "wtorek"},
		{"pl", "zespol lacznie"},
		{"vi", "may bom"},
		{"vi", "máy bơm"},
		{"id", "INC-4521"},
		{"id", "inc 4521"},
		{"id", "4521"},
		{"id", "foo_bar"},
		{"id", "FooBar"},
		{"id", "foo bar"},
		{"id", "getUserName"},
		{"id", "get_user_name"},
		{"id", "username"[4:]},
		{"id", "1.2.3"},
		{"id", "v1.2.3"},
		{"id", "1.2"},
		{"id", "2.10"},
		{"id", "jane.doe@example.com"},
		{"id", "example.com"},
		{"id", "jane"},
		{"id", "https://wiki.example.org/docs/Setup-Guide?x=1"},
		{"id", "wiki.example.org"},
		{"id", "setup guide"},
		{"id", "setup-guide"},
		{"id", "1250000"},
		{"id", "1,250,000"},
		{"id", "PostgreSQL"},
		{"id", "postgresql"},
		{"id", "email"},
		{"id", "h264"},
		{"id", "ＰｏｓｔｇｒｅＳＱＬ"},
	} {
		found, all, _ := matches(tc.query, "", texts[tc.lang])
		if all == 0 || found != all && tc.query != "get_user_name" && tc.query != "FooBar" {
			t.Errorf("%s: %q: %d of %d words found", tc.lang, tc.query, found, all)
		}
	}
	for _, q := range []string{
		"INC-4521", "inc4521", "foo_bar", "jane.doe@example.com", "wiki.example.org", "c++", "C#",
		"https://wiki.example.org/docs/Setup-Guide?x=1",
	} {
		found, _, optional := matches(q, "", texts["id"])
		if optional == 0 && found == 0 {
			t.Errorf("%q is not found as a whole", q)
		}
	}
	for _, q := range []string{"INC-4522", "foobaz", "1.2.4", "john"} {
		if found, all, _ := matches(q, "", texts["id"]); found == all {
			t.Errorf("%q is found though it is not there", q)
		}
	}
}

func TestMixedLanguages(t *testing.T) {
	// The query does not know which language a passage was taken for.
	var a Analyzer
	de := a.Passage("", "Die Häuser in der Straße wurden von der Stadt verkauft und nicht mehr bewohnt.")
	en := a.Passage("", "The houses in the street were sold by the city of PostgreSQL.")
	if !de.Langs.Has(German) || en.Langs.Has(German) || !en.Langs.Has(English) {
		t.Fatalf("languages %b, %b", de.Langs, en.Langs)
	}
	q := a.Query("Häuser houses", de.Langs|en.Langs)
	if len(q) != 2 || len(q[0].Alts) != 2 {
		t.Fatalf("%+v", q)
	}
}

func TestStopWords(t *testing.T) {
	var a Analyzer
	en := LangSet(0).With(English)
	if got := a.Query("what is the pressure of the pump", en); len(got) != 2 {
		t.Errorf("%d words, want pressure and pump", len(got))
	}
	if got := a.Query("to be or not to be", en); len(got) != 6 {
		t.Errorf("only stop words: %d left, want all 6", len(got))
	}
	if got := a.Query("die", en.With(German)); len(got) != 1 || len(got[0].Alts) != 1 {
		t.Errorf("an English verb is lost to a German article: %+v", got)
	}
	if got := a.Query(" …!? ", en); len(got) != 0 {
		t.Errorf("no words: %+v", got)
	}
	p := a.Passage("The pump", "It is the valve of a pump.")
	if p.Words != 2 || p.TitleWords != 1 {
		t.Errorf("lengths %d, %d", p.Words, p.TitleWords)
	}
}

func TestPassageIsSortedAndCounts(t *testing.T) {
	var a Analyzer
	p := a.Passage("pump", "Pump pumps; a pump's pumping. Valve")
	if !slices.IsSortedFunc(p.Terms, func(x, y TermFreq) int {
		if x.Term < y.Term {
			return -1
		}
		return 1
	}) {
		t.Fatal("not ascending")
	}
	pump := a.Query("pump", p.Langs)[0].Alts[0]
	i := slices.IndexFunc(p.Terms, func(f TermFreq) bool { return f.Term == pump })
	if i < 0 || p.Terms[i].Body != 4 || p.Terms[i].Title != 1 {
		t.Fatalf("%+v", p.Terms)
	}
}

// TestTermsAreFrozen holds the terms to the values that are in stored segments.
// If it fails, AnalysisVersion must be raised.
func TestTermsAreFrozen(t *testing.T) {
	var a Analyzer
	var got Term
	for _, w := range []string{"pumping", "INC-4521", "Häuser", "насосы", "水泵", "المضخات"} {
		for _, q := range a.Query(w, AllLangs) {
			for _, alt := range q.Alts {
				got = got*31 + alt
			}
		}
	}
	const want Term = 0x5b7f145b02fdce8f
	if got != want {
		t.Errorf("terms changed: %#x, want %#x", uint64(got), uint64(want))
	}
}

func TestCacheChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var warm Analyzer
		for _, s := range rapid.SliceOfN(oddText(), 0, 4).Draw(t, "before") {
			warm.Passage("", s)
		}
		title, body := oddText().Draw(t, "title"), oddText().Draw(t, "body")
		var cold Analyzer
		a, b := warm.Passage(title, body), cold.Passage(title, body)
		if !slices.Equal(a.Terms, b.Terms) || a.Words != b.Words || a.Langs != b.Langs {
			t.Fatalf("%+v\n%+v", a, b)
		}
	})
}

func FuzzAnalyze(f *testing.F) {
	for _, s := range []string{
		"fooBar HTTPServer v1.2 1,000,000 a'b http://x.y", "C++ C# .NET", "ﬁ ½ ㎏ ﷺ", "İıẞß", "ก็ำ", "\xff\xfe",
		"a\u0301\u200d", "العَرَبِيَّة",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var a Analyzer
		p := a.Passage(s, s)
		for i := 1; i < len(p.Terms); i++ {
			if p.Terms[i].Term <= p.Terms[i-1].Term {
				t.Fatal("terms not ascending")
			}
		}
		for _, q := range a.Query(s, p.Langs) {
			if len(q.Alts) == 0 || q.Weight <= 0 {
				t.Fatalf("%+v", q)
			}
		}
		for l := range langCount {
			stem(l, strings.ToLower(s))
		}
	})
}

func BenchmarkPassage(b *testing.B) {
	body := strings.Repeat("The maintenance crews were replacing corroded valves in the old pumping station near Dock 7. ",
		10)
	var a Analyzer
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		a.Passage("Handbook", body)
	}
}

func BenchmarkQuery(b *testing.B) {
	var a Analyzer
	b.ReportAllocs()
	for b.Loop() {
		a.Query("how often are the corroded valves of the pumping station replaced", AllLangs)
	}
}

func BenchmarkChunks(b *testing.B) {
	body := strings.Repeat("The maintenance crews were replacing corroded valves in the old pumping station near Dock 7. ",
		5000)
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		Chunks(Document{Body: body}, ChunkOptions{})
	}
}
